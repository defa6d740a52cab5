"""Imported conversations on the page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from moot.extensions.conversations.importing import import_rows
from moot.extensions.conversations.tables import CONVERSATIONS
from moot.row_io.readers import parse_location
from tests.web.routes.served import Served

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_an_imported_conversation_is_listed_searched_and_read_in_order(
    page: Page, served: Served, tmp_path: Path
) -> None:
    common = {"conversation_id": "chat-1"}
    rows = [
        {
            **common,
            "id": "e1",
            "order_key": "1",
            "role": "user",
            "segments": [{"type": "text", "text": "Why?"}],
            "ts": 1,
        },
        {
            **common,
            "id": "e2",
            "order_key": "2",
            "role": "assistant",
            "segments": [
                {"type": "tool_call", "id": "t", "name": "lookup", "args": {"q": "why"}},
                {"type": "tool_result", "id": "t", "output": "Because."},
                {"type": "text", "text": "So it **is**."},
            ],
            "reasoning": {
                "item_id": "r",
                "output_index": 0,
                "parts": {
                    "0": {"summary_index": 0, "text": "Look it up.", "sequence_number": 1},
                    "1": {"summary_index": 1, "text": "Twice.", "sequence_number": 2},
                },
                "combined_text": "Look it up.",
            },
            "ts": 2,
        },
    ]
    lines = tmp_path / "events.jsonl"
    lines.write_text("\n".join(json.dumps(row) for row in rows))
    await import_rows(served.arena.store.tables(CONVERSATIONS), parse_location(str(lines)))
    await page.goto(f"{served.url}/debates")
    await page.get_by_role("link", name="Conversations").click()
    await page.get_by_role("link", name="chat-1").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("chat-1")
    message = page.locator(".message.assistant")
    await expect(message.locator("summary")).to_have_text(["Tool call: lookup", "Tool result", "Reasoning"])
    await expect(message.locator("strong")).to_have_text("is")
    # The combined text leaves the second part out.
    await expect(message.locator(".thought p")).to_have_text(["Look it up.", "Twice."])
    await page.get_by_label("Search in this conversation").fill("Why?")
    await expect(page.locator(".message")).to_have_count(1)
