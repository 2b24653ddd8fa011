"""A Dask scheduler: reached within a limit or not at all, asked within a limit, TLS if wanted.

Dask's client waits half a minute for an address where nothing listens, and longer while it closes;
so a plain connection is tried first, which a wrong address refuses at once.
"""

import logging
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from drystone.errors import DrystoneError, InputError
from drystone.model.checks import did_you_mean, shown
from drystone.rockfall.input_files import as_path, is_file
from drystone.rockfall.optional_packages import load

# Limits of all waits for the scheduler [s].
CONNECT = 10.0  # until something listens at the address; names are looked up in that time too
ANSWER = 60.0  # of the scheduler to a question, on a machine that is taken by others
CLOSE = 5.0  # to say goodbye

GONE = "no longer answers. Start it again"
TLS = {"ca_file": "tls_ca_file", "cert": "tls_client_cert", "key": "tls_client_key"}
# Dask logs every lost connection with its traceback; what matters becomes one sentence here.
LOGGERS = ("client", "core", "comm", "comm.tcp", "batched", "utils", "utils_comm", "worker_client")


class Scheduler:
    """A connection, and the questions that it answers."""

    def __init__(self, distributed, client, address: str):
        self.distributed, self.client, self.address = distributed, client, address

    def ask(self, question, *what):
        """What the scheduler answers; DrystoneError if it does not."""
        if self.client.status != "running":
            raise self.failure(GONE)
        try:
            return question(*what, callback_timeout=ANSWER)
        except (ImportError, AttributeError) as error:
            raise self.failure(
                f"cannot load Drystone ({error}). Install the same version where it runs"
            ) from None
        except Exception:  # a lost connection has many names in Dask
            raise self.failure(GONE) from None

    def submit(self, *task, key: str):
        try:
            return self.client.submit(*task, key=key)
        except Exception:
            if self.client.status == "running":
                raise
            raise self.failure(GONE) from None

    def failure(self, what: str) -> DrystoneError:
        return DrystoneError(
            f"the Dask scheduler at {self.address!r} {what}, then go on with resume (--resume): "
            "all chunks of runs that came back are kept."
        )


@contextmanager
def connect(address: str, tls: dict | None = None) -> Iterator[Scheduler]:
    """A connection to the scheduler at `address`, such as tcp://10.0.0.1:8786.

    tls   {"ca_file": ..., "cert": ..., "key": ...}, for an address that begins with tls://
    """
    distributed = load("distributed", "A cluster")
    if not isinstance(address, str) or not address.strip():
        raise InputError(f"cluster is {shown(address)}, must be an address: tcp://HOST:PORT.")
    security = _security(distributed, address, tls)
    host, port = _host_and_port(address)
    _require_listener(address, host, port)
    with _quiet():
        # Dask has no limit for a listener that accepts a connection and then says nothing.
        settings = {"timeout": ANSWER, "set_as_default": False, "security": security}
        client, error = _within(ANSWER + CLOSE, lambda: distributed.Client(address, **settings))
        if error is not None:  # wrong certificates, no Dask there, another version of it
            raise DrystoneError(
                f"what listens at {address!r} does not answer as a Dask scheduler ({_short(error)})"
                ". Is the address that of the scheduler, and does it use TLS (--tls-ca-file, "
                "--tls-cert, --tls-key)?"
            )
        try:
            yield Scheduler(distributed, client, address)
        finally:
            _within(2.0 * CLOSE, lambda: client.close(timeout=CLOSE))


def _security(distributed, address: str, tls: dict | None):
    """Dask's settings for an encrypted connection; None for a plain one."""
    encrypted = address.startswith("tls://")
    if tls is not None and not encrypted:
        raise InputError(f"cluster is {address!r}, but with TLS its address begins with tls://.")
    for key in tls or ():
        if key not in TLS:
            raise InputError(f"tls has no entry {shown(key)}. {did_you_mean(key, TLS)}")
    files = {TLS[key]: as_path(f"tls {key}", file) for key, file in (tls or {}).items()}
    for file in files.values():
        if not is_file(file):
            raise InputError(f"There is no file {file} for TLS. Give the cluster's PEM files.")
    if not encrypted:
        return None
    # Without options, what Dask's own configuration says (distributed.comm.tls).
    security = distributed.Security(
        **{name: str(file) for name, file in files.items()}, require_encryption=True
    )
    missing = [name for name in ("tls_ca_file", "tls_client_cert") if not getattr(security, name)]
    if missing:
        raise InputError(
            f"{address} is encrypted, but {' and '.join(missing)} is not known. Give "
            "--tls-ca-file, --tls-cert and --tls-key (tls=...), or set Dask's distributed.comm.tls."
        )
    return security


def _host_and_port(address: str) -> tuple[str, int]:
    scheme, _, place = address.rpartition("://")
    if scheme not in ("", "tcp", "tls"):
        raise InputError(f"cluster is {shown(address)}, must begin with tcp:// or tls://.")
    host, _, port = place.rpartition(":")
    host = host.strip("[]")
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise InputError(f"cluster is {shown(address)}, must be an address: tcp://HOST:PORT.")
    return host, int(port)


def _require_listener(address: str, host: str, port: int) -> None:
    """DrystoneError within CONNECT if nothing listens; looking up a name has no limit itself."""
    place = host, port
    _, error = _within(CONNECT, lambda: socket.create_connection(place, timeout=CONNECT).close())
    if error is not None:
        raise DrystoneError(
            f"no Dask scheduler answers at {address!r} ({_short(error)}). Start it, or correct the "
            "address; nothing was written."
        )


def _within(limit: float, work):
    """(what work() gives, None), or (None, its error); a TimeoutError after `limit` seconds.

    It runs in a thread of its own, which is left behind if it does not end.
    """
    given, errors = [], []

    def go():
        try:
            given.append(work())
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=go, daemon=True)
    thread.start()
    thread.join(limit)
    if given:
        return given[0], None
    return None, errors[0] if errors else TimeoutError(f"no answer within {limit:g} s")


def _short(error) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 160 else text[:157] + "..."


@contextmanager
def _quiet() -> Iterator[None]:
    loggers = [logging.getLogger(f"distributed.{name}") for name in LOGGERS]
    loggers += [logging.getLogger(name) for name in ("tornado.application", "asyncio")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
