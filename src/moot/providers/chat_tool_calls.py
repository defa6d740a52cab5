"""Tool calls of a chat completion, put together from their pieces.

They come whole or by the word, with an index or without, their arguments as text or as an object. Tools that
a service ran by itself (Groq's compound models) are told apart and keep what came of them.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from moot.core.terms import ToolCall
from moot.providers.lenient_json import as_text, get_dict, get_dicts, get_string


class _PartialCall(Struct):
    kind: str
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list[str])
    output: str = ""


class ToolCallBuilder:
    """Those of one reply, in the order of their beginnings."""

    def __init__(self) -> None:
        self._all: list[_PartialCall] = []
        self._by_index: dict[int, _PartialCall] = {}
        self._executed: dict[str, _PartialCall] = {}
        self._last: _PartialCall | None = None

    @property
    def pending(self) -> bool:
        """Somebody is to answer."""
        return self._last is not None

    def add_pieces(self, pieces: Any) -> None:
        for piece in get_dicts(pieces):
            does = get_dict(piece, "function") or get_dict(piece, "custom")
            index = piece.get("index", does.get("index"))
            name, known_as = get_string(does, "name"), get_string(piece, "id")
            call = self._find(index, known_as, name) or self._begin(piece.get("type"))
            if isinstance(index, int):
                self._by_index[index] = call
            self._last = call
            call.id, call.name = call.id or known_as, call.name or name
            call.arguments.append(as_text(does.get("arguments", does.get("input"))))

    def add_executed(self, pieces: Any) -> None:
        for piece in get_dicts(pieces):
            index = as_text(piece.get("index"))
            if index not in self._executed:
                self._executed[index] = self._begin("executed_tool")
            call = self._executed[index]
            call.name = call.name or get_string(piece, "type")
            if arguments := piece.get("arguments"):
                call.arguments = [as_text(arguments)]
            call.output = _executed_output(piece) or call.output

    def all(self, first: int) -> list[ToolCall]:
        """As segments, numbered from `first` on."""
        return [
            ToolCall(call.id, call.name, "".join(call.arguments), index, kind=call.kind, output=call.output)
            for index, call in enumerate(self._all, first)
        ]

    def _begin(self, kind: Any) -> _PartialCall:
        call = _PartialCall(get_string(kind) or "function")
        self._all.append(call)
        return call

    def _find(self, index: Any, known_as: str, name: str) -> _PartialCall | None:
        if not isinstance(index, int):
            same = [call for call in self._all if known_as and call.id == known_as]
            return same[0] if same else None if known_as or name else self._last
        call = self._by_index.get(index)
        # Some services count every call as the first one.
        another = call is not None and name and known_as and call.id and known_as != call.id
        return None if another else call


def _executed_output(piece: dict[str, Any]) -> str:
    if output := piece.get("output"):
        return as_text(output)
    results = {name: found for name, found in piece.items() if name.endswith("_results") and found}
    return as_text(results or None)
