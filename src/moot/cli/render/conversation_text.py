"""A conversation on the page, event by event."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from typing import Any

import msgspec

from moot.cli.render.output import Page, shorten
from moot.views.safe_text import clean_json

STYLES = {"system": "dim", "user": "bold cyan", "assistant": "bold", "tool": "dim"}


async def retell(events: AsyncIterator[dict[str, Any]], *, reasoning: bool, json: bool) -> None:
    page = Page.out()
    async for event in events:
        if json:
            sys.stdout.write(clean_json(msgspec.json.encode(event).decode()) + "\n")
            continue
        page.line((event.get("name") or event["role"], STYLES.get(event["role"], "")))
        for segment in event["segments"]:
            _segment(page, segment, reasoning=reasoning)
        page.gap()


def _segment(page: Page, segment: dict[str, Any], *, reasoning: bool) -> None:
    match segment.get("type"):
        case "text":
            page.line(str(segment.get("text", "")))
        case "reasoning":
            if reasoning:
                page.line((_thought(segment), "dim italic"))
        case "tool_call":
            page.line((_short(page, f"→ {segment.get('name', '')} ", segment.get("args")), "yellow"))
        case "tool_result":
            page.line((_short(page, "← ", segment.get("error") or segment.get("output")), "yellow"))
        case "unknown_item":
            label = f"Unknown item: {segment.get('item_type', '')} "
            page.line((_short(page, label, segment.get("item")), "dim"))
        case other:
            # Of a type that was not known when this was written.
            page.line((_short(page, f"[{other}] ", segment), "dim"))


def _thought(segment: dict[str, Any]) -> str:
    parts = "\n\n".join(str(part.get("text", "")) for part in segment.get("parts", ()))
    return str(segment.get("combined_text") or parts)


def _short(page: Page, before: str, what: Any) -> str:
    return shorten(before + msgspec.json.encode(what).decode(), page.width)
