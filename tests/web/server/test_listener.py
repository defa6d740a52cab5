"""Addresses: which are listened at, and how they are written."""

from __future__ import annotations

import pytest

from moot.core.errors import Unavailable
from moot.web.server.listener import bind, url_of


def test_a_host_that_is_not_ours_is_told_in_one_line() -> None:
    with pytest.raises(Unavailable, match="no address of this machine"):
        bind("198.51.100.1", 0)


def test_all_addresses_of_a_name_get_the_same_port() -> None:
    listeners = bind("localhost", 0)
    assert len({listener.getsockname()[1] for listener in listeners}) == 1
    for listener in listeners:
        listener.close()


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:8000"),
        ("::1", "http://[::1]:8000"),
        ("0.0.0.0", "http://localhost:8000"),
        ("moot.example.org", "http://moot.example.org:8000"),
    ],
)
def test_the_url_can_be_clicked(host: str, url: str) -> None:
    assert url_of(host, 8000) == url
