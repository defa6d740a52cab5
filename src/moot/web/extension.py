"""What other packages add to the application: routes, with what it needs to know of them, and pages.

`compat` adds the older APIs this way, and `cli` the page of its commands: the application, the description
of its API and the manual need not know them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter
from msgspec import Struct

if TYPE_CHECKING:
    from moot.manual.pages import WritePage


class Extension(Struct, frozen=True):
    prefix: str = ""
    routers: tuple[APIRouter, ...] = ()
    examples: Mapping[str, Callable[[str], Any]] = {}
    """Bodies as they can be sent, by the name of their class; each is made with a model that needs no key."""
    plain_text: frozenset[str] = frozenset()
    """Paths that accept JSON as `text/plain`."""
    coded_errors: frozenset[str] = frozenset()
    """Paths whose problems also have `message`, `code` and `retryable`."""
    manual: Mapping[str, WritePage] = {}
    """Pages of the manual by their paths in `docs/`, by which other pages link to them. Its navigation names
    some; any other is in the group `More`, under its first heading."""
