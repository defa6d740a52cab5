"""The tools of a speech: which it used, for what, what they gave, and where in its words. Items of a type
that is not known stand among them.

What a tool gave is anybody's words, and long: whoever reads a debate afterwards is shown the beginning of it.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
from msgspec import Struct

from moot.core.state import Turn
from moot.core.terms import Text, ToolCall, ToolResult, UnknownItem
from moot.core.word_count import CLIPPED
from moot.views.safe_text import line

MOST_ASKED = 200
MOST_GIVEN = 600


class Use(Struct, frozen=True):
    """On single lines, cut short."""

    name: str
    title: str
    """Empty for what is nobody's tool."""
    asked: str
    gave: str
    failed: bool
    at: int
    """So many characters of the speech come before it."""
    unknown: bool = False
    """No tool, but an item that the service sent; `name` is its type."""


def uses(turn: Turn, *, thoughts: bool = False) -> tuple[Use, ...]:
    """What is in an unknown item may be thoughts: it is told only where those are."""
    results = {part.id: part for part in turn.segments if isinstance(part, ToolResult)}
    used: list[Use] = []
    said = 0
    for segment in turn.shown:
        match segment:
            case Text():
                said += len(segment.text)
            case ToolCall():
                used.append(_use(segment, results.get(segment.id), said))
            case UnknownItem():
                gave = _short(_json(segment.item), MOST_GIVEN) if thoughts else ""
                used.append(Use(_short(segment.kind, MOST_ASKED), "", "", gave, False, said, unknown=True))
            case _:
                pass
    return tuple(used)


def _use(call: ToolCall, result: ToolResult | None, at: int) -> Use:
    error, output = (result.error, result.output) if result else (call.error, "")
    asked = _short(call.arguments, MOST_ASKED)
    return Use(
        name=call.name,
        title=call.title,
        asked="" if asked == "{}" else asked,
        gave=_short(error or output or call.output, MOST_GIVEN),
        failed=bool(error),
        at=at,
    )


def _json(item: dict[str, Any]) -> str:
    return msgspec.json.encode(item).decode()


def _short(text: str, most: int) -> str:
    whole = line(text)
    return whole if len(whole) <= most else whole[:most].rstrip() + CLIPPED


def aids(used: tuple[Use, ...]) -> tuple[str, ...]:
    """Those that were of use, in a line."""
    times = Counter(use.title for use in used if use.title and not use.failed)
    told = ", ".join(f"{title} ({n} times)" if n > 1 else title for title, n in times.items())
    strange = ", ".join(dict.fromkeys(use.name for use in used if use.unknown))
    aided = (f"With tools: {told}.",) if told else ()
    return (*aided, f"Unknown item: {strange}.") if strange else aided
