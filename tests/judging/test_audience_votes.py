"""Each vote counts once, changes of mind are counted, and results are hidden until voting ends."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from moot import formats
from moot.core.events import DebateEnded, DebateStarted, Event, PollClosed, PollOpened, VoteCast
from moot.core.state import Debate
from moot.core.terms import DebateSetup, DebateVerdict, Format, PollSettings
from moot.judging.audience_votes import (
    MIN_VOTERS,
    AudienceTally,
    choice_label,
    intervals,
    result_doubts,
    result_sentences,
    seat_for_choice,
    tally,
    verdict,
    votes_revealed,
)
from moot.testing.event_factories import seats, state, table

OXFORD = formats.load("oxford")
UNION = formats.load("oxford-union")
SIDES = ("for", "against", "undecided")
MIRRORED = {"for": "against", "against": "for", "undecided": "undecided"}

Pair = tuple[str, str]
pairs = st.lists(st.tuples(st.sampled_from(SIDES), st.sampled_from(SIDES)), max_size=40)


def polled(*events: Event, format: Format = OXFORD, before: bool = True, sides: Sequence[str] = ()) -> Debate:
    sitting = seats(*sides) if sides else seats("for", "against")  # type: ignore[arg-type]  # words are sides
    setup = DebateSetup(winning="audience", polls=PollSettings(before=before))
    opened = replace(table("oxford", seats=sitting), format=format, setup=setup)
    return state(opened, DebateStarted(), *events)


def vote(poll: str, voter: str, choice: str, *, late: bool = False) -> VoteCast:
    return VoteCast(poll, voter, choice, late)  # type: ignore[arg-type]  # "before" or "after"


def both(moves: Sequence[Pair]) -> list[Event]:
    """Each voter's two votes, in polls that are closed."""
    first = [vote("before", f"v{i}", before) for i, (before, _) in enumerate(moves)]
    last = [vote("after", f"v{i}", after) for i, (_, after) in enumerate(moves)]
    return [
        PollOpened("before"),
        *first,
        PollClosed("before"),
        PollOpened("after"),
        *last,
        PollClosed("after"),
    ]


def counted(moves: Sequence[Pair], *more: Event, format: Format = OXFORD) -> AudienceTally:
    found = tally(polled(*both(moves), *more, format=format))
    assert found is not None
    return found


def decided(moves: Sequence[Pair], *more: Event, format: Format = OXFORD) -> DebateVerdict:
    found = verdict(polled(*both(moves), *more, format=format))
    assert found is not None
    return found


HALL: list[Pair] = [
    *[("for", "for")] * 8,
    *[("for", "against")] * 2,
    *[("against", "against")] * 6,
    *[("against", "for")] * 2,
    *[("undecided", "for")] * 8,
    *[("undecided", "against")] * 2,
    *[("undecided", "undecided")] * 2,
]
"""Thirty voters: for goes from 10 to 18, against from 8 to 10."""


def test_the_table_says_who_moved_from_what_to_what():
    found = counted(HALL)
    assert found.choices == SIDES
    assert found.table == ((8, 2, 0), (2, 6, 0), (8, 2, 2))
    assert found.pairs == 30


def test_the_swing_is_the_change_in_points_and_not_the_larger_share():
    found = counted(HALL)
    assert [(change.choice, change.points) for change in found.changes] == [
        ("for", 26.7),
        ("against", 6.7),
        ("undecided", -33.3),
    ]
    assert (found.leader, found.lead) == ("for", 20.0)
    # Twelve of twenty are for it to the end, and yet those against have won more of them over.
    ahead = [("for", "for")] * 12 + [("undecided", "against")] * 6 + [("against", "against")] * 2
    assert counted(ahead).leader == "against"


def test_the_persuadable_are_those_who_did_not_hold_it_at_first():
    found = counted(HALL)
    assert [(change.persuadable, change.won) for change in found.changes[:2]] == [(20, 10), (22, 4)]


def test_late_and_single_votes_stand_apart_and_move_nothing():
    late = [vote("after", "late", "against", late=True), vote("before", "once", "against")]
    found = counted(HALL, vote("before", "late", "for"), *late)
    first, last = found.counts
    assert (first.votes, first.late, first.single) == (32, 0, 2)
    assert (last.votes, last.late, last.single) == (30, 1, 0)
    assert (found.table, found.lead) == (counted(HALL).table, counted(HALL).lead)


def test_a_plain_majority_decides_where_the_format_says_so():
    found = counted([("for", "for")] * 12 + [("undecided", "against")] * 6, format=UNION)
    assert (found.rule, found.leader, found.lead) == ("majority", "for", 33.3)
    assert found.changes[1].points == 33.3


def test_in_a_format_that_knows_no_votes_a_first_one_makes_it_a_swing():
    assert counted(HALL, format=formats.load("lincoln-douglas")).rule == "swing"


def test_a_plain_majority_decides_where_no_first_vote_was_held():
    after = [PollOpened("after"), *(vote("after", f"v{i}", "for") for i in range(3)), PollClosed("after")]
    debate = polled(*after, before=False)
    found = tally(debate)
    assert found is not None
    assert (found.rule, found.leader, found.pairs) == ("majority", "for", 0)
    assert [count.single for count in found.counts] == [0]
    assert verdict(debate) == DebateVerdict(
        "win", "a", "audience", margin=100.0, agreement=1.0,
        reasoning="After the debate there were 3 votes for For, 0 votes for Against and 0 undecided. "
        "The plain majority wins.",
    )  # fmt: skip


def test_the_verdict_names_the_seat_its_margin_and_the_figures():
    found = decided(HALL)
    assert (found.outcome, found.winner, found.by, found.margin) == ("win", "a", "audience", 20.0)
    assert found.agreement == 0.6
    assert found.reasoning.startswith(
        "Counted over 30 people who voted both before and after: For gained 26.7 points and Against gained "
        "6.7 points. The larger change wins: 20 points more for For. The lead lies between "
    )


def test_a_margin_is_below_zero_where_the_second_side_leads():
    mirrored = [(MIRRORED[before], MIRRORED[after]) for before, after in HALL]
    assert (decided(mirrored).winner, decided(mirrored).margin) == ("b", -20.0)


def test_equal_changes_are_a_draw():
    level = [("undecided", "for"), ("undecided", "against")] * 6
    assert (decided(level).outcome, decided(level).winner) == ("draw", None)
    assert decided(level).reasoning.endswith("Equal changes are a draw.")


def test_without_anybody_who_voted_twice_there_is_nothing_to_call():
    once = [PollOpened("before"), vote("before", "a", "for"), PollClosed("before")]
    debate = polled(*once, PollOpened("after"), vote("after", "b", "against"), PollClosed("after"))
    found = verdict(debate)
    assert found is not None
    assert (found.outcome, found.winner) == ("too-close", None)
    assert found.reasoning.startswith("Nobody voted both before and after")


def test_nobody_voted_is_no_verdict():
    assert verdict(polled(*both([]))) is None
    assert verdict(polled()) is None
    assert tally(state(table("oxford"))) is None


def test_few_voters_get_no_interval_but_a_doubt():
    found = counted(HALL[: MIN_VOTERS - 1])
    assert found.interval is None
    assert {change.interval for change in found.changes} == {None}
    assert result_doubts(found) == (
        "Only 9 people voted both before and after: too few to say how sure this is.",
    )


def test_a_clear_swing_has_no_doubts_and_an_even_one_says_that_it_may_be_chance():
    assert result_doubts(counted(HALL * 6)) == ()
    even = [("undecided", "for")] * 8 + [("undecided", "against")] * 7 + [("for", "for")] * 5
    found = counted(even)
    assert found.interval is not None
    assert found.interval.holds_zero
    assert result_doubts(found) == (
        "The lead of 5 points may be chance: another audience like this one might have given none.",
    )


def test_many_single_votes_and_late_ones_are_a_doubt():
    more = [vote("after", f"new{i}", "for") for i in range(60)]
    found = counted(HALL * 6, *more, vote("after", "late", "for", late=True))
    assert result_doubts(found) == (
        "60 people voted only once and are not in the swing.",
        "1 vote came late and does not count.",
    )


def test_a_majority_of_the_undecided_is_a_doubt():
    moves = [("undecided", "undecided")] * 9 + [("for", "for")] * 3 + [("against", "against")]
    assert result_doubts(counted(moves, format=UNION)) == (
        "More people were undecided than voted for the winner.",
    )


def test_nothing_is_told_before_the_second_poll_has_closed():
    events = both(HALL)
    for length in range(len(events)):
        debate = polled(*events[:length])
        found = tally(debate)
        assert found is not None
        assert found.sealed
        assert not votes_revealed(debate)
        assert (found.table, found.changes, found.leader) == ((), (), None)
        assert all(count.by_choice == {} for count in found.counts)
        assert list(result_sentences(debate, found)) == []
        assert result_doubts(found) == ()
    assert [count.votes for count in counted(HALL).counts] == [30, 30]


def test_a_debate_that_is_over_has_no_secrets_left():
    events = both(HALL)[:20]
    assert votes_revealed(polled(*events, DebateEnded("aborted")))


def test_with_more_than_two_parties_seats_are_voted_for():
    debate = polled(*both([("undecided", "c")] * 3 + [("a", "b")]), sides=("for", "against", "neutral"))
    debate = replace(debate, format=replace(debate.format, parties="seats"))
    found = tally(debate)
    assert found is not None
    assert found.choices == ("a", "b", "c", "undecided")
    assert [len(row) for row in found.table] == [4, 4, 4, 4]
    assert (found.leader, found.lead) == ("c", 50.0)
    assert (
        seat_for_choice(debate, "c"),
        choice_label(debate, "c"),
        seat_for_choice(debate, "undecided"),
    ) == (
        "c",
        "Seat 3",
        None,
    )


def test_a_side_of_several_seats_is_named_by_its_first():
    four = polled(
        *both(HALL), format=replace(OXFORD, parties="sides"), sides=("against", "for", "for", "against")
    )
    found = verdict(four)
    assert found is not None
    assert (found.winner, found.margin) == ("b", 20.0)


@given(pairs)
@settings(max_examples=40, deadline=None)
def test_the_figures_add_up(moves: list[Pair]):
    found = counted(moves)
    assert sum(map(sum, found.table)) == found.pairs == len(moves)
    for place, change in enumerate(found.changes):
        assert sum(found.table[place]) == change.before
        assert sum(row[place] for row in found.table) == change.after
        assert change.before + change.persuadable == found.pairs
        assert change.won <= change.persuadable
    assert sum(change.after - change.before for change in found.changes) == 0
    assert sum(found.counts[0].by_choice.values()) == found.counts[0].votes


@given(pairs)
@settings(max_examples=40, deadline=None)
def test_swapping_the_sides_swaps_the_result(moves: list[Pair]):
    found = counted(moves)
    other = counted([(MIRRORED[before], MIRRORED[after]) for before, after in moves])
    assert other.leader == (MIRRORED[found.leader] if found.leader else None)
    assert other.lead == found.lead
    assert {MIRRORED[c.choice]: c.points for c in found.changes} == {
        c.choice: c.points for c in other.changes
    }


@given(pairs, st.randoms())
@settings(max_examples=40, deadline=None)
def test_the_order_of_the_votes_makes_no_difference(moves: list[Pair], dice: Random):
    events = both(moves)
    first, last = events[1 : 1 + len(moves)], events[3 + len(moves) : -1]
    dice.shuffle(first)
    dice.shuffle(last)
    shuffled = [events[0], *first, PollClosed("before"), PollOpened("after"), *last, PollClosed("after")]
    assert tally(polled(*shuffled)) == counted(moves)


@pytest.mark.parametrize("voters", [12, 60, 600])
def test_an_interval_holds_what_was_found_and_narrows_with_more_voters(voters: int):
    moves = [*HALL] * (voters // 30) if voters >= 30 else HALL[:voters]
    found = counted(moves)
    assert found.interval is not None
    assert found.interval.low <= found.lead <= found.interval.high
    if voters > 30:
        fewer = counted(HALL).interval
        assert fewer is not None
        assert found.interval.high - found.interval.low < fewer.high - fewer.low


def test_a_bootstrap_agrees_with_the_arithmetic():
    """Of 400 people 100 say yes: the error of the share is 2.2 points, so 95 of 100 lie within 4.2."""
    (found,) = intervals(Random("dice"), (100, 300), ((1, 0),))
    assert found.low == pytest.approx(0.25 - 0.0424, abs=0.006)
    assert found.high == pytest.approx(0.25 + 0.0424, abs=0.006)


def test_people_who_all_think_alike_leave_no_doubt():
    (found,) = intervals(Random("dice"), (0, 50, 0), ((0, 1, 0),))
    assert (found.low, found.high) == (1.0, 1.0)
