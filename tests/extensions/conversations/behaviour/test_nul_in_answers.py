"""A NUL in what a model sends: no other database ever meets it, whose `jsonb` takes none."""

from __future__ import annotations

from pathlib import Path

from moot.extensions.conversations import exporting
from moot.row_io.readers import parse_location
from moot.store.memory import MemoryStore
from tests.store.behaviour.test_nul_in_answers import debate_with_nul


async def test_a_nul_in_an_answer_breaks_nothing(tmp_path: Path, empty_postgres: str) -> None:
    store = MemoryStore()
    async with debate_with_nul(store, tmp_path) as (debate, _):
        for address in (str(tmp_path / "old.db"), str(tmp_path / "old.jsonl"), empty_postgres):
            done = await exporting.write_rows(
                parse_location(address, "old_events"), exporting.debate_rows(store, [debate.id])
            )
            assert (done.rows, done.problems) == (1 + len(debate.turns), [])
