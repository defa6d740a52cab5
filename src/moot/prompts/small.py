"""Prompts for models too small for long ones: short turns, a chat of two voices, a few first words.

A model of a hundred million parameters follows the shape of a conversation far better than instructions. So
its own speeches are its side of a chat, only the latest few are kept, and each answer starts from words that
already take its side.
"""

from __future__ import annotations

import re

from rapidfuzz import fuzz

from moot.audience import Heard, hears
from moot.debate import Debate, Turn
from moot.prompts.templates import clip, section, seed
from moot.terms import Message, Request, Seat

TOKENS = 130
KEPT = 4
"""Messages of history: more only invites the model to copy them."""
KEPT_REMARKS = 3
ANSWER = {"for": "yes", "against": "no", "neutral": "open"}
SIDE = {"for": "in favour of it", "against": "against it", "neutral": "what you think about it"}
SIDE_OF_MOTION = {
    "for": "in favour of this",
    "against": "against this",
    "neutral": "with your honest opinion on this",
}

LEAST_WORDS = 8
OTHER_SIDE = {
    "for": ("i am against", "i disagree with the motion", "i oppose this", "is a bad idea"),
    "against": ("i am in favour", "i am in favor", "i support this", "is a good idea"),
}


def turn_request(debate: Debate, turn: Turn, attempt: int = 1) -> Request:
    seat = debate.seat(turn.seat)
    heard = hears(debate, turn)
    messages = [*_history(debate, seat, heard), Message("user", _cue(debate, seat, turn, heard))]
    return Request(
        model=seat.model,
        instructions=_instructions(debate, seat),
        messages=tuple(messages),
        max_tokens=min(seat.model.max_tokens, TOKENS),
        prefill=_first_words(seat, turn),
        seed=seed(seat.model.seed, turn.number, attempt),
        attempt=attempt,
    )


def _instructions(debate: Debate, seat: Seat) -> str:
    extras = [seat.persona, seat.objective, seat.system_prompt]
    return section(
        "small",
        "moderator" if seat.role == "moderator" else "system",
        motion=debate.motion,
        answer=ANSWER[seat.side],
        side=SIDE[seat.side],
        extras="".join(f" {extra}" for extra in extras if extra),
    )


def _history(debate: Debate, seat: Seat, heard: tuple[Heard, ...]) -> list[Message]:
    """The chat so far, but for what the cue will quote; it must begin with the other voice."""
    if seat.role == "moderator":
        return []
    speeches = [item for item in heard if item.kind != "remark"]
    earlier = speeches[:-1] if speeches and speeches[-1].kind != "own" else speeches
    messages: list[Message] = []
    for item in earlier:
        role = "assistant" if item.kind == "own" else "user"
        if messages and messages[-1].role == role:
            messages[-1] = Message(role, f"{messages[-1].content}\n\n{item.text}")
        else:
            messages.append(Message(role, item.text))
    kept = messages[-KEPT:]
    opening = Message("user", section("small", "opening", motion=debate.motion, side_of_motion="on this"))
    return kept if not kept or kept[0].role == "user" else [opening, *kept]


def _cue(debate: Debate, seat: Seat, turn: Turn, heard: tuple[Heard, ...]) -> str:
    remarks = [item.text for item in heard if item.kind == "remark"]
    others = [item.text for item in heard if item.kind == "other"]
    text = clip(others[-1], 900) if others else ""
    name: str = turn.tone
    if not others and name != "summary":
        name = "opening"
    if turn.tone == "summary":
        text = "\n".join(f"- {clip(item, 400)}" for item in others[-4:])
    cue = section("small", name, motion=debate.motion, text=text, side_of_motion=SIDE_OF_MOTION[seat.side])
    said = [section("small", "remark", text=clip(remark, 300)) for remark in remarks[-KEPT_REMARKS:]]
    return "\n\n".join([*said, cue])


def _first_words(seat: Seat, turn: Turn) -> str:
    if seat.role == "moderator" or seat.side == "neutral" or turn.tone in ("question", "answer"):
        return ""
    if turn.tone == "opening":
        return section("small", seat.side)
    return section("small", f"{seat.side}-closing" if turn.tone == "closing" else f"{seat.side}-again")


# --- does a speech hold? ------------------------------------------------------------------------------

COPIED = 75.0
"""Likeness, of a hundred, above which a speech repeats another."""


def strays(debate: Debate, turn: Turn, text: str) -> bool:
    """It repeats an earlier speech, or argues for the other side."""
    seat = debate.seat(turn.seat)
    own = _first_words(seat, turn)
    body = text.removeprefix(own).strip()
    if len(body.split()) < LEAST_WORDS:
        return True
    earlier = [other.text for other in debate.turns if other.said and other.seq < turn.seq]
    if any(fuzz.partial_ratio(body, other) > COPIED for other in earlier):
        return True
    return _switches(seat, body)


def _switches(seat: Seat, body: str) -> bool:
    lowered = body.casefold()
    return any(phrase in lowered for phrase in OTHER_SIDE.get(seat.side, ()))


def whole_sentences(text: str) -> str:
    """Up to the last full stop, if there is one worth keeping."""
    ends = [match.end() for match in re.finditer(r"[.!?][\"')\]]*(?=\s|$)", text)]
    return text[: ends[-1]] if ends and ends[-1] >= len(text) // 3 else text
