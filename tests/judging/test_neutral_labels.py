"""The labels under which judges read: neutral, the same for a judging, and put back into names."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from moot.core.terms import DebateLimits, Judge, Side
from moot.judging.ballots import ballot_schema, ballot_text
from moot.judging.neutral_labels import LABELS, labels, with_names
from moot.rules.commands import JudgeAgain
from moot.testing.event_factories import SCRIPTED, opened, seats, table
from tests.judging.judged_debates import asked, debated, state_of_two
from tests.rules.simulate import Simulation, speak

# --- what a judge is sent -----------------------------------------------------------------------------


def test_the_seats_are_shown_both_ways_round_under_neutral_labels() -> None:
    debate = debated("One.", "Two.")
    assert labels(debate, 0) == {"a": "Birch", "b": "Cedar"}
    assert labels(debate, 1) == {"b": "Birch", "a": "Cedar"}


def test_four_seats_are_shown_both_ways_round() -> None:
    debate = debated("One.", "Two.", "Three.", "Four.", seats=seats("for", "against", "for", "against"))
    assert list(labels(debate, 0)) == ["a", "b", "c", "d"]
    assert list(labels(debate, 1)) == ["d", "c", "b", "a"]


# --- words back to people -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (0, "Seat 1 beat Seat 2; Seat 1's case held. Birches sway."),
        (1, "Seat 2 beat Seat 1; Seat 2's case held. Birches sway."),
    ],
)
def test_names_take_the_place_of_labels(order: int, expected: str) -> None:
    text = "Birch beat Cedar; Speaker Birch's case held. Birches sway."
    assert with_names(text, state_of_two, order) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "A Birch-bark canoe; birch; Birch_1; half-Birch.",
            "A Birch-bark canoe; birch; Birch_1; half-Birch.",
        ),
        ("Birch认为Cedar没有回答。", "Seat 1认为Seat 2没有回答。"),
        ("(Birch)–“Cedar”", "(Seat 1)–“Seat 2”"),
    ],
)
def test_only_a_label_that_is_a_word_of_its_own_gives_way_to_a_name(text: str, expected: str) -> None:
    assert with_names(text, state_of_two, 0) == expected


def test_labels_occur_nowhere_in_the_debate() -> None:
    first, second = seats("for", "against")
    debate = debated(
        "Cedar forests store more than BIRCH stands.",
        "Two rowans.",
        seats=(replace(first, name="Mr Maple"), second),
        motion="Should alders be felled?",
    )
    assert labels(debate, 0) == {"a": "Hazel", "b": "Aspen"}
    assert labels(debate, 1) == {"b": "Hazel", "a": "Aspen"}
    request = asked(debate)
    assert "S1. Hazel, opening:" in request.messages[0].content
    prose = "Cedar forests store more than Birch stands, as Hazel says."
    assert with_names(prose, debate, 0) == "Cedar forests store more than Birch stands, as Mr Maple says."


def test_there_are_labels_when_every_usual_one_is_taken() -> None:
    debate = debated(" ".join(LABELS), "Two.")
    chosen = list(labels(debate, 0).values())
    assert len(set(chosen)) == 2
    assert not set(chosen) & set(LABELS)
    assert {len(label) for label in (*chosen, *LABELS)} == {5}


def test_a_judging_keeps_its_labels_when_another_has_others() -> None:
    debate = Simulation(table("free", limits=DebateLimits(1, turns=2)), speak).start().run()
    (first, _) = debate.debate.judgings[0].ballots
    told = ballot_text(first.reasoning, debate.debate, first)
    debate.ask(JudgeAgain((Judge("other", "Other", SCRIPTED, criteria=("Birch and Cedar",)),)))
    debate.run()
    assert debate.debate.judgings[1].labels == ("Maple", "Rowan")
    again = debate.debate.judgings[1].ballots[0]
    assert ballot_text(first.reasoning, debate.debate, first) == told == "Seat 1 answered what Seat 2 said."
    assert ballot_text(again.reasoning, debate.debate, again) == told


def test_a_debate_of_the_first_version_keeps_the_usual_labels_and_the_words_of_its_criteria() -> None:
    debate = debated("Cedar forests.", "Two.", prompts=1, fence="")
    assert labels(debate, 0) == {"a": "Birch", "b": "Cedar"}
    assert "argument" in ballot_schema(debate, debate.judges[0])["properties"]["criteria"]["properties"]


def test_there_are_labels_for_the_largest_table() -> None:
    assert len(set(LABELS)) == len(LABELS) >= 8
    sides: tuple[Side, ...] = ("for", "against") * 4
    debate = Simulation(opened(seats=seats(*sides)), speak).debate
    assert len(labels(debate, 1)) == 8


# --- what people read of it ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("Birch won in S1.", "Seat 1 won in speech 1."),
        ("S2 answers S1.", "Speech 2 answers speech 1."),
        ("It rests on (S1, S2).", "It rests on (speech 1, speech 2)."),
        ("Speech S1 and speech S2.", "Speech 1 and speech 2."),
        ("No. S1 did.", "No. Speech 1 did."),
        ("S7 and S12 were never given, nor was XS1.", "S7 and S12 were never given, nor was XS1."),
        ("在S1中，Birch更好。", "在speech 1中，Seat 1更好。"),
    ],
)
def test_labels_and_numbers_become_names(written: str, told: str) -> None:
    assert with_names(written, debated("One.", "Two."), 0) == told


def test_a_number_that_the_speakers_use_themselves_stays() -> None:
    assert with_names("S1 is cheap.", debated("Amazon S1 is cheap.", "Two."), 0) == "S1 is cheap."
