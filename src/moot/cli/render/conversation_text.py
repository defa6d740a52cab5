"""A conversation on the page, event by event."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from typing import Any

import msgspec

from moot.cli.render.output import Terminal, shorten
from moot.views.text import clean_json

STYLES = {"system": "dim", "user": "bold cyan", "assistant": "bold", "tool": "dim"}


async def print_conversation(events: AsyncIterator[dict[str, Any]], *, reasoning: bool, json: bool) -> None:
    terminal = Terminal.out()
    async for event in events:
        if json:
            sys.stdout.write(clean_json(msgspec.json.encode(event).decode()) + "\n")
            continue
        terminal.line((event.get("name") or event["role"], STYLES.get(event["role"], "")))
        for segment in event["segments"]:
            _segment(terminal, segment, reasoning=reasoning)
        terminal.blank_line()


def _segment(terminal: Terminal, segment: dict[str, Any], *, reasoning: bool) -> None:
    match segment.get("type"):
        case "text":
            terminal.line(str(segment.get("text", "")))
        case "reasoning":
            if reasoning:
                terminal.line((_thought(segment), "dim italic"))
        case "tool_call":
            terminal.line((_short(terminal, f"→ {segment.get('name', '')} ", segment.get("args")), "yellow"))
        case "tool_result":
            terminal.line((_short(terminal, "← ", segment.get("error") or segment.get("output")), "yellow"))
        case "unknown_item":
            label = f"Unknown item: {segment.get('item_type', '')} "
            terminal.line((_short(terminal, label, segment.get("item")), "dim"))
        case other:
            # Of a type that was not known when this was written.
            terminal.line((_short(terminal, f"[{other}] ", segment), "dim"))


def _thought(segment: dict[str, Any]) -> str:
    parts = "\n\n".join(str(part.get("text", "")) for part in segment.get("parts", ()))
    return str(segment.get("combined_text") or parts)


def _short(terminal: Terminal, before: str, what: Any) -> str:
    return shorten(before + msgspec.json.encode(what).decode(), terminal.width)
