"""What a judge is sent: the speeches under neutral labels, fenced as evidence, in one of two orders."""

from __future__ import annotations

from msgspec.structs import replace

from moot.debate import Debate, Turn
from moot.judging.ballots import labels, schema, small_schema
from moot.pricing import OVERHEAD
from moot.prompts.templates import clip, fenced, nonce, section, seed
from moot.terms import Judge, Message, Request

BYTES_PER_TOKEN = 6
"""A judge reads at most this many bytes of a speech for each token it was allowed."""
SMALL_TOKENS = 700
ARGUED = {
    "for": "argued for the motion",
    "against": "argued against the motion",
    "neutral": "was bound to neither side",
}


def judge_request(debate: Debate, judge: Judge, order: int) -> Request:
    names = labels(debate, order)
    fence = nonce(debate, f"judge:{judge.id}:{order}")
    small = judge.model.small
    sides = [f"{label} {ARGUED[debate.seat(seat).side]}." for seat, label in names.items()]
    speeches = [
        section(
            "judge",
            "small-speech" if small else "speech",
            label=names[turn.seat],
            phase=debate.phase(turn.slot).title.lower(),
            note=_note(turn),
            fence=fence,
            text=fenced(clip(turn.text, turn.max_tokens * BYTES_PER_TOKEN), fence),
        )
        for turn in debate.turns
        if (turn.said or _declined(turn)) and turn.seat in names
    ]
    system = section(
        "judge",
        "small-system" if small else "system",
        labels=" and ".join(names.values()) if len(names) == 2 else ", ".join(names.values()),
        criteria=", ".join(judge.criteria),
        fence=fence,
    )
    user = section(
        "judge", "user", motion=debate.motion, sides="\n".join(sides), speeches="\n\n".join(speeches)
    )
    model = judge.model
    return Request(
        model=model,
        instructions=system,
        messages=(Message("user", user),),
        max_tokens=min(model.max_tokens, SMALL_TOKENS) if small else model.max_tokens,
        schema=small_schema(debate, judge) if small else schema(debate, judge),
        seed=seed(model.seed, 0, order + 1),
    )


def repair_request(request: Request, reply: str, problem: str) -> Request:
    """The same question once more, with the unreadable reply and what was wrong with it."""
    short = clip(reply, request.max_tokens * BYTES_PER_TOKEN)
    plea = section("judge", "repair", problem=problem[:300])
    again = (Message("assistant", short or "{}"), Message("user", plea))
    return replace(request, messages=(*request.messages, *again), attempt=2)


def repair_room(request: Request) -> int:
    """How many bytes a repair adds to a request at most."""
    return request.max_tokens * BYTES_PER_TOKEN + 2 * OVERHEAD + 1500


def speech_frame(debate: Debate) -> int:
    """How many bytes stand around the words of a speech at most: label, title, note and fence."""
    return 160 + max(len(phase.title.encode()) for phase in debate.format.phases)


def _declined(turn: Turn) -> bool:
    """It refused without a word: nobody hears that, but a judge is told."""
    return turn.refusal and turn.spent


def _note(turn: Turn) -> str:
    if turn.refusal:
        return " (declined to answer)"
    if turn.state == "interrupted":
        return " (cut short)"
    return " (broke off)" if turn.truncated else ""
