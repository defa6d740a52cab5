"""Which addresses are this machine."""

from __future__ import annotations

import pytest

from moot.api.origins import is_loopback


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("127.0.0.1", True), ("127.8.9.1", True), ("::1", True), ("localhost", True), ("LOCALHOST", True),
     ("0.0.0.0", False), ("::", False), ("", False), ("192.168.1.5", False), ("127.0.0.1.evil", False)],
)  # fmt: skip
def test_what_counts_as_this_machine(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback
