"""Reads JSON of uncertain shape without errors.

Services omit fields, send null, or a number where others send a list. A value of another type than expected
counts as missing. A path names a field within fields; an empty path is the value itself.
"""

from __future__ import annotations

from typing import Any, cast

import msgspec


def parse_or_text(body: bytes) -> Any:
    """The decoded JSON, or the text if it is none."""
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return body.decode(errors="replace")


def get_path(data: Any, *path: str) -> Any:
    """The value at this path, or None."""
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
    """Text as it is, other values as JSON; empty for None and for what is nested too deeply."""
    if data is None or isinstance(data, str):
        return data or ""
    try:
        return msgspec.json.encode(data).decode()
    except RecursionError:
        return ""
