"""What the speaker of a turn is sent."""

from __future__ import annotations

from msgspec.structs import replace

from moot.audience import Heard, hears
from moot.debate import Debate, Turn
from moot.prompts import small
from moot.prompts.templates import CONCEDE, FOR_SIDE, SIDES, fenced, intensity, nonce, section, seed, template
from moot.terms import Message, Phase, Reasoning, Request, Sealed, Seat

UNANSWERED = {
    "opening": "first",
    "rebuttal": "unopposed",
    "closing": "unopposed-closing",
    "answer": "unasked",
}
"""Cues for a speaker who has heard nobody since its last speech, and must not invent what it did not hear."""


def turn_request(
    debate: Debate,
    turn: Turn,
    attempt: int = 1,
    *,
    chained: bool = True,
    sealed: bool = True,
    trimmed: bool = False,
) -> Request:
    """What the speaker of this turn is sent.

    Without `chained` nothing is left to the provider's memory; without `sealed` it does not get its encrypted
    thoughts back. `trimmed` leaves out the older half of what the speaker has heard: the whole was too long.
    """
    seat = debate.seat(turn.seat)
    if seat.model.small:
        return small.turn_request(debate, turn, attempt)
    messages: list[Message] = []
    own = [t for t in debate.turns if t.seat == turn.seat and t.said and t.seq < turn.seq]
    chain = debate.chain(seat.id) if chained else None
    sealed = sealed and chain is None
    waiting: list[Heard] = []
    remembered = 0
    everything = hears(debate, turn)
    left_out = len(everything) // 2 if trimmed else 0
    past = iter(own[sum(heard.kind == "own" for heard in everything[:left_out]) :])
    for heard in everything[left_out:]:
        if heard.kind != "own":
            waiting.append(heard)
            continue
        speech = next(past)
        messages.append(Message("user", _prompt(debate, seat, speech, waiting)))
        messages.append(Message("assistant", heard.text, _sealed(speech) if sealed else ()))
        waiting = []
        # A speech that was cut is in nobody's chain: it is sent again with what comes after.
        remembered = len(messages) if speech.state == "completed" else remembered
    messages.append(Message("user", _prompt(debate, seat, turn, waiting)))
    if left_out:
        messages[0] = replace(messages[0], content=f"{section('quotes', 'trimmed')}\n\n{messages[0].content}")
    return Request(
        model=seat.model,
        instructions=_instructions(debate, seat),
        messages=tuple(messages),
        max_tokens=seat.model.max_tokens,
        previous_response_id=chain,
        fresh=tuple(messages[remembered:]) if chain else (),
        seed=seed(seat.model.seed, turn.number, attempt),
        attempt=attempt,
        trimmed=left_out,
    )


def _sealed(speech: Turn) -> tuple[Sealed, ...]:
    """A seat's own thoughts, where its provider gave them to us encrypted and takes them back."""
    return tuple(
        Sealed(segment.item_id, segment.opaque)
        for segment in speech.segments
        if isinstance(segment, Reasoning) and segment.opaque and segment.item_id
    )


def _instructions(debate: Debate, seat: Seat) -> str:
    extras: list[str] = []
    if seat.persona:
        extras.append(f"Who you are: {seat.persona}")
    if seat.objective:
        extras.append(f"Your own objective, which the others do not know: {seat.objective}")
    if seat.system_prompt:
        extras.append(seat.system_prompt)
    if debate.manner.winning == "self-terminate" and not debate.format.scripted:
        extras.append(section("cues", "concede", concede=CONCEDE))
    return template("moderator" if seat.role == "moderator" else "debater").format(
        motion=debate.motion,
        format=f"{debate.format.title}. {debate.format.summary}".rstrip("."),
        side=SIDES[seat.side],
        intensity=intensity(debate.manner.intensity),
        extras="".join(f"\n{extra}\n" for extra in extras),
        fence=nonce(debate, seat.id),
    )


def _prompt(debate: Debate, seat: Seat, turn: Turn, waiting: list[Heard]) -> str:
    """The quotations since the last own speech, then what is wanted now."""
    fence = nonce(debate, seat.id)
    quotes = [
        section(
            "quotes",
            "remark" if heard.kind == "remark" else "speech",
            speaker=_speaker(debate, seat, heard),
            fence=fence,
            text=fenced(heard.text, fence),
        )
        for heard in waiting
    ]
    return "\n\n".join([*quotes, _cue(debate, seat, turn, waiting)])


def _cue(debate: Debate, seat: Seat, turn: Turn, waiting: list[Heard]) -> str:
    phase = debate.phase(turn.slot)
    answered = any(heard.kind == "other" for heard in waiting)
    name = turn.tone if answered else UNANSWERED.get(turn.tone, turn.tone)
    to = debate.schedule[turn.slot].to
    cue = section(
        "cues",
        name,
        title=phase.title,
        for_side=FOR_SIDE[seat.side],
        to=debate.seat(to).name if to else "the other side",
    )
    return "\n".join([cue, *_rules(phase, turn)])


def _rules(phase: Phase, turn: Turn) -> list[str]:
    rules: list[str] = []
    if phase.guide and turn.tone not in ("question", "answer"):
        rules.append(phase.guide)
    if not phase.new_arguments and turn.tone in ("rebuttal", "closing"):
        rules.append(section("cues", "no-new"))
    rules.append(section("cues", "length", words=phase.words))
    return rules


def _speaker(debate: Debate, listener: Seat, heard: Heard) -> str:
    """Two debaters are simply opponents; at a larger table speakers need their names."""
    if heard.seat is None:
        return ""
    seat = debate.seat(heard.seat)
    debaters = [s for s in debate.seats if s.role == "debater"]
    if len(debaters) == 2 and listener.role == "debater":
        return "Your opponent"
    if seat.side == "neutral":
        return seat.name
    return f"{seat.name}, speaking {FOR_SIDE[seat.side]},"
