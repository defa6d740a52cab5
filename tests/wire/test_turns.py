"""A turn told by itself: the words, the thoughts and the money of that turn, and nobody else's."""

from __future__ import annotations

import pytest

from moot.audience import OWNER, Viewer
from moot.debate import Turn
from moot.evolve import fold
from moot.terms import Money
from moot.wire.frames import Frame, Seen
from moot.wire.turns import OneTurn, costs
from tests.golden.reading import log_of
from tests.wire.watching import NAMES, told, watch

MENDED = ("mended", "utf8")


def frames(seen: list[Seen], turn: Turn) -> list[Frame]:
    return [frame for _, frame in told(OneTurn(turn.number, turn.seq - 1), seen)]


def joined(made: list[Frame], name: str) -> str:
    return "".join(frame.data["chunk"] for frame in made if frame.event == name)


@pytest.mark.parametrize("name", NAMES)
def test_a_turn_ends_with_all_that_was_said_in_it(name: str) -> None:
    seen = watch(log_of(name), OWNER)
    debate = seen[-1].after
    for turn in debate.turns:
        *streamed, last = frames(seen, turn)
        assert {frame.event for frame in streamed} <= {"content", "reasoning"}
        if turn.state != "completed":
            assert (last.event, [*last.data]) == ("error", ["message"])
            continue
        assert last.event == "complete"
        assert last.data["content"] == turn.text
        # Words of an attempt that broke off stand before; those that were thoughts after all, anywhere.
        struck = turn.failures or any(mark in turn.degraded for mark in MENDED)
        if not struck and not any(one.event and getattr(one.event, "taken_back", False) for one in seen):
            assert joined(streamed, "content") == turn.text
        assert last.data["cost"]["total"] == (turn.cost or 0)


@pytest.mark.parametrize("name", NAMES)
def test_the_parts_of_a_cost_make_the_total(name: str) -> None:
    debate = fold(log_of(name))
    assert debate
    for turn in debate.turns:
        told_ = costs(debate, turn)
        parts = [Money(told_[part]) for part in ("input", "output", "reasoning")]
        assert min(parts) >= 0
        assert sum(parts) == told_["total"]
        assert ("known" in told_) == (turn.cost is None)


def test_who_may_not_read_thoughts_is_told_none() -> None:
    seen = watch(log_of("asked-for"), Viewer("participant", "part_2"))
    for turn in seen[-1].after.turns:
        assert not joined(frames(seen, turn), "reasoning")


def test_a_turn_that_was_called_off_before_it_began_ends_with_an_error() -> None:
    seen = watch(log_of("asked-for"), OWNER)
    # Nobody ever gave a seventh: what is told from the end on is that it came to nothing.
    cut = [one for one in seen if one.seq > seen[-1].seq - 2]
    told_ = [frame.event for _, frame in told(OneTurn(7, seen[-1].seq - 2), cut)]
    assert told_ == ["error"]
