"""Routes that others add to the application, with everything that the application must know of them.

`compat` adds the older APIs this way: the application and the description of its API need not know them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fastapi import APIRouter
from msgspec import Struct

from moot.api.v1.bodies import Body


class Reference(Struct, frozen=True):
    """The types and examples by which these routes are described."""

    bodies: tuple[type[Body], ...]
    replies: tuple[type[Struct], ...]
    events: Mapping[str, tuple[type[Struct], ...]]
    """The events of their streams, by the name that the routes have for them."""
    samples: Mapping[str, Callable[[str], Any]]
    """Bodies as they can be sent, by their name; each is given a model that needs no key."""


class Extension(Struct, frozen=True):
    prefix: str
    routers: tuple[APIRouter, ...]
    reference: Callable[[], Reference]
    """Called when a client first reads the description: the types take time to load."""
    plain_text: frozenset[str] = frozenset()
    """Addresses that take JSON as `text/plain`."""
