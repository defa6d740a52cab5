"""How ballots become a verdict, and when they do not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from moot import formats
from moot.core.state import Debate, Judging
from moot.core.terms import (
    HUMAN,
    Ballot,
    DebateLimits,
    DebateVerdict,
    DecisionRule,
    Format,
    Judge,
    Model,
    PartyScore,
    Side,
)
from moot.judging import verdicts
from moot.judging.verdicts import ranking_points
from moot.testing.event_factories import SCRIPTED, seats, table
from tests.rules.random_debates import LAW
from tests.rules.simulate import NOON, Simulation, speeches


def debated(*texts: str, **changes: Any) -> Debate:
    opening = replace(table("free", limits=DebateLimits(1, turns=len(texts) or 2)), **changes)
    return Simulation(opening, speeches(*texts)).start().run_until(lambda d: d.status == "judging").debate


def deciding(result: DecisionRule) -> Format:
    return replace(formats.load("free"), result=result)


def reach(debate: Debate, ballots: Sequence[Ballot], *people: str, **weights: float) -> DebateVerdict | None:
    """The verdict of whoever cast these ballots; `people` sit in person."""
    judges = tuple(
        Judge(name, name, Model(HUMAN, name) if name in people else SCRIPTED, weights=weights)
        for name in dict.fromkeys(ballot.judge for ballot in ballots)
    )
    judging = Judging(1, "rounds", judges, NOON, NOON, ballots=tuple(ballots))
    return verdicts.reach_verdict(replace(debate, judgings=(judging,)), judging)


state_of_two = debated("One.", "Two.")


# --- verdicts -----------------------------------------------------------------------------------------


def cast(judge: str, order: int, winner: str | None, a: float = 80, b: float = 70) -> Ballot:
    scores = {"a": PartyScore(a, ("Birch is clear",)), "b": PartyScore(b, (), ("Cedar is vague",))}
    return Ballot(judge, order, winner, scores, "Birch won.", {"argument": "Birch's."})


def both(judge: str, first: str | None, second: str | None) -> tuple[Ballot, Ballot]:
    return cast(judge, 0, first), cast(judge, 1, second)


def test_both_orders_agree_and_there_is_a_winner() -> None:
    verdict = reach(state_of_two, both("judge", "a", "a"))
    assert verdict
    assert (verdict.outcome, verdict.winner, verdict.by) == ("win", "a", "judges")
    assert (verdict.margin, verdict.agreement, verdict.flips) == (10.0, 1.0, 0)


def test_a_judge_who_changes_with_the_order_has_not_decided() -> None:
    verdict = reach(state_of_two, both("judge", "a", "b"))
    assert verdict
    assert (verdict.outcome, verdict.winner, verdict.flips, verdict.agreement) == ("too-close", None, 1, 0.5)


def test_a_tie_in_both_orders_is_a_draw() -> None:
    verdict = reach(state_of_two, both("judge", None, None))
    assert verdict
    assert (verdict.outcome, verdict.winner, verdict.flips) == ("draw", None, 0)


def test_a_tie_in_one_order_is_too_close() -> None:
    verdict = reach(state_of_two, both("judge", "a", None))
    assert verdict
    assert (verdict.outcome, verdict.flips) == ("too-close", 1)


@pytest.mark.parametrize("ballots", [(), (cast("judge", 0, "a"),), (cast("j", 0, "a"), cast("k", 1, "a"))])
def test_without_both_orders_of_one_judge_there_is_no_verdict(ballots: tuple[Ballot, ...]) -> None:
    assert reach(state_of_two, ballots) is None


def test_a_judge_with_one_order_does_not_count_beside_one_with_both() -> None:
    verdict = reach(state_of_two, (*both("j", "a", "a"), cast("k", 0, "b")))
    assert verdict
    assert (verdict.winner, verdict.agreement) == ("a", 1.0)


@pytest.mark.parametrize(
    ("minds", "winner", "outcome"),
    [
        (["aa", "aa", "bb"], "a", "win"),
        (["aa", "bb"], None, "too-close"),
        (["aa", "ab", "ab"], None, "too-close"),
        (["aa", "aa", "ab"], "a", "win"),
        (["bb", "bb", "bb"], "b", "win"),
    ],
)
def test_a_winner_needs_more_than_half_of_the_judges(
    minds: list[str], winner: str | None, outcome: str
) -> None:
    ballots = [b for place, mind in enumerate(minds) for b in both(f"j{place}", *mind)]
    verdict = reach(state_of_two, tuple(ballots))
    assert verdict
    assert (verdict.winner, verdict.outcome) == (winner, outcome)


def test_the_margin_is_signed_from_the_first_seats_side() -> None:
    verdict = reach(state_of_two, (cast("j", 0, "b", 60, 75), cast("j", 1, "b", 65, 75)))
    assert verdict
    assert verdict.margin == -12.5
    assert verdict.scores["a"].score == 62.5


def test_figures_are_given_to_one_decimal_and_shares_to_two() -> None:
    ballots = [
        cast(f"j{n}", order, "ab"[n == 2], 60 + n * n * order, 50) for n in range(3) for order in (0, 1)
    ]
    verdict = reach(state_of_two, tuple(ballots))
    assert verdict
    assert verdict.scores["a"].score == 60.8
    assert verdict.agreement == 0.67


def test_with_more_seats_the_margin_is_that_of_the_best_over_the_next() -> None:
    debate = debated("One.", "Two.", "Three.", seats=seats("for", "against", "for"))
    scores = {"a": PartyScore(50), "b": PartyScore(90), "c": PartyScore(70)}
    verdict = reach(debate, tuple(Ballot("j", order, "b", scores, "") for order in (0, 1)))
    assert verdict
    assert (verdict.winner, verdict.margin) == ("b", 20.0)


def test_the_verdict_speaks_of_people_by_their_names() -> None:
    verdict = reach(state_of_two, both("judge", "a", "a"))
    assert verdict
    assert verdict.reasoning == "Seat 1 won."
    assert verdict.criteria == {"argument": "Seat 1's."}
    assert verdict.scores["a"].strengths == ("Seat 1 is clear", "Seat 2 is clear")


def test_doubt_about_one_ballot_is_doubt_about_the_verdict() -> None:
    one, other = both("judge", "a", "a")
    verdict = reach(state_of_two, (one, replace(other, inconsistent=True)))
    assert verdict
    assert verdict.inconsistent


minds = st.tuples(st.sampled_from("ab-"), st.sampled_from("ab-"), st.integers(0, 100))


@given(st.lists(minds, min_size=1, max_size=5))
@LAW
def test_a_verdict_is_never_made_up(minds: list[tuple[str, str, int]]) -> None:
    ballots = [
        cast(f"j{place}", order, None if mind == "-" else mind, score)
        for place, (*pair, score) in enumerate(minds)
        for order, mind in enumerate(pair)
    ]
    verdict = reach(state_of_two, tuple(ballots))
    assert verdict
    sure = [first for first, second, _ in minds if first == second != "-"]
    if verdict.winner:
        assert sure.count(verdict.winner) * 2 > len(minds)
    else:
        assert all(sure.count(seat) * 2 <= len(minds) for seat in "ab")
    assert (verdict.outcome == "win") == (verdict.winner is not None)
    assert 0 < verdict.agreement <= 1
    assert verdict.flips == sum(first != second for first, second, _ in minds)


# --- who decides, and how -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("minds", "outcome"), [(["aa", "aa", "aa"], "win"), (["aa", "aa", "bb"], "too-close"), (["--"], "draw")]
)
def test_consensus_wants_all_judges(minds: list[str], outcome: str) -> None:
    debate = debated("One.", "Two.", format=deciding("consensus"))
    ballots = [
        ballot
        for place, mind in enumerate(minds)
        for ballot in both(f"j{place}", *(None if one == "-" else one for one in mind))
    ]
    verdict = reach(debate, ballots)
    assert verdict
    assert verdict.outcome == outcome


def test_without_an_audience_a_swing_is_decided_by_the_majority_of_judges() -> None:
    debate = debated("One.", "Two.", format=deciding("swing"))
    verdict = reach(debate, both("j", "b", "b"))
    assert verdict
    assert (verdict.outcome, verdict.winner) == ("win", "b")


@pytest.mark.parametrize("judges", [1, 2, 3, 5, 9])
def test_judges_who_prefer_whoever_is_shown_first_find_no_winner(judges: int) -> None:
    ballots = [ballot for place in range(judges) for ballot in both(f"j{place}", "a", "b")]
    verdict = reach(state_of_two, ballots)
    assert verdict
    assert (verdict.outcome, verdict.winner, verdict.flips) == ("too-close", None, judges)


def test_a_person_decides_with_one_ballot() -> None:
    verdict = reach(state_of_two, [cast("ann", 0, "b")], "ann")
    assert verdict
    assert (verdict.outcome, verdict.winner, verdict.flips) == ("win", "b", 0)


def test_people_and_models_count_the_same() -> None:
    ballots = [*both("owl", "a", "a"), cast("ann", 0, "b"), cast("bob", 0, "b")]
    verdict = reach(state_of_two, ballots, "ann", "bob")
    assert verdict
    assert (verdict.winner, verdict.agreement) == ("b", 0.5)
    split = reach(state_of_two, ballots[:3], "ann")
    assert split
    assert (split.outcome, split.winner) == ("too-close", None)


def test_people_need_not_give_points_and_their_words_stay_theirs() -> None:
    ballot = Ballot("ann", 0, "a", {}, "Birch is a tree; Cedar too.")
    verdict = reach(state_of_two, [ballot], "ann")
    assert verdict
    assert (verdict.scores, verdict.margin) == ({}, 0.0)
    assert verdict.reasoning == "Birch is a tree; Cedar too."


# --- on what it rests ---------------------------------------------------------------------------------


def test_a_verdict_rests_on_what_the_ballots_for_the_winner_rest_on() -> None:
    def resting(judge: str, winner: str, *turns: int) -> list[Ballot]:
        return [replace(ballot, cites=turns) for ballot in both(judge, winner, winner)]

    verdict = reach(state_of_two, [*resting("j", "a", 1), *resting("k", "b", 2), *resting("l", "a", 1, 3)])
    assert verdict
    assert verdict.cites == (1, 3)
    open_ = reach(state_of_two, [*resting("j", "a", 1), *resting("k", "b", 2)])
    assert open_
    assert open_.cites == (1, 2)


def test_the_reason_given_is_that_of_a_ballot_for_the_winner() -> None:
    ballots = [*both("j", "b", "b"), *both("k", "a", "a"), *both("l", "a", "a")]
    ballots = [replace(ballot, reasoning=f"So says {ballot.judge}.") for ballot in ballots]
    verdict = reach(state_of_two, ballots)
    assert verdict
    assert verdict.reasoning == "So says k."


def test_the_rubric_is_a_mean_and_weights_make_a_total_of_it() -> None:
    first, second = both("j", "a", "a")
    rows = [
        {"argument": {"a": 8.0, "b": 6.0}, "style": {"a": 1.0, "b": 9.0}},
        {"argument": {"a": 9.0, "b": 6.0}},
    ]
    ballots = [replace(first, rubric=rows[0]), replace(second, rubric=rows[1])]
    verdict = reach(state_of_two, ballots, argument=3.0)
    assert verdict
    assert verdict.rubric == {"argument": {"a": 8.5, "b": 6.0}, "style": {"a": 1.0, "b": 9.0}}
    assert verdict.totals == {"a": 7.6, "b": 6.4}
    assert verdict.winner == "a"
    plain = reach(state_of_two, ballots)
    assert plain
    assert plain.totals == {}


def test_who_had_the_last_word_is_recorded() -> None:
    verdict = reach(state_of_two, both("j", "a", "a"))
    assert verdict
    assert verdict.last_word == "b"


# --- four teams ---------------------------------------------------------------------------------------

FOUR: tuple[Side, ...] = ("for", "against", "for", "against")
table_of_four = debated(*"ABCD", seats=seats(*FOUR), format=deciding("ranking"))


def ranking(judge: str, *orders: str) -> list[Ballot]:
    scores = dict(zip("abcd", (PartyScore(70), PartyScore(75), PartyScore(65), PartyScore(60)), strict=True))
    return [Ballot(judge, n, order[0], scores, "", ranking=tuple(order)) for n, order in enumerate(orders)]


def test_the_places_of_four_teams_are_the_mean_over_judges_and_orders() -> None:
    ballots = [*ranking("j", "abcd", "abdc"), *ranking("k", "acbd", "abcd")]
    verdict = reach(table_of_four, ballots)
    assert verdict
    assert (verdict.outcome, verdict.winner, verdict.ranking) == ("win", "a", tuple("abcd"))
    assert ranking_points(table_of_four, ballots) == {"a": 3.0, "b": 1.75, "c": 1.0, "d": 0.25}


@pytest.mark.parametrize(
    "ballots",
    [ranking("j", "abcd", "bacd"), [*ranking("j", "abcd", "abcd"), *ranking("k", "bacd", "bacd")]],
)
def test_whoever_is_not_first_for_most_judges_in_both_orders_has_not_won(ballots: list[Ballot]) -> None:
    verdict = reach(table_of_four, ballots)
    assert verdict
    assert (verdict.outcome, verdict.winner) == ("too-close", None)
    assert verdict.ranking == ("b", "a", "c", "d"), "equal places are told apart by the score"


def test_the_winner_comes_first_even_where_another_has_the_better_places() -> None:
    ballots = [*ranking("j", "abcd", "abcd"), *ranking("k", "abcd", "abcd"), *ranking("l", "bcda", "bcda")]
    verdict = reach(table_of_four, ballots)
    assert verdict
    assert ranking_points(table_of_four, ballots)["b"] > ranking_points(table_of_four, ballots)["a"]
    assert (verdict.winner, verdict.ranking) == ("a", tuple("abcd"))


def test_a_person_who_names_only_a_winner_leaves_the_other_places_equal() -> None:
    verdict = reach(table_of_four, [Ballot("ann", 0, "d", {}, "")], "ann")
    assert verdict
    assert verdict.ranking == ("d", "a", "b", "c")


def test_two_parties_are_not_ranked() -> None:
    debate = debated("One.", "Two.", format=deciding("ranking"))
    verdict = reach(debate, both("j", "b", "b"))
    assert verdict
    assert (verdict.winner, verdict.ranking) == ("b", ())
