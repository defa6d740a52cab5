"""JSON of whose shape nobody can be sure, read so that nothing in it can surprise us.

Services leave fields out, fill them with null, or send a number where others send a list. What is not of the
kind that was looked for counts as not there. A path leads to a field within fields; none is the thing itself.
"""

from __future__ import annotations

from typing import Any, cast

import msgspec


def loosely(body: bytes) -> Any:
    """JSON where it is JSON, else text."""
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return body.decode(errors="replace")


def member(told: Any, *path: str) -> Any:
    """What stands at the end of this path, or None."""
    for name in path:
        told = cast("dict[str, Any]", told).get(name) if isinstance(told, dict) else None
    return told


def string(told: Any, *path: str) -> str:
    value = member(told, *path)
    return value if isinstance(value, str) else ""


def fields(told: Any, *path: str) -> dict[str, Any]:
    value = member(told, *path)
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def objects(told: Any, *path: str) -> list[dict[str, Any]]:
    value = member(told, *path)
    if not isinstance(value, list):
        return []
    return [cast("dict[str, Any]", item) for item in cast("list[Any]", value) if isinstance(item, dict)]


def as_json(told: Any) -> str:
    """Text as it is, anything else as JSON; nothing at all, or what is too deep to write down, is no text."""
    if told is None or isinstance(told, str):
        return told or ""
    try:
        return msgspec.json.encode(told).decode()
    except RecursionError:
        return ""
