"""JSON of whose shape nobody can be sure, read so that nothing in it can surprise us.

Services leave fields out, fill them with null, or send a number where others send a list. What is not of the
kind that was looked for counts as not there. A path leads to a field within fields; none is the thing itself.
"""

from __future__ import annotations

from typing import Any, cast

import msgspec


def parse_or_text(body: bytes) -> Any:
    """JSON where it is JSON, else text."""
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return body.decode(errors="replace")


def get_path(data: Any, *path: str) -> Any:
    """What stands at the end of this path, or None."""
    for name in path:
        data = cast("dict[str, Any]", data).get(name) if isinstance(data, dict) else None
    return data


def get_string(data: Any, *path: str) -> str:
    value = get_path(data, *path)
    return value if isinstance(value, str) else ""


def get_dict(data: Any, *path: str) -> dict[str, Any]:
    value = get_path(data, *path)
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def get_dicts(data: Any, *path: str) -> list[dict[str, Any]]:
    value = get_path(data, *path)
    if not isinstance(value, list):
        return []
    return [cast("dict[str, Any]", item) for item in cast("list[Any]", value) if isinstance(item, dict)]


def as_text(data: Any) -> str:
    """Text as it is, anything else as JSON; nothing at all, or what is too deep to write down, is no text."""
    if data is None or isinstance(data, str):
        return data or ""
    try:
        return msgspec.json.encode(data).decode()
    except RecursionError:
        return ""
