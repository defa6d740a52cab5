"""The difference between two views: values that are put in a place, and text that is added to one.

A place is a path of at most three keys. What has only grown is added to, so that a speech is never sent
twice; a member that is gone makes its parent be put anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, cast

Path = tuple[str, ...]
Patch = tuple[Literal["put", "add"], Path, Any]
MAX_DEPTH = 3


def patches(old: Any, new: Any, path: Path = ()) -> Iterator[Patch]:
    if old == new:
        return
    if isinstance(old, dict) and isinstance(new, dict) and len(path) < MAX_DEPTH and old.keys() <= new.keys():
        was, now = cast("dict[str, Any]", old), cast("dict[str, Any]", new)
        for key, value in now.items():
            if key in was:
                yield from patches(was[key], value, (*path, key))
            else:
                yield "put", (*path, key), value
    elif isinstance(old, str) and isinstance(new, str) and old and new.startswith(old):
        yield "add", path, new[len(old) :]
    else:
        yield "put", path, new
