"""Who wins, and against whom; what is debated most."""

from __future__ import annotations

from collections.abc import AsyncIterator
from decimal import Decimal

import msgspec

from moot.core.evolve import fold
from moot.judging.audience_votes import ConfidenceInterval
from moot.views.statistics import statistics, statistics_from_pages
from moot.views.statistics_tables import (
    DaySpending,
    DebateTotals,
    FormatRecord,
    JudgeRecord,
    ModelSpending,
    PairRecord,
    TopicCount,
    WinRecord,
    mean_interval,
    wilson_interval,
)
from moot.views.summary import ModelCharge, StoredSummary, summarize
from tests.golden.reading import log_of
from tests.views.summaries import CAT, OWL, debate


def stands(name: str, debates: int, wins: int, losses: int, draws: int, rate: float | None) -> WinRecord:
    """With the interval that belongs to it; a draw is half a win."""
    interval = wilson_interval(wins + draws / 2, wins + losses + draws)
    return WinRecord(name, debates, wins, losses, draws, rate, interval)


def test_nothing_at_all_is_counted_as_nothing() -> None:
    counted = statistics([])
    assert counted.totals == DebateTotals(0, {}, 0, Decimal(0), 0)
    assert (counted.models, counted.sides, counted.formats, counted.topics) == ((), (), (), ())


def test_a_model_wins_and_loses_against_others() -> None:
    counted = statistics(
        [debate(OWL, CAT, won=0), debate(CAT, OWL, won=1), debate(OWL, CAT, won=1), debate(OWL, CAT)]
    )
    assert counted.models == (stands(OWL, 4, 2, 1, 1, 0.625), stands(CAT, 4, 1, 2, 1, 0.375))
    assert counted.sides == (
        stands("against", 4, 2, 1, 1, 0.625),
        stands("for", 4, 1, 2, 1, 0.375),
    )
    assert counted.formats == (FormatRecord("oxford", 4, 1, 2, 1, 0.375, wilson_interval(1.5, 4)),)


def test_a_model_does_not_win_against_itself() -> None:
    counted = statistics([debate(OWL, OWL, won=0), debate(OWL, OWL)])
    assert counted.models == (stands(OWL, 2, 0, 0, 0, None),)
    assert counted.sides == (stands("for", 2, 1, 0, 1, 0.75), stands("against", 2, 0, 1, 1, 0.25))


def test_whoever_argues_beside_the_winner_has_not_lost() -> None:
    counted = statistics([debate(OWL, CAT, "acme/dog", won=0, sides=("for", "for", "against"))])
    assert counted.models == (
        stands(OWL, 1, 1, 0, 0, 1.0),
        stands("acme/cat", 1, 0, 0, 0, None),
        stands("acme/dog", 1, 0, 1, 0, 0.0),
    )


def test_a_moderator_takes_no_part_in_the_contest() -> None:
    counted = statistics([debate(OWL, OWL, CAT, won=0, sides=("for", "against", "moderator"))])
    assert [(standing.name, standing.wins) for standing in counted.models] == [(OWL, 0)]
    assert {standing.name for standing in counted.sides} == {"for", "against"}


def test_too_close_to_call_is_a_draw() -> None:
    counted = statistics([debate(OWL, CAT, outcome="too-close")])
    assert [standing.draws for standing in counted.models] == [1, 1]
    assert counted.formats[0].draws == 1


def test_a_debate_without_a_verdict_is_no_contest() -> None:
    counted = statistics([debate(OWL, CAT, outcome="", status="aborted"), debate(OWL, CAT, outcome="")])
    assert counted.totals.statuses == {"aborted": 1, "completed": 1}
    assert (counted.models, counted.sides, counted.formats) == ((), (), ())
    assert counted.topics == (TopicCount("Cats are better than dogs", 2),)


def test_the_same_motion_in_other_letters_is_the_same_topic() -> None:
    motions = ["Tea  is best", "TEA IS BEST", " tea is\nbest ", "Größe zählt", "GRÖSSE ZÄHLT"]
    counted = statistics([debate(OWL, CAT, motion=motion) for motion in motions])
    assert counted.topics == (TopicCount("Tea is best", 3), TopicCount("Größe zählt", 2))


def test_the_ten_topics_that_were_debated_most_are_told() -> None:
    told = statistics([debate(OWL, CAT, motion=f"Motion {i}") for i in range(30) for _ in range(i + 1)])
    assert [topic.debates for topic in told.topics] == list(range(30, 20, -1))


def test_the_totals_add_up() -> None:
    unknown = debate(OWL, CAT, cost="0", unpriced=True, turns=3)
    assert statistics([debate(OWL, CAT), unknown, debate(OWL, CAT)]).totals == DebateTotals(
        3, {"completed": 3}, speeches=11, cost=Decimal("0.50"), unpriced=1
    )


def test_a_real_debate_tells_what_statistics_need() -> None:
    state = fold(log_of("lincoln-douglas-teams"))
    assert state
    summary = summarize(state)
    assert summary.sides == tuple(seat.side for seat in state.seats)
    assert (summary.winner_side, summary.winner_model) == ("for", "scripted/parrot")
    panel = fold(log_of("panel"))
    assert panel
    assert summarize(panel).sides == ("for", "against", "moderator")


def test_what_an_older_version_wrote_is_counted_as_far_as_it_goes() -> None:
    old = msgspec.to_builtins(debate(OWL, CAT, won=1))
    for later in ("sides", "winnerModel", "winnerSide"):
        del old[later]
    counted = statistics([msgspec.convert(old, StoredSummary)])
    assert counted.models == (stands(CAT, 1, 1, 0, 0, 1.0), stands(OWL, 1, 0, 1, 0, 0.0))
    assert counted.sides == ()
    assert counted.formats == (FormatRecord("oxford", 1, 0, 0, 0, None, None),)


async def test_pages_are_counted_like_the_whole() -> None:
    summaries = [debate(OWL, CAT, won=i % 2) for i in range(1200)]

    async def pages() -> AsyncIterator[bytes]:
        for start in range(0, len(summaries), 500):
            yield msgspec.json.encode(summaries[start : start + 500])

    assert await statistics_from_pages(pages()) == statistics(summaries)


def test_all_models_of_a_side_that_wins_together_have_won() -> None:
    sides = ("for", "for", "against", "against")
    counted = statistics([debate(OWL, CAT, "acme/dog", "acme/dog", won=0, sides=sides, winning=(0, 1))])
    assert counted.models == (
        stands(CAT, 1, 1, 0, 0, 1.0),
        stands(OWL, 1, 1, 0, 0, 1.0),
        stands("acme/dog", 1, 0, 1, 0, 0.0),
    )


def test_a_model_on_both_sides_of_a_team_debate_neither_wins_nor_loses() -> None:
    sides = ("for", "for", "against", "moderator")
    counted = statistics([debate(OWL, CAT, OWL, CAT, won=0, sides=sides, winning=(0, 1))])
    assert counted.models == (stands(CAT, 1, 1, 0, 0, 1.0), stands(OWL, 1, 0, 0, 0, None))


# --- how far the figures can be trusted ---------------------------------------------------------------


def test_a_few_debates_leave_everything_open_and_many_do_not() -> None:
    assert wilson_interval(0, 0) is None
    assert wilson_interval(1, 1) == ConfidenceInterval(0.207, 1.0)
    assert wilson_interval(0, 10) == ConfidenceInterval(0.0, 0.278)
    assert wilson_interval(5, 10) == ConfidenceInterval(0.237, 0.763)
    assert wilson_interval(500, 1000) == ConfidenceInterval(0.469, 0.531)


def test_the_interval_of_a_mean_needs_two() -> None:
    assert mean_interval(0.5, 0.25, 1) is None
    assert mean_interval(2.0, 2.0, 2) == ConfidenceInterval(1.0, 1.0)
    assert mean_interval(1.5, 1.25, 2) == ConfidenceInterval(0.26, 1.0)


def test_two_models_that_argue_against_each_other_are_a_pair() -> None:
    counted = statistics(
        [debate(OWL, CAT, won=1), debate(CAT, OWL, won=0), debate(OWL, CAT), debate(OWL, OWL, won=0)]
    )
    assert counted.pairs == (
        PairRecord(CAT, OWL, 3, 2, 0, 1, 0.833, wilson_interval(2.5, 3), 0.167, wilson_interval(0.5, 3)),
    )


def test_whoever_argues_side_by_side_or_loses_to_a_third_has_not_met() -> None:
    dog = "acme/dog"
    beside = debate(OWL, CAT, dog, won=2, sides=("for", "for", "against"))
    assert [(pair.a, pair.b, pair.wins_a) for pair in statistics([beside]).pairs] == [
        (dog, CAT, 1),
        (dog, OWL, 1),
    ]
    both = debate(OWL, CAT, OWL, dog, won=0, sides=("for", "for", "against", "moderator"), winning=(0, 1))
    assert statistics([both]).pairs == ()
    table = debate(OWL, CAT, dog, won=0, sides=("neutral",) * 3)
    assert [(pair.a, pair.b) for pair in statistics([table]).pairs] == [(OWL, CAT), (OWL, dog)]


def test_the_order_sways_some_judges_and_panels_agree_or_not() -> None:
    alone = debate(OWL, CAT, won=0, minds=1, agreement=1.0)
    swayed = debate(OWL, CAT, outcome="too-close", minds=1, flips=1, agreement=0.5)
    panel = debate(OWL, CAT, won=0, minds=3, agreement=1.0)
    split = debate(OWL, CAT, won=0, minds=3, flips=1, agreement=0.8)
    counted = statistics([alone, swayed, panel, split, debate(OWL, CAT, won=0)]).judges
    assert (counted.debates, counted.judges, counted.flips, counted.flip_rate) == (4, 8, 2, 0.25)
    assert (counted.panels, counted.unanimous, counted.unanimous_rate) == (2, 1, 0.5)
    assert counted.agreement == 0.933
    assert counted.interval == ConfidenceInterval(0.803, 1.0)
    assert statistics([swayed]).judges.agreement is None
    assert statistics([]).judges == JudgeRecord(0, 0, 0, None, None, 0, 0, None, None, None, None)


def test_costs_add_up_by_model_and_by_day() -> None:
    priced = (ModelCharge(OWL, 1000, "0.20"), ModelCharge(CAT, 500))
    counted = statistics(
        [
            debate(OWL, CAT, bills=priced, day="2026-03-02"),
            debate(OWL, CAT, bills=priced, day="2026-03-01"),
            debate(OWL, CAT, day="2026-03-02"),
        ]
    )
    assert counted.costs == (ModelSpending(OWL, Decimal("0.40"), 2000, 2), ModelSpending(CAT, None, 1000, 2))
    assert counted.days == (
        DaySpending("2026-03-01", 1, Decimal("0.25")),
        DaySpending("2026-03-02", 2, Decimal("0.50")),
    )
