"""The web server of the viewer: viser's, with a guard at its door.

Who may come in: on loopback, requests that name this very host, so that a page of another site
cannot reach it through the browser (DNS rebinding); on any other address, who knows the token. A
browser gives it once, as ?token=..., and then keeps it as a cookie.
"""

import asyncio
import hmac
import ipaddress
import logging
import re
import socket
import threading
from contextlib import contextmanager
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlsplit

from drystone.errors import DrystoneError, InputError
from drystone.model.checks import integer, shown, text
from drystone.world.view.gallery import ROOT, Gallery

COOKIE = "drystone_token"
LEAST_TOKEN = 8  # characters: shorter ones are guessed
TOKEN = re.compile(r"[A-Za-z0-9._~-]+")  # what stands in addresses and cookies as it is
LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")

_STARTING = threading.Lock()


def start_server(
    host: str, port: int, token: str | None, label: str, gallery: Gallery | None = None
):
    """A viser server behind the guard, and the address of its page."""
    host, port = text("host", host), integer("port", port, 0, 65535)
    if not is_loopback(host) and token is None:
        raise InputError(
            f"host is {host!r}, which others can reach: give a token too, at least {LEAST_TOKEN} "
            f"characters, or use 127.0.0.1."
        )
    if token is not None and len(text("token", token)) < LEAST_TOKEN:
        raise InputError(f"token has {len(token)} characters, must have at least {LEAST_TOKEN}.")
    if token is not None and not TOKEN.fullmatch(token):
        raise InputError("token must be of letters A to Z, a to z, digits and . _ ~ - alone.")
    _require_address(host)
    server = _guarded(_library(), host, port, Guard(host, token), label, gallery)
    # viser would hand the scene to the world through a relay of its own, at a click of a visitor.
    server.request_share_url = _share_nothing
    server.gui.configure_theme(show_logo=False, show_share_button=False)
    server.gui.main_panel.dock_right()
    named = f"[{host}]" if ":" in host else host
    query = "" if token is None else f"/?token={token}"
    return server, f"http://{named}:{server.get_port()}{query}"


def _require_address(host: str) -> None:
    """InputError for what this machine cannot listen at: viser would wait for its server for ever.

    That the port is free is not asked: viser takes the next one.
    """
    try:
        kind = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0][0]
        socket.create_server((host, 0), family=kind).close()
    except (OSError, UnicodeError) as error:
        why = (getattr(error, "strerror", None) or str(error)).rstrip(".")
        raise InputError(
            f"host is {shown(host)}, where this machine cannot listen: {why}. Use 127.0.0.1, or "
            f"an address of this machine."
        ) from None


def stop_server(server) -> None:
    """End it without a word on the terminal."""
    with _quiet():
        server.stop()


@contextmanager
def _quiet():
    """viser prints a table of addresses without the token, through the console of rich."""
    import rich

    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before


def _share_nothing(verbose: bool = True) -> None:
    """In place of viser's request_share_url()."""


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _library():
    try:
        import viser
    except ImportError:
        raise DrystoneError(
            "The viewer needs viser. Install it with: pip install 'drystone[view]'"
        ) from None
    # Each connection that breaks off is logged with its traceback; that is no news for the user.
    for name in ("websockets", "websockets.server"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return viser


def _guarded(viser, host, port, guard, label, gallery):
    """viser has no door to put a guard at: it is put where viser asks websockets to serve."""
    import websockets.asyncio.server as sockets

    serve = sockets.serve

    def guarded_serve(*args, process_request=None, **options):
        def admit(connection, request):
            refused = guard.refuse(request)
            if refused:
                return connection.respond(HTTPStatus.FORBIDDEN, refused + "\n")
            if gallery is not None and urlsplit(request.path).path.startswith(ROOT):
                return _gallery_page(connection, request, gallery)
            response = process_request(connection, request) if process_request else None
            if response is not None and guard.token is not None:
                response.headers["Set-Cookie"] = (
                    f"{COOKIE}={guard.token}; HttpOnly; SameSite=Strict; Path=/"
                )
            return response

        return serve(*args, process_request=admit, **options)

    with _STARTING:
        sockets.serve = guarded_serve
        try:
            with _quiet():
                return viser.ViserServer(host=host, port=port, label=label, verbose=False)
        finally:
            sockets.serve = serve


async def _gallery_page(connection, request, gallery: Gallery):
    """The response; a scene is built in a thread, for visitors of others should not wait."""
    path, came_from = urlsplit(request.path).path, request.headers.get("Sec-Fetch-Site")
    answer = await asyncio.to_thread(gallery.answer, path, came_from)
    if answer is None:
        return connection.respond(HTTPStatus.NOT_FOUND, "there is no such scene\n")
    page, place = answer
    response = connection.respond(HTTPStatus.SEE_OTHER if place else HTTPStatus.OK, page)
    if place:
        response.headers["Location"] = place
    del response.headers["Content-Type"]
    response.headers["Content-Type"] = "text/html; charset=utf-8"
    return response


class Guard:
    """Decides who may come in."""

    def __init__(self, host: str, token: str | None) -> None:
        self.local, self.token = is_loopback(host), token

    def refuse(self, request) -> str:
        """Why `request` is refused, as a sentence; "" if it is not."""
        try:
            return self._refuse(request)
        except (LookupError, ValueError):  # of headers that are there twice, of an address
            return "refused: this is no request of a browser."

    def _refuse(self, request) -> str:
        named = request.headers.get("Host", "")
        if self.local and _hostname(named) not in LOCAL_NAMES:
            return f"refused: this viewer is for this machine alone, not for {named!r}."
        origin = request.headers.get("Origin")
        if origin is not None and urlsplit(origin).netloc != named:
            return f"refused: a page of {origin!r} has no business here."
        if self.token is not None and not self._knows(request):
            return "refused: the token is missing or wrong; open the address that was printed."
        return ""

    def _knows(self, request) -> bool:
        given = parse_qs(urlsplit(request.path).query).get("token", [])
        try:
            cookie = SimpleCookie(request.headers.get("Cookie", "")).get(COOKIE)
        except CookieError:
            cookie = None
        given += [cookie.value] if cookie is not None else []
        return any(hmac.compare_digest(said.encode(), self.token.encode()) for said in given)


def _hostname(named: str) -> str:
    try:
        return urlsplit(f"//{named}").hostname or ""
    except ValueError:
        return ""
