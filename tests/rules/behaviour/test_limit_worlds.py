"""A cost limit of twice the expected cost holds the whole debate: a short version of `limit_worlds`."""

from __future__ import annotations

import pytest

from moot.core.terms import Money
from moot.rules.cost_estimate import estimate, fitted_to_limit, limit_holds
from tests.rules.limit_worlds import FORMATS, PAGE, WORLDS, World, hold

RUNS = len(FORMATS)
DEAR = World("1.25 / 10", thinks=True, long=True)


# Every third: `python -m tests.rules.limit_worlds` has them all.
@pytest.mark.parametrize("world", WORLDS[::3], ids=str)
def test_twice_the_expected_cost_holds_the_whole_debate(world: World) -> None:
    debates = [hold(world, number) for number in range(RUNS)]
    assert [debate.why for debate in debates if not debate.whole] == []
    assert all(debate.share <= 1 for debate in debates)


def test_half_of_the_expected_cost_does_not_and_is_not_exceeded_either() -> None:
    debates = [hold(DEAR, number, 0.6) for number in range(RUNS)]
    assert not any(debate.whole for debate in debates)
    assert all(debate.share <= 1 for debate in debates)


@pytest.mark.parametrize("number", range(RUNS))
def test_what_a_limit_holds_is_what_the_opened_debate_has(number: int) -> None:
    expected = estimate(DEAR.opening(number)).expected
    assert expected is not None
    for times in ("0.8", "1", "1.3", "2"):
        asked = DEAR.opening(number, expected * Money(times))
        holds, opened = limit_holds(asked), fitted_to_limit(asked)
        assert holds is not None
        assert (holds.rounds < holds.asked) == bool(opened.limits.rounds_asked)
        assert holds.worst_rounds <= holds.rounds


def test_the_smallest_limit_that_holds_all_does() -> None:
    for number in range(RUNS):
        found = estimate(DEAR.opening(number))
        assert found.whole_limit is not None
        assert found.expected is not None
        holds = limit_holds(DEAR.opening(number, found.whole_limit))
        less = limit_holds(DEAR.opening(number, found.whole_limit - Money("0.02")))
        assert holds is not None
        assert less is not None
        assert holds.whole
        assert not less.whole


def test_the_table_in_the_documentation_has_every_world() -> None:
    table = PAGE.read_text("utf-8")
    for world in WORLDS:
        begin = f"| {world.price} | {'yes' if world.thinks else 'no'} | {'long' if world.long else 'short'} "
        (line,) = (line for line in table.splitlines() if line.startswith(begin))
        held = int(line.split("|")[4].split()[0])
        assert held >= 98, line
