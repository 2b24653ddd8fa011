"""Who may come in to the viewer, and tokens: without viser, which does the rest."""

from types import SimpleNamespace

import pytest

import drystone as ds
from drystone.world.view.server import Guard, start_server

TOKEN = "correct-horse"


class Twice(dict):
    """Headers of which each is there twice, as websockets tells it."""

    def get(self, name, default=None):
        raise LookupError(name)


@pytest.mark.parametrize(
    "headers, path",
    [
        ({"Host": "localhost:8080", "Origin": "http://["}, "/"),
        ({"Host": "localhost:8080"}, "//["),
        ({"Host": "[::1"}, "/"),
        ({"Host": "localhost:8080", "Cookie": "drystone_token=\udcff"}, "/"),
        ({"Host": "localhost:8080", "Cookie": "a=b=c;;;\x00"}, f"/?token={TOKEN}x"),
        ({}, "/"),
        (Twice(), "/"),
    ],
)
def test_requests_of_no_browser_are_refused_in_a_sentence(headers, path):
    request = SimpleNamespace(headers=headers, path=path)
    assert Guard("127.0.0.1", TOKEN).refuse(request).startswith("refused: ")


@pytest.mark.parametrize(
    "token", ["short", "with a space", "new\r\nSet-Cookie: a", "semi;colon", "\ud800" * 9, "ä" * 9]
)
def test_tokens_that_no_cookie_can_hold_are_refused(token):
    with pytest.raises(ds.InputError, match="token"):
        start_server("127.0.0.1", 0, token, "x")


def test_the_right_token_opens():
    request = SimpleNamespace(headers={"Host": "localhost:8080"}, path=f"/?token={TOKEN}")
    assert Guard("127.0.0.1", TOKEN).refuse(request) == ""


@pytest.mark.parametrize(
    "host", ["no-such-host.invalid", "192.0.2.7", "a" * 500, "-", "::ffff:1:2"]
)
def test_addresses_of_others_are_refused_and_not_waited_for(host):
    with pytest.raises(ds.InputError, match="host is .* cannot listen"):
        start_server(host, 0, TOKEN, "x")
