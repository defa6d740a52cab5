"""Who wins, and against whom; what is debated most."""

from __future__ import annotations

from collections.abc import AsyncIterator
from decimal import Decimal
from itertools import count

import msgspec
from msgspec.structs import replace

from moot.evolve import fold
from moot.terms import FREE, HUMAN, Model, Verdict
from moot.views.statistics import Custom, Standing, Topic, Totals, gathered, statistics
from moot.views.summary import Summary, summarize
from tests.golden.reading import log_of
from tests.views.logs import Log, seat

numbers = count(1)
OWL, CAT = "acme/owl", "acme/cat"
FOR_AND_AGAINST = ("for", "against")


def debate(
    *models: str, won: int | None = None, sides: tuple[str, ...] = FOR_AND_AGAINST, **changes: object
) -> Summary:
    """A debate that was judged: seat `won` won it, or nobody."""
    seats = tuple(f"Seat {place}" for place in range(len(models)))
    summary = Summary(
        id=f"deb_{next(numbers)}",
        motion="Cats are better than dogs",
        format="oxford",
        status="completed",
        seats=seats,
        models=models,
        round=2,
        rounds=2,
        turns=4,
        cost="0.25",
        winner=None if won is None else seats[won],
        outcome="draw" if won is None else "win",
        sides=sides,
        winner_model="" if won is None else models[won],
        winner_side="" if won is None else sides[won],
    )
    return replace(summary, **changes)


def test_nothing_at_all_is_counted_as_nothing() -> None:
    counted = statistics([])
    assert counted.totals == Totals(0, {}, 0, Decimal(0), 0)
    assert (counted.models, counted.sides, counted.formats, counted.topics) == ((), (), (), ())


def test_a_model_wins_and_loses_against_others() -> None:
    counted = statistics(
        [debate(OWL, CAT, won=0), debate(CAT, OWL, won=1), debate(OWL, CAT, won=1), debate(OWL, CAT)]
    )
    assert counted.models == (Standing(OWL, 4, 2, 1, 1, 0.5), Standing(CAT, 4, 1, 2, 1, 0.25))
    assert counted.sides == (
        Standing("against", 4, 2, 1, 1, 0.5),
        Standing("for", 4, 1, 2, 1, 0.25),
    )
    assert counted.formats == (Custom("oxford", 4, wins_for=1, wins_against=2, draws=1),)


def test_a_model_does_not_win_against_itself() -> None:
    counted = statistics([debate(OWL, OWL, won=0), debate(OWL, OWL)])
    assert counted.models == (Standing(OWL, 2, 0, 0, 0, None),)
    assert counted.sides == (Standing("for", 2, 1, 0, 1, 0.5), Standing("against", 2, 0, 1, 1, 0.0))


def test_whoever_argues_beside_the_winner_has_not_lost() -> None:
    counted = statistics([debate(OWL, CAT, "acme/dog", won=0, sides=("for", "for", "against"))])
    assert counted.models == (
        Standing(OWL, 1, 1, 0, 0, 1.0),
        Standing("acme/cat", 1, 0, 0, 0, None),
        Standing("acme/dog", 1, 0, 1, 0, 0.0),
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
    assert counted.topics == (Topic("Cats are better than dogs", 2),)


def test_the_same_motion_in_other_letters_is_the_same_topic() -> None:
    motions = ["Tea  is best", "TEA IS BEST", " tea is\nbest ", "Größe zählt", "GRÖSSE ZÄHLT"]
    counted = statistics([debate(OWL, CAT, motion=motion) for motion in motions])
    assert counted.topics == (Topic("Tea is best", 3), Topic("Größe zählt", 2))


def test_the_ten_topics_that_were_debated_most_are_told() -> None:
    told = statistics([debate(OWL, CAT, motion=f"Motion {i}") for i in range(30) for _ in range(i + 1)])
    assert [topic.debates for topic in told.topics] == list(range(30, 20, -1))


def test_the_totals_add_up() -> None:
    unknown = debate(OWL, CAT, cost="0", unpriced=True, turns=3)
    assert statistics([debate(OWL, CAT), unknown, debate(OWL, CAT)]).totals == Totals(
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
    counted = statistics([msgspec.convert(old, Summary)])
    assert counted.models == (Standing(CAT, 1, 1, 0, 0, 1.0), Standing(OWL, 1, 0, 1, 0, 0.0))
    assert counted.sides == ()
    assert counted.formats == (Custom("oxford", 1, 0, 0, 0),)


async def test_pages_are_counted_like_the_whole() -> None:
    summaries = [debate(OWL, CAT, won=i % 2) for i in range(1200)]

    async def pages() -> AsyncIterator[bytes]:
        for start in range(0, len(summaries), 500):
            yield msgspec.json.encode(summaries[start : start + 500])

    assert await gathered(pages()) == statistics(summaries)


def test_all_models_of_a_side_that_wins_together_have_won() -> None:
    sides = ("for", "for", "against", "against")
    counted = statistics([debate(OWL, CAT, "acme/dog", "acme/dog", won=0, sides=sides, winning=(0, 1))])
    assert counted.models == (
        Standing(CAT, 1, 1, 0, 0, 1.0),
        Standing(OWL, 1, 1, 0, 0, 1.0),
        Standing("acme/dog", 1, 0, 1, 0, 0.0),
    )


def test_a_model_on_both_sides_of_a_team_debate_neither_wins_nor_loses() -> None:
    sides = ("for", "for", "against", "moderator")
    counted = statistics([debate(OWL, CAT, OWL, CAT, won=0, sides=sides, winning=(0, 1))])
    assert counted.models == (Standing(CAT, 1, 1, 0, 0, 1.0), Standing(OWL, 1, 0, 0, 0, None))


def test_a_summary_names_all_who_won_together_and_no_person() -> None:
    four = tuple(
        replace(seat(side), id=f"{side}-{place}", name=f"{side.capitalize()} {place}")
        for place in (1, 2)
        for side in FOR_AND_AGAINST
    )
    person = replace(four[0], model=Model(HUMAN, "Ada", price=FREE))
    log = Log(seats=(person, *four[1:])).start().verdict(Verdict("win", "for-1", "hand"))
    found = summarize(log.debate)
    assert (found.winner, found.winning, found.winner_model) == ("For 1 and For 2", (0, 2), "human")
    assert found.models[0] == "human"
