"""A speech with tools, as the event of a conversation."""

from __future__ import annotations

from pathlib import Path

from moot.core.visibility import OWNER
from moot.extensions.conversations.debates import conversation
from moot.rules.commands import Stop
from tests.engine.test_tool_loop import cut_before_its_first_word


async def test_a_thought_that_was_seen_stays_where_the_speech_is_cut_before_its_first_word(
    tmp_path: Path,
) -> None:
    debate, _ = await cut_before_its_first_word(tmp_path, Stop())
    told = [part for part in conversation(debate, OWNER)[1]["segments"] if part["type"] == "reasoning"]
    assert [(part["output_index"], part["combined_text"]) for part in told] == [
        (0, "First."),
        (3, "Second thought"),
    ]
