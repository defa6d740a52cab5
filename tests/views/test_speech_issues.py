"""A crash counts against the turn during which it happened, and against no other."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from moot.core.state import Debate
from moot.core.terms import DebateLimits, Seat, Side
from moot.rules.commands import Retry
from moot.testing.event_factories import SCRIPTED, seats, table
from moot.views.speech_issues import (
    ISSUE_WORDS,
    KINDS,
    find_issues,
    speaks_for_another,
    without_quotes,
    wrong_side,
)
from tests.rules.simulate import Reply, Simulation, in_turn, words


def held(*replies: Reply, **changes: Any) -> Simulation:
    opening = replace(table("free", limits=DebateLimits(2, turns=max(2, len(replies)))), **changes)
    return Simulation(opening, in_turn(replies)).start().run()


def saying(text: str, place: int = 0) -> Debate:
    """A debate in which a seat says this and the other nothing of note."""
    texts = [words(1), words(2)]
    texts[place] = text
    return held(*map(Reply, texts)).debate


def test_a_debate_without_accidents_has_none() -> None:
    found = find_issues(saying("Trees give shade."))
    assert (found.by_seat, found.by_kind, found.count) == ({}, {}, 0)


def test_what_the_log_knows_is_counted_by_seat_with_its_turns() -> None:
    busy = Reply(fault="overloaded")
    debate = held(
        Reply("I would rather not.", finish="refusal"),
        Reply("And so on and", finish="length"),
        busy,
        Reply(words(3), degraded="chain,mended"),
        Reply("word " * 400),
    ).debate
    found = find_issues(debate)
    assert found.by_seat == {
        "a": {"refusal": (1,), "retry": (3,), "degraded_chain": (3,)},
        "b": {"truncation": (2,), "over_length": (4,)},
    }
    assert found.count == 5


def test_a_speech_without_a_word_is_blank_and_a_struck_one_was_asked_for_again() -> None:
    silent = Reply(fault="empty", severity="unusable")
    debate = held(Reply(words(1)), *[silent] * 4, Reply(words(2)))
    assert find_issues(debate.debate).by_seat["b"]["blank"] == (2,)
    no_key = Reply(fault="bad_key", severity="permanent", billed=False)
    stopped = held(no_key, Reply(words(1)))
    stopped.ask(Retry())
    assert find_issues(stopped.run().debate).by_seat["a"] == {"retry": (1,)}


def test_every_kind_has_words() -> None:
    assert set(ISSUE_WORDS) == set(KINDS)


# --- think tags ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["So, </think> trees give shade.", "<thinking>Hm.</thinking> Yes.", "[THINK]Hm", "<|channel|>final"],
)
def test_thoughts_left_in_a_speech_are_found(text: str) -> None:
    assert find_issues(saying(text)).by_kind == {"think_tag": (1,)}


@pytest.mark.parametrize(
    "text", ["I think trees matter.", "Models write `<think>` first.", 'The tag "</think>" ends it.']
)
def test_talk_of_thinking_leaves_no_tag(text: str) -> None:
    assert find_issues(saying(text)).count == 0


# --- the wrong side -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("side", "text"),
    [
        ("for", "Ladies and gentlemen, I oppose the motion."),
        ("for", "Trees are costly. I therefore reject this resolution."),
        ("for", "We are firmly against the motion, and here is the reason."),
        ("for", "I urge you to vote against this motion."),
        ("for", "Today we speak for the opposition."),
        ("against", "I strongly support the motion."),
        ("against", "We stand in favour of this motion; shade is a right."),
        ("against", "I ask the house to carry the motion."),
        ("against", "I'm here in support of the resolution."),
    ],
)
def test_who_declares_for_the_other_side_is_on_the_wrong_one(side: Side, text: str) -> None:
    (seat,) = seats(side)
    assert wrong_side(seat, without_quotes(text))
    (own,) = seats("against" if side == "for" else "for")
    assert not wrong_side(own, without_quotes(text))


@pytest.mark.parametrize(
    "text",
    [
        "If I oppose the motion, who plants the trees?",
        "We reject this motion at our peril.",
        "If we reject the motion, the town stays grey.",
        "My opponent says: I oppose the motion.",
        'They will tell you "I oppose the motion", and give no reason.',
        "“I oppose the motion,” they say, and smile.",
        "> I oppose the motion.\nThat is no argument.",
        "I do not oppose the motion, I carry it.",
        "Why would I reject the motion?",
        "Should I oppose the motion?",
        "I oppose the motion, my opponent says, as if it were a song.",
        "I once was asked whether I reject the motion.",
        "I reject the motion's critics.",
        "I reject the claim that trees are costly.",
        "I grant that shade is not everything, and that they are right on the price.",
        "I oppose the motion to adjourn? Never: I support the motion.",
        "I am against the tide, for the motion.",
    ],
)
def test_what_only_sounds_like_the_other_side_is_not(text: str) -> None:
    (seat,) = seats("for")
    assert not wrong_side(seat, without_quotes(text))


def test_a_voice_bound_to_neither_side_and_a_moderator_have_no_wrong_one() -> None:
    (neutral,) = seats("neutral")
    moderator = Seat("m", "Mo", "for", SCRIPTED, role="moderator")
    assert not wrong_side(neutral, "I oppose the motion.")
    assert not wrong_side(moderator, "I oppose the motion.")


# --- speaking for another -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "Seat 2: I disagree with my friend here.",
        "**Against:** I think trees are costly.",
        "Trees give shade.\n\nSeat 2: I disagree.\n\nSeat 1: And yet they do.",
        "Opponent: I say they are costly.\nSo they say.\nOpponent: And I say it again.",
        "Trees give shade.\nModerator:\nThank you, I now give the floor to the other side.\nFor: Thank you.",
    ],
)
def test_a_dialogue_with_oneself_speaks_for_another(text: str) -> None:
    debate = saying(text)
    assert speaks_for_another(debate.seats, debate.seat("a"), without_quotes(text))
    assert find_issues(debate).by_seat["a"]["speaking_for_another"] == (1,)


@pytest.mark.parametrize(
    "text",
    [
        "Seat 1: I say trees give shade.",
        "For: I say trees give shade.",
        "Trees give shade.\nAgainst: the cost, which I will come to.",
        "Costs: I have three remarks.",
        "Seat 2 said that I was wrong: I was not.",
        "On cost: they have no figures. On shade: I have.",
        'Seat 2: "I disagree." That was all.',
        "> Seat 2: I disagree.\n> Seat 1: I do not.\nSo it went.",
        "Opposition: higher taxes. Proposition: cooler streets.",
        "My answer to Seat 2: I have planted trees myself.",
    ],
)
def test_naming_or_quoting_another_is_not_speaking_for_them(text: str) -> None:
    debate = saying(text)
    assert not speaks_for_another(debate.seats, debate.seat("a"), without_quotes(text))
    assert find_issues(debate).count == 0
