"""The summary of a debate, which lists and statistics read."""

from __future__ import annotations

from msgspec.structs import replace

from moot.core.evolve import fold
from moot.core.terms import FREE, HUMAN, DebateVerdict, Model
from moot.views.summary import summarize
from tests.golden.reading import log_of
from tests.views.logs import Log, seat
from tests.views.summaries import FOR_AND_AGAINST, OWL, debate


def test_a_summary_names_all_who_won_together_and_no_person() -> None:
    four = tuple(
        replace(seat(side), id=f"{side}-{place}", name=f"{side.capitalize()} {place}")
        for place in (1, 2)
        for side in FOR_AND_AGAINST
    )
    person = replace(four[0], model=Model(HUMAN, "Ada", price=FREE))
    log = Log(seats=(person, *four[1:])).start().verdict(DebateVerdict("win", "for-1", "hand"))
    found = summarize(log.debate)
    assert (found.winner, found.winning, found.winner_model) == ("For 1 and For 2", (0, 2), "human")
    assert found.models[0] == "human"


def test_a_summary_tells_who_speaks_when_who_judges_and_how_it_came_out() -> None:
    state = fold(log_of("judged-again"))
    assert state
    found = summarize(state)
    assert (found.strip, found.given) == ((0, 1), 2)
    assert (found.minds, found.flips, found.agreement, found.headline) == (1, 0, 1.0, "Seat 1 wins")
    assert found.judges == ("scripted/parrot", "acme/magpie")
    assert [bill.model for bill in found.bills] == sorted(state.tallies)
    assert found.day == f"{state.created_at:%Y-%m-%d}"
    stopped, halves = fold(log_of("stopped")), fold(log_of("british-parliamentary"))
    assert stopped
    assert halves
    assert (summarize(stopped).given, len(summarize(stopped).strip)) == (4, 10)
    assert len(summarize(halves).strip) == 8


def test_a_debate_is_found_by_the_models_in_it_by_label_and_by_name() -> None:
    found = debate("openrouter/openai/gpt-oss-120b", HUMAN, judges=(OWL,))
    assert found.model_names() == ("openrouter/openai/gpt-oss-120b", HUMAN, OWL, "openai/gpt-oss-120b", "owl")
