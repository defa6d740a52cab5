"""When a debate ends before its schedule does, and when it does not."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from moot import formats
from moot.core.choices import WinningRule
from moot.core.events import ConcessionMade, TurnSkipped
from moot.core.state import Debate
from moot.core.terms import FREE, HUMAN, DebateLimits, DebateSetup, Judge, Model, PollSettings
from moot.rules.commands import NextRound, PauseDebate, Stop
from moot.rules.participation import GiveSpeech
from moot.rules.plan import SIMILARITY_THRESHOLD, Conclude, Speak, concession, plan, stalemate
from moot.testing.event_factories import SCRIPTED, seats, table
from tests.rules.simulate import Hand, Reply, Script, Sent, Simulation, aside, in_turn, speak, speeches, words

SAME = "We have been over this ground before, and I say so again."
NEARLY = "We have been over this ground before, and I say so again!!"


def said(*texts: str, format: str = "free", winning: WinningRule = "ai-judge") -> Debate:
    """A debate in which these speeches were given, and nothing was made of them yet."""
    opening = table(format, limits=DebateLimits(9, turns=20), setup=DebateSetup(winning=winning))
    simulation = Simulation(opening, speeches(*texts)).start()
    return simulation.run_until(lambda d: len(d.turns) == len(texts)).debate


# --- stalemate ----------------------------------------------------------------------------------------


def test_three_speeches_alike_in_a_row_are_a_stalemate() -> None:
    found = stalemate(said(SAME, NEARLY, SAME))
    assert found
    assert found.threshold == SIMILARITY_THRESHOLD
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


def answered(*texts: str, script: Script = speak, hand: Hand | None = None, **changes: Any) -> Debate:
    """A debate that may end by concession, once these speeches were given and all was asked about them."""
    setup = DebateSetup(winning="self-terminate")
    opening = replace(table("free", limits=DebateLimits(9, turns=20), setup=setup), **changes)
    simulation = Simulation(opening, speeches(*texts, then=script), hand=hand).start()
    given = simulation.run_until(lambda d: len(d.turns) == len(texts))
    while not isinstance(plan(given.debate), Speak | Conclude):
        given.step()
    return given.debate


def saying(**answers: bool) -> Script:
    """Answers these questions aside so."""

    def script(sent: Sent) -> Reply:
        asked = sent.debate.aside(sent.purpose.aside or 0)
        return Reply(aside(sent, answers.get(asked.kind, True))) if asked else speak(sent)

    return script


@pytest.mark.parametrize("line", ["[I concede]", "[i CONCEDE]", "  [I concede]  \n"])
def test_who_gives_way_concedes_where_the_referee_finds_it(line: str) -> None:
    debate = answered("I say so.", f"You have persuaded me.\n{line}")
    assert [(asked.kind, asked.seat, asked.judge) for asked in debate.asides] == [
        ("concession", "b", None),
        ("referee", None, "judge"),
    ]
    assert concession(debate) == ConcessionMade(2, "b", line.strip(), line.strip())


@pytest.mark.parametrize(
    "setup",
    [
        DebateSetup(winning="ai-judge"),
        DebateSetup(winning="user-decides"),
        DebateSetup(winning="audience", polls=PollSettings(before=False)),
    ],
)
@pytest.mark.parametrize("words_", ["I agree, I concede the debate.", "I agree with you.", "You're right!"])
def test_a_free_debate_ends_by_concession_under_every_winning_condition(
    setup: DebateSetup, words_: str
) -> None:
    debate = answered("I say so.", words_, setup=setup)
    assert [asked.kind for asked in debate.asides] == ["concession", "referee"]
    ended = Simulation(table("free", setup=setup), speeches("I say so.", words_)).start().run().debate
    assert ended.verdict
    assert (ended.ended, ended.verdict.by, ended.verdict.winner) == ("concession", "concession", "a")


@pytest.mark.parametrize("format", ["oxford", "roundtable", "lincoln-douglas"])
def test_other_formats_end_by_concession_only_where_it_was_asked_for(format: str) -> None:
    texts = ("I say so.", "I agree, I concede the debate.")
    debate = Simulation(table(format), speeches(*texts)).start().run().debate
    assert not debate.asides
    assert debate.ended == "rounds"


@pytest.mark.parametrize("words_", ["You are right that it costs.", "I agree with you that trees are tall."])
def test_courtesy_is_not_asked_about(words_: str) -> None:
    assert not answered("I say so.", words_).asides


def test_words_that_sound_like_it_are_only_a_reason_to_ask() -> None:
    text = "Well. I must concede that your point about cost is fair. But trees are tall."
    debate = answered("I say so.", text, script=saying(concession=False))
    assert [asked.kind for asked in debate.asides] == ["concession"]
    assert debate.asides[0].about == "I must concede that your point about cost is fair."
    assert concession(debate) is None


def test_a_referee_who_finds_nothing_keeps_the_debate_going() -> None:
    debate = answered("I say so.", "I concede the point.", script=saying(referee=False))
    assert [asked.kind for asked in debate.asides] == ["concession", "referee"]
    assert concession(debate) is None


def test_a_referee_must_quote_the_speech() -> None:
    def script(sent: Sent) -> Reply:
        asked = sent.debate.aside(sent.purpose.aside or 0)
        made_up = asked is not None and asked.kind == "referee"
        return Reply(aside(sent, text="I give up, you win." if made_up else "")) if asked else speak(sent)

    assert concession(answered("I say so.", "I concede the point.", script=script)) is None


def test_no_answer_is_no_concession() -> None:
    silent = Reply(fault="bad_key", severity="permanent")
    debate = answered("One.", "Two.\n[I concede]", script=lambda sent: silent)
    assert [(asked.kind, asked.state) for asked in debate.asides] == [("concession", "failed")]
    assert concession(debate) is None
    assert debate.running


def test_without_a_judge_the_debaters_own_model_is_asked_as_referee() -> None:
    debate = answered("One.", "Two.\n[I concede]", judges=())
    assert [(asked.kind, asked.seat) for asked in debate.asides] == [("concession", "b"), ("referee", "b")]
    assert concession(debate)


@pytest.mark.parametrize(
    "text",
    [
        "I agree.",
        "You're right.",
        "You’re right.",
        "I yield. You win.",
        "Trees are tall.\n\n**I agree.**",
        "You are right, I agree.",
        "Okay, I give up",
        "I concur.",
        "My opponent has convinced me.",
    ],
)
def test_a_sentence_of_nothing_but_agreement_is_asked_about(text: str) -> None:
    debate = answered("I say so.", text)
    assert [asked.kind for asked in debate.asides] == ["concession", "referee"]
    assert debate.asides[0].about in text
    assert concession(debate)


@pytest.mark.parametrize(
    "text",
    [
        "I agree with my opponent that it costs, but trees are tall.",
        "I agree. But trees are tall.",
        "You have convinced me of one thing: trees are tall.",
        "If you win. that is luck.",
        "My opponent wrote: I agree.",
        "I yield the rest of my time.",
        "They conceded nothing, nor do I.",
    ],
)
def test_courtesy_within_a_speech_is_not_even_asked_about(text: str) -> None:
    debate = answered("I say so.", text)
    assert not debate.asides
    assert concession(debate) is None


def test_nobody_concedes_in_a_scripted_format() -> None:
    fmt = formats.load("lincoln-douglas")
    assert not answered("One.\n[I concede]", format=fmt, limits=DebateLimits(fmt.rounds)).asides


def test_nobody_concedes_where_several_could_win() -> None:
    assert not answered("One.\n[I concede]", seats=seats("neutral", "neutral", "neutral")).asides


def test_a_model_too_small_to_be_asked_does_not_concede() -> None:
    small = seats("for", "against", model=replace(SCRIPTED, small=True))
    assert not answered("I concede. " * 4, seats=small).asides


def conceding(*, judges: tuple[Judge, ...]) -> Debate:
    """A person gives way in the second speech."""
    person = replace(seats("for", "against")[1], model=Model(HUMAN, "ada", price=FREE))
    opening = table(
        "free",
        seats=(seats("for")[0], person),
        judges=judges,
        setup=DebateSetup(winning="self-terminate"),
    )
    line = GiveSpeech("b", "You are right, and I was wrong.\n[I concede]")
    return Simulation(opening, speak, hand=lambda *_: line).start().run().debate


def test_a_person_concedes_by_that_line_alone_where_nobody_can_be_asked() -> None:
    debate = conceding(judges=())
    assert not debate.asides
    assert (debate.ended, debate.verdict and debate.verdict.winner) == ("concession", "a")


def test_a_persons_concession_goes_to_the_referee_where_there_is_one() -> None:
    debate = conceding(judges=table().judges)
    assert [asked.kind for asked in debate.asides] == ["referee"]
    assert debate.ended == "concession"


def test_only_the_last_speech_can_concede() -> None:
    assert concession(said("One.", "Two.", winning="self-terminate")) is None
    assert concession(said(winning="self-terminate")) is None


# --- a moderator sums up ------------------------------------------------------------------------------


def summed_up(debate: Debate) -> list[tuple[str, int, bool]]:
    """What the moderator said: the tone, the round, and whether it came last."""
    moderator = next(seat.id for seat in debate.seats if seat.role == "moderator")
    turns = [turn for turn in debate.turns if turn.seat == moderator and turn.has_words]
    return [(turn.tone, turn.round, turn is debate.turns[-1]) for turn in turns]


def panel(script: Script, **changes: Any) -> Simulation:
    sitting = (*seats("for", "against"), replace(seats("for", "for", "neutral")[2], role="moderator"))
    opening = table("panel", seats=sitting, judges=(), limits=DebateLimits(5))
    return Simulation(replace(opening, **changes), script).start()


def test_the_moderator_sums_up_a_stalemate() -> None:
    held = panel(lambda sent: speak(sent) if speaker(sent) == "c" else Reply(SAME))
    debate = held.run().debate
    assert summed_up(debate) == [("summary", 2, True)]
    assert (debate.ended, debate.verdict and debate.verdict.by) == ("stalemate", "stalemate")
    assert {event.by for event in held.events if isinstance(event, TurnSkipped)} == {"stalemate"}


def speaker(sent: Sent) -> str:
    turn = sent.debate.turn(sent.purpose.turn or 0)
    return turn.seat if turn else ""


def test_the_moderator_sums_up_after_a_concession() -> None:
    setup = DebateSetup(winning="self-terminate")
    debate = panel(speeches("I say so.", "You win.\n[I concede]"), setup=setup).run().debate
    assert summed_up(debate) == [("summary", 1, True)]
    assert (debate.ended, debate.verdict and debate.verdict.winner) == ("concession", "a")


@pytest.mark.parametrize("paused", [False, True])
@pytest.mark.parametrize("auto", [False, True])
def test_the_moderator_sums_up_what_was_stopped(paused: bool, auto: bool) -> None:
    held = panel(speak, setup=DebateSetup(auto=auto)).run_until(lambda d: d.running and not d.live)
    if not auto:
        held.ask(NextRound())
    held.run_until(lambda d: d.is_live(2))
    if paused:
        held.ask(PauseDebate())
    held.ask(Stop())
    debate = held.run().debate
    assert summed_up(debate) == [("summary", 1, True)]
    assert (debate.status, debate.ended) == ("completed", "stopped")


def test_who_stops_the_summary_too_ends_the_debate() -> None:
    held = panel(speak).run_until(lambda d: d.is_live(2))
    held.ask(Stop())
    held.run_until(lambda d: bool(d.live))
    held.ask(Stop())
    assert held.debate.ended == "stopped"


def test_nothing_is_summed_up_where_nothing_was_said() -> None:
    held = panel(speak).run_until(lambda d: d.is_live(1))
    held.ask(Stop())
    assert held.debate.ended == "stopped"
    assert not summed_up(held.debate)
