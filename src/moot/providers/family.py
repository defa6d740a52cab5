"""A family of services that speak alike: where to ask, how to ask, how to read the answer. All of it pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from moot.core.terms import Request
from moot.providers.contract import Traits
from moot.providers.decoder import Decoder


class Family(Struct, frozen=True):
    name: str
    url: Callable[[str, str], str]
    """The address, from the base URL and the model's name."""
    headers: Callable[[str], Mapping[str, str]]
    """What carries the key."""
    body: Callable[[Request, Traits], dict[str, Any]]
    decoder: Callable[[Request, Traits], Decoder]


def bearer(key: str) -> Mapping[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}
