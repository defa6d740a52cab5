"""When a debate ends before its schedule does, and when it does not."""

from __future__ import annotations

import pytest

from moot.debate import Debate
from moot.events import ConcessionMade
from moot.formats.endings import THRESHOLD, concession, stalemate
from moot.terms import Limits, Manner, Winning
from tests.core.simulate import Reply, Simulation, in_turn, speeches, words
from tests.factories import table

SAME = "We have been over this ground before, and I say so again."
NEARLY = "We have been over this ground before, and I say so again!!"


def said(*texts: str, format: str = "free", winning: Winning = "ai-judge") -> Debate:
    """A debate in which these speeches were given, and nothing was made of them yet."""
    opening = table(format, limits=Limits(9, turns=20), manner=Manner(winning=winning))
    simulation = Simulation(opening, speeches(*texts)).start()
    return simulation.run_until(lambda d: len(d.turns) == len(texts)).debate


# --- stalemate ----------------------------------------------------------------------------------------


def test_three_speeches_alike_in_a_row_are_a_stalemate() -> None:
    found = stalemate(said(SAME, NEARLY, SAME))
    assert found
    assert found.threshold == THRESHOLD
    assert [(pair.turn, pair.other) for pair in found.evidence] == [(2, 1), (3, 2)]


def test_the_evidence_says_what_was_compared_and_how() -> None:
    found = stalemate(said(words(1), SAME, NEARLY, SAME))
    assert found
    pair = found.evidence[0]
    assert (pair.scorer, pair.text, pair.other_text) == ("rapidfuzz.fuzz.ratio", NEARLY, SAME)
    assert 90 < pair.ratio < 100


def test_two_speakers_who_each_repeat_themselves_are_in_a_stalemate() -> None:
    found = stalemate(said(SAME, words(1), NEARLY, words(1), SAME))
    assert found
    assert [(pair.turn, pair.other) for pair in found.evidence] == [(3, 1), (4, 2), (5, 3)]


@pytest.mark.parametrize(
    "texts",
    [
        (),
        (SAME, SAME),
        (SAME, SAME, words(1)),
        (SAME, SAME, words(1), SAME, SAME),
        (SAME, words(1), SAME, words(1)),
        (SAME, words(1), SAME, words(2), SAME),
        (words(1), words(2), words(3), words(4)),
    ],
)
def test_less_than_that_is_none(texts: tuple[str, ...]) -> None:
    assert stalemate(said(*texts)) is None


def test_a_likeness_of_ninety_is_not_more_than_ninety() -> None:
    ten = "abcdefghij"
    other = "abcdefghiX"
    assert stalemate(said(ten, other, ten)) is None


def test_a_scripted_format_never_ends_in_a_stalemate() -> None:
    assert stalemate(said(SAME, SAME, SAME, SAME, SAME, format="lincoln-douglas")) is None


@pytest.mark.parametrize("format", ["free", "oxford", "roundtable", "panel"])
def test_every_other_format_may(format: str) -> None:
    assert stalemate(said(SAME, SAME, SAME, format=format))


def test_a_speech_that_came_to_nothing_does_not_stand_between() -> None:
    silent = Reply(fault="empty", severity="unusable")
    script = in_turn([Reply(SAME), silent, silent, Reply(SAME), Reply(SAME)])
    debate = Simulation(table("free"), script).start().run()
    assert debate.debate.ended == "stalemate"


# --- concession ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", ["[I concede]", "[i CONCEDE]", "  [I concede]  \n"])
def test_a_line_of_its_own_at_the_end_concedes(line: str) -> None:
    debate = said("I say so.", f"You have persuaded me.\n{line}", winning="self-terminate")
    assert concession(debate) == ConcessionMade(2, "b", line.strip())


@pytest.mark.parametrize(
    "text",
    [
        "I concede the point, but not the debate.",
        "You are right, I agree.",
        "[I concede] that this is hard.",
        "As they said: [I concede]",
        "[I concede]\nNo, wait.",
    ],
)
def test_words_of_agreement_concede_nothing(text: str) -> None:
    assert concession(said("I say so.", text, winning="self-terminate")) is None


def test_nobody_concedes_where_the_debate_does_not_end_by_it() -> None:
    assert concession(said("One.", "Two.\n[I concede]")) is None


def test_nobody_concedes_in_a_scripted_format() -> None:
    assert concession(said("One.\n[I concede]", format="lincoln-douglas", winning="self-terminate")) is None


def test_only_the_last_speech_can_concede() -> None:
    debate = said("One.", "Two.", winning="self-terminate")
    assert concession(debate) is None
    assert concession(said(winning="self-terminate")) is None
