"""The scenes in which a format is held whole, and those with people in the room.

Of these the exact order of the speeches and every word that is sent are kept too, in `NAME.prompts.txt`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from moot.core.state import Debate
from moot.core.terms import FREE, HUMAN, DebateLimits, DebateSetup, Judge, Model, PollSettings, Seat, Side
from moot.rules.commands import AddRemark, Command, ExtendDebate, JudgeAgain, PauseDebate, ResumeDebate
from moot.rules.participation import (
    CastVote,
    ClosePoll,
    GiveSpeech,
    KeepDraft,
    LeaveSeat,
    OfferPoint,
    TakeSeat,
)
from moot.rules.runner_decisions import CallPurpose
from moot.testing.event_factories import SCRIPTED, seats, table
from tests.rules.simulate import Reply, Script, Sent, Simulation, act, aside, speak, words

Scene = Callable[[str], Simulation]

PERSON = Model(HUMAN, HUMAN, price=FREE)
FOUR: tuple[Side, ...] = ("for", "against", "for", "against")
OTHER = Judge("second", "Second opinion", Model("acme", "magpie", price=FREE), criteria=("argument",))


def held(format: str, *sides: Side, script: Script = speak, **changes: Any) -> Scene:
    """A debate of this format that runs by itself."""
    opening = table(format, *sides, **changes)
    return lambda debate_id: Simulation(opening, script, debate_id).start().run()


def choosy(sent: Sent) -> Reply:
    """Rises on points of information, and takes every other one."""
    asked = sent.debate.aside(sent.purpose.aside or 0)
    if asked is None:
        return speak(sent)
    willing = asked.kind != "leave" or len(sent.debate.points) % 2 == 0
    return Reply(aside(sent, yes=willing))


def talkative(sent: Sent) -> Reply:
    """Uses all its words in the free debate, so that the clock runs out."""
    turn = sent.debate.turn(sent.purpose.turn or 0)
    if turn is None or turn.phase != "free-debate":
        return speak(sent)
    return Reply(" ".join(words(sent.call * 100 + piece) for piece in range(8)), piece=200)


# --- an audience --------------------------------------------------------------------------------------


def vote(simulation: Simulation, *choices: str) -> None:
    """One voter for each choice; then the vote is closed."""
    simulation.run()
    for number, choice in enumerate(choices, 1):
        simulation.ask(CastVote(f"voter_{number}", choice))
    simulation.ask(ClosePoll(by="chair"))


def swung(debate_id: str) -> Simulation:
    """The audience votes, asks, and votes again; the side that has moved more of it wins."""
    setup = DebateSetup(winning="audience", polls=PollSettings())
    opening = table("oxford", limits=DebateLimits(3), setup=setup)
    debate = Simulation(opening, speak, debate_id).start()
    vote(debate, "for", "for", "for", "undecided", "undecided", "against")
    debate.run_until(lambda d: d.is_live(2))
    debate.ask(AddRemark("Who is to pay for it?", by="voter_1", question=True))
    debate.ask(AddRemark("And in the country?", by="voter_2", to="b", question=True))
    vote(debate, "for", "against", "for", "against", "against", "against")
    debate.ask(CastVote("voter_7", "for", poll="after"))
    return debate.run()


def divided(debate_id: str) -> Simulation:
    """One division at the end, beside the judges; nobody asks anything."""
    setup = DebateSetup(polls=PollSettings(before=False, seconds=30))
    debate = Simulation(table("oxford-union", *FOUR, setup=setup), speak, debate_id).start()
    debate.run_until(lambda d: bool(d.polls))
    for number, choice in enumerate(("for", "against", "for"), 1):
        debate.ask(CastVote(f"voter_{number}", choice))
    return debate.run()


# --- people -------------------------------------------------------------------------------------------


def _with_person() -> tuple[Seat, ...]:
    first, second = seats("for", "against")
    return replace(first, model=PERSON, stand_in=SCRIPTED), second


def ada(debate: Debate, purpose: CallPurpose) -> Command | None:
    """Speaks once, says nothing the second time, and judges as others do."""
    turn = debate.turn(purpose.turn or 0)
    if turn is None:
        return act(debate, purpose)
    return GiveSpeech(turn.seat, "I speak as I can, and I mean it.") if turn.number == 1 else None


def attended(debate_id: str) -> Simulation:
    """A person speaks, is given more time, lets it pass; a model stands in; another person takes the seat of
    the opponent, types before everybody's eyes, and leaves. A person judges beside a model."""
    judges = (Judge("judge", "Judge", SCRIPTED), Judge("ada", "Ada", PERSON))
    opening = table("free", seats=_with_person(), judges=judges, limits=DebateLimits(3, turns=6))
    debate = Simulation(opening, speak, debate_id, ada).start()
    debate.run_until(lambda d: d.is_live(1))
    debate.ask(KeepDraft("a", "I speak as"))
    debate.run_until(lambda d: d.is_live(3))
    debate.ask(ExtendDebate(seconds=60, by="chair"))
    debate.run_until(lambda d: d.is_live(4))
    debate.ask(ExtendDebate(rounds=1, by="chair"))
    debate.ask(PauseDebate(by="chair"))
    debate.run()
    debate.ask(TakeSeat("b", by="Grace"))
    debate.ask(ResumeDebate())
    debate.run_until(lambda d: any(live.seat == "b" and live.call for live in d.live))
    debate.ask(KeepDraft("b", "Let me think", live=True))
    debate.ask(KeepDraft("b", "Let me think aloud", live=True))
    debate.ask(LeaveSeat("b", by="Grace"))
    return debate.run()


def interrupted(debate_id: str) -> Simulation:
    """World Schools with a person, who rises on a point and is taken, and takes one."""
    debate = Simulation(table("world-schools", seats=_with_person()), choosy, debate_id).start()
    debate.run_until(lambda d: any(live.seat == "b" and live.tone == "opening" for live in d.live))
    debate.ask(OfferPoint("a", "Would the speaker tell us who pays?"))
    return debate.run()


def reopened(debate_id: str) -> Simulation:
    """Judged again twice: by another judge, and by one who cannot be read."""

    def script(sent: Sent) -> Reply:
        illegible = sent.purpose.judge == OTHER.id and len(sent.debate.judgings) == 3
        return Reply("I could not say.") if illegible else speak(sent)

    debate = Simulation(table("free", limits=DebateLimits(1, turns=2)), script, debate_id).start().run()
    for reason in ("A second opinion.", "A third."):
        debate.ask(JudgeAgain((OTHER,), reason))
        debate.run()
    return debate


def yielding(debate_id: str) -> Simulation:
    """Words that sound like giving way are asked about: the first time in vain, the second time for good, and
    once the referee cannot be read."""
    texts = [words(1), "I must concede that much, and no more.", words(2), "I stand corrected.", words(3)]
    coming = iter([*texts, "You have persuaded me.\n[I concede]"])

    def script(sent: Sent) -> Reply:
        asked = sent.debate.aside(sent.purpose.aside or 0)
        if asked is None:
            return Reply(next(coming))
        if asked.kind == "concession":
            return Reply(aside(sent, yes=asked.turn != 2))
        return Reply("Perhaps." if asked.turn == 4 else aside(sent))

    setup = DebateSetup(winning="self-terminate")
    return Simulation(table("free", setup=setup), script, debate_id).start().run()


FORMATS: dict[str, Scene] = {
    "oxford-swing": swung,
    "oxford-union": divided,
    "lincoln-douglas-blind": held("lincoln-douglas", setup=DebateSetup(blind=True)),
    "public-forum": held("public-forum", *FOUR),
    "policy": held("policy", setup=DebateSetup(prep=True, objective="Whether the plan is worth its price.")),
    "british-parliamentary": held("british-parliamentary", *FOUR, script=choosy),
    "british-parliamentary-two": held("british-parliamentary", script=choosy),
    "world-schools": interrupted,
    "karl-popper": held("karl-popper", "for", "against", "for"),
    "chinese": held("chinese", *FOUR, script=talkative),
    "people": attended,
    "judged-again": reopened,
    "concession-refereed": yielding,
}
