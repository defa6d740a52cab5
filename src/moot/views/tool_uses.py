"""The tools that a speech used: name, arguments, output, and where in its text; and items of unknown type.

The output of a tool is untrusted and may be long: readers of a debate are shown its beginning.
"""

from __future__ import annotations

from collections import Counter

import msgspec
from msgspec import Struct

from moot.core.state import Turn
from moot.core.terms import Text, ToolCall, ToolResult, UnknownItem
from moot.core.word_count import CLIPPED_MARK
from moot.views.text import single_line

MAX_ARGUMENT_CHARS = 200
MAX_OUTPUT_CHARS = 600


class ToolUse(Struct, frozen=True):
    """On single lines, cut short."""

    name: str
    title: str
    """Empty for an unknown item."""
    arguments: str
    output: str
    failed: bool
    at: int
    """So many characters of the speech come before it."""
    unknown: bool = False
    """No tool, but an item that the service sent; `name` is its type."""


def tool_uses(turn: Turn, *, thoughts: bool = False) -> tuple[ToolUse, ...]:
    """An unknown item may hold reasoning: its content is included only with `thoughts`."""
    results = {part.id: part for part in turn.segments if isinstance(part, ToolResult)}
    used: list[ToolUse] = []
    position = 0
    for segment in turn.shown:
        match segment:
            case Text():
                position += len(segment.text)
            case ToolCall():
                used.append(_use(segment, results.get(segment.id), position))
            case UnknownItem():
                gave = (
                    _short(msgspec.json.encode(segment.item).decode(), MAX_OUTPUT_CHARS) if thoughts else ""
                )
                used.append(
                    ToolUse(
                        _short(segment.kind, MAX_ARGUMENT_CHARS), "", "", gave, False, position, unknown=True
                    )
                )
            case _:
                pass
    return tuple(used)


def _use(call: ToolCall, result: ToolResult | None, at: int) -> ToolUse:
    error, output = (result.error, result.output) if result else (call.error, "")
    arguments = _short(call.arguments, MAX_ARGUMENT_CHARS)
    return ToolUse(
        name=call.name,
        title=call.title,
        arguments="" if arguments == "{}" else arguments,
        output=_short(error or output or call.output, MAX_OUTPUT_CHARS),
        failed=bool(error),
        at=at,
    )


def _short(text: str, most: int) -> str:
    line = single_line(text)
    return line if len(line) <= most else line[:most].rstrip() + CLIPPED_MARK


def tools_line(used: tuple[ToolUse, ...]) -> tuple[str, ...]:
    """Return one line with the tools that succeeded, and one with unknown items, where there are any."""
    times = Counter(use.title for use in used if use.title and not use.failed)
    titles = ", ".join(f"{title} ({n} times)" if n > 1 else title for title, n in times.items())
    strange = ", ".join(dict.fromkeys(use.name for use in used if use.unknown))
    aided = (f"With tools: {titles}.",) if titles else ()
    return (*aided, f"Unknown item: {strange}.") if strange else aided
