"""Where a fixed table of speeches holds fewer rounds than were asked for, a model that asks is told."""

from __future__ import annotations

from pathlib import Path

from moot.extensions.mcp.answers import start_result, start_text
from tests.web.behaviour.test_fewer_rounds import sentence, with_fewer_rounds


async def test_it_is_in_the_answer(tmp_path: Path) -> None:
    name = "lincoln-douglas"
    answer = start_result(await with_fewer_rounds(name, tmp_path), "It costs nothing")
    assert (answer.rounds, sentence(name) in answer.warnings) == (3, True)
    assert sentence(name) in start_text(answer)
