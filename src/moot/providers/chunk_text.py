"""Changes every text in a chunk, however deep it is: a service's own words are in ids and JSON, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import msgspec

from moot.providers.contract import Chunk

ChunkT = TypeVar("ChunkT", bound=Chunk)
NUL, REPLACEMENT = "\0", "\ufffd"


def map_text(chunk: ChunkT, change: Callable[[str], str]) -> ChunkT:
    """The chunk with all its text changed; the very same where nothing is."""
    data = msgspec.to_builtins(chunk)
    changed = _map_value(data, change)
    return chunk if changed == data else msgspec.convert(changed, type(chunk))


def _map_value(data: Any, change: Callable[[str], str]) -> Any:
    if isinstance(data, str):
        return change(data)
    if isinstance(data, dict):
        members = cast("dict[str, Any]", data)
        return {change(name): _map_value(value, change) for name, value in members.items()}
    if isinstance(data, list | tuple):
        items = cast("list[Any] | tuple[Any, ...]", data)
        return type(items)(_map_value(value, change) for value in items)
    return data


def without_nul(chunk: Chunk) -> Chunk:
    """The chunk with U+FFFD for each NUL: databases, browsers and other programs end a text there. The very
    same chunk where there is none, as nearly always."""
    return map_text(chunk, _replace_nul) if b"\\u0000" in msgspec.json.encode(chunk) else chunk


def _replace_nul(text: str) -> str:
    return text.replace(NUL, REPLACEMENT)
