"""Judges who come later, beside those of the debate: each has an id that was never another's."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from msgspec.structs import replace

from moot.core.state import Debate
from moot.core.terms import Judge


def with_free_ids(debate: Debate, judges: Sequence[Judge]) -> tuple[Judge, ...]:
    """The judges, under new ids where theirs are taken by somebody else."""
    known = {judge.id: judge for judge in (*_past_judges(debate), *debate.judges)}
    free = (f"judge_{number}" for number in count(1))
    sitting: list[Judge] = []
    for judge in judges:
        if known.get(judge.id, judge) != judge or any(judge.id == other.id for other in sitting):
            judge = replace(judge, id=next(one for one in free if one not in known))
        known[judge.id] = judge
        sitting.append(judge)
    return tuple(sitting)


def _past_judges(debate: Debate) -> tuple[Judge, ...]:
    return tuple(judge for judging in debate.judgings for judge in judging.judges)
