"""Routes that other packages add to the application, with what the application needs to know of them.

`compat` adds the older APIs this way: the application and the description of its API need not know them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fastapi import APIRouter
from msgspec import Struct


class Extension(Struct, frozen=True):
    prefix: str
    routers: tuple[APIRouter, ...]
    examples: Mapping[str, Callable[[str], Any]]
    """Bodies as they can be sent, by the name of their class; each is made with a model that needs no key."""
    plain_text: frozenset[str] = frozenset()
    """Paths that accept JSON as `text/plain`."""
