"""The two readings of a judge: what the second has in another order, and that nothing is lost or added."""

from __future__ import annotations

import re
from typing import Any

from msgspec.structs import replace

from moot import formats
from moot.core.state import Debate, Turn
from moot.core.terms import DebateLimits, DebateSetup, Request
from moot.judging.judge_request import judge_request
from moot.judging.judged_speeches import answerable_questions, speeches
from moot.judging.neutral_labels import labels
from moot.judging.parties import parties, party
from moot.judging.readings import read_first, reading
from moot.rules.commands import AddRemark
from moot.testing.event_factories import opened, seats, table
from tests.rules.random_debates import law, plots
from tests.rules.simulate import Simulation, speak
from tests.rules.simulate import speeches as spoken

BY_SIDE = DebateSetup(reading="by-side")


def held(*texts: str, **changes: Any) -> Debate:
    opening = replace(table("free", limits=DebateLimits(1, turns=len(texts))), **changes)
    return Simulation(opening, spoken(*texts)).start().run_until(lambda d: d.status == "judging").debate


def numbers(debate: Debate, order: int) -> list[int]:
    return [item.number for item in reading(debate, order) if isinstance(item, Turn)]


def read_texts(request: Request) -> list[str]:
    """The speeches and questions in the order in which they stand, without the secret of the fence."""
    speeches_part = request.messages[0].content.partition("The debate:")[2]
    return re.findall(r"(?s)<quote-\w+>\n(.*?)\n</quote-\w+>", speeches_part)


# --- laws ---------------------------------------------------------------------------------------------


@law(plots())
def test_the_second_reading_has_the_same_evidence_as_the_first(simulation: Simulation) -> None:
    for state in simulation.states[:: max(1, len(simulation.states) // 20)]:
        evidence = sorted((*speeches(state), *answerable_questions(state)), key=lambda item: item.seq)
        for order in (0, 1):
            assert sorted(reading(state, order), key=lambda item: item.seq) == evidence


@law(plots())
def test_both_requests_have_the_same_texts(simulation: Simulation) -> None:
    debate = simulation.debate
    for judge in debate.judges:
        first, second = (judge_request(debate, judge, order) for order in (0, 1))
        assert sorted(read_texts(first)) == sorted(read_texts(second))
        assert len(first.messages[0].content) == len(second.messages[0].content)


@law(plots())
def test_by_side_each_party_is_read_at_a_stretch_and_by_time(simulation: Simulation) -> None:
    setup = replace(simulation.debate.setup, reading="by-side")
    debate = replace(simulation.debate, setup=setup)
    for order in (0, 1):
        turns = [item for item in reading(debate, order) if isinstance(item, Turn)]
        met = list(dict.fromkeys(party(debate, turn.seat).id for turn in turns))
        own = [[turn for turn in turns if party(debate, turn.seat).id == one] for one in met]
        assert turns == [turn for block in own for turn in block]
        assert all(block == sorted(block, key=lambda turn: turn.seq) for block in own)
        listed = [one.id for one in parties(debate) if one.id in met]
        assert met == (listed[::-1] if order else listed)


# --- read by time -------------------------------------------------------------------------------------


def test_read_by_time_the_speeches_keep_their_order_and_only_labels_are_swapped() -> None:
    debate = held("One.", "Two.", "Three.", "Four.")
    assert numbers(debate, 0) == numbers(debate, 1) == [1, 2, 3, 4]
    assert labels(debate, 0) != labels(debate, 1)
    assert read_first(debate, 0) == read_first(debate, 1) == "a"


def test_speeches_that_were_given_at_the_same_time_change_places() -> None:
    debate = held_blind()
    assert (numbers(debate, 0)[:3], numbers(debate, 1)[:3]) == ([1, 2, 3], [2, 1, 3])
    assert (read_first(debate, 0), read_first(debate, 1)) == ("a", "b")
    texts = [judge_request(debate, debate.judges[0], order).messages[0].content for order in (0, 1)]
    assert "S2. Cedar, opening (given at the same time as S1):" in texts[0]
    assert "S1. Cedar, opening (given at the same time as S2):" in texts[1]


def test_debates_of_the_first_prompts_are_read_as_they_always_were() -> None:
    debate = replace(held_blind(), prompts=1)
    assert numbers(debate, 0) == numbers(debate, 1)


def held_blind() -> Debate:
    fmt = formats.load("lincoln-douglas")
    blind = formats.fit_format(fmt, seats("for", "against"), DebateSetup(blind=True))
    opening = opened(format=blind, seats=seats("for", "against"), limits=DebateLimits(1), prompts=2)
    return Simulation(opening, speak).start().run_until(lambda d: d.status == "judging").debate


# --- read by side -------------------------------------------------------------------------------------


def test_by_side_the_second_reading_begins_with_the_other_side() -> None:
    debate = held("One.", "Two.", "Three.", "Four.", setup=BY_SIDE)
    assert (numbers(debate, 0), numbers(debate, 1)) == ([1, 3, 2, 4], [2, 4, 1, 3])
    assert (read_first(debate, 0), read_first(debate, 1)) == ("a", "b")
    texts = [read_texts(judge_request(debate, debate.judges[0], order)) for order in (0, 1)]
    assert texts == [["One.", "Three.", "Two.", "Four."], ["Two.", "Four.", "One.", "Three."]]


def test_by_side_a_judge_is_told_what_the_numbers_mean() -> None:
    told = judge_request(held("One.", "Two.", setup=BY_SIDE), held("One.").judges[0], 1).messages[0].content
    assert "The speeches of each side stand together." in told
    assert "stand together" not in judge_request(held("One."), held("One.").judges[0], 1).messages[0].content


def test_with_three_parties_the_second_reading_has_them_in_reverse() -> None:
    seated = seats("for", "against", "neutral")
    debate = held("One.", "Two.", "Three.", "Four.", setup=BY_SIDE, seats=seated)
    assert (numbers(debate, 0), numbers(debate, 1)) == ([1, 4, 2, 3], [3, 2, 1, 4])


def test_by_side_a_question_stands_before_the_speech_of_whom_it_asked() -> None:
    opening = replace(table("free", limits=DebateLimits(1, turns=4)), setup=BY_SIDE)
    simulation = Simulation(opening, spoken("One.", "Two.", "Three.", "Four.")).start()
    simulation.run_until(lambda d: len(d.turns) == 1)
    simulation.ask(AddRemark("What does it cost?", by="Ann", to="a", question=True))
    debate = simulation.run_until(lambda d: d.status == "judging").debate
    texts = read_texts(judge_request(debate, debate.judges[0], 0))
    assert texts.index("What does it cost?") == texts.index("Three.") - 1
