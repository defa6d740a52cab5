"""Requests for side questions, and their answers: one JSON object of exactly the requested shape.

A seat is asked with its persona and its secrets; a referee knows only the motion and the speech. Only private
notes need everything it has heard. The other questions concern one speech, or only who offers a point, and
their prompts are short. Extensions ask seats with `seat_request`.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, TypeVar

from msgspec import NODEFAULT, Struct, defstruct

from moot.core.events import AsideAnswered
from moot.core.state import Aside, Debate, Turn
from moot.core.terms import ChatMessage, Model, Request, Seat
from moot.core.visibility import Heard, hears
from moot.core.word_count import count_words, first_words
from moot.prompts.fences import Fence, fence_for
from moot.prompts.model_replies import object_schema, read_json_reply
from moot.prompts.question_prompts import CRITIQUE, DRAFT, critic_instructions, question_instructions
from moot.prompts.speaker_names import speaker_name
from moot.prompts.speech_prompts import quote, seat_instructions
from moot.prompts.templates import SIDES, SPOKE, section, seed

MAX_TOKENS = 1500
"""The answers are short, but some models think before they answer."""
MAX_ANSWER_CHARS = 4000
SEED_OFFSET = 5000
"""Asides are seeded apart from the turns."""
ANSWERS = {
    "notes": ("", "notes"),
    "point": ("rise", "point"),
    "leave": ("accept", ""),
    "concession": ("concedes", "why"),
    "referee": ("conceded", "quote"),
}
"""The members of each answer: the yes or no, and the text; empty where it has none."""


# --- what is asked ------------------------------------------------------------------------------------


def aside_request(debate: Debate, aside: Aside, model: Model, words: int, attempt: int = 1) -> Request:
    """The request for a side question; `words` is the maximum length of the answer."""
    fence = _fence(debate, aside)
    question = _question(debate, aside, words, fence)
    return short_request(
        aside, model, _instructions(debate, aside, fence), question, _schema(aside.kind), attempt
    )


def seat_request(
    debate: Debate, aside: Aside, model: Model, question: str, schema: dict[str, Any], attempt: int
) -> Request:
    """The request for a question to a seat, with its persona and its secrets."""
    return short_request(
        aside, model, _instructions(debate, aside, _fence(debate, aside)), question, schema, attempt
    )


def short_request(
    aside: Aside, model: Model, instructions: str, question: str, schema: dict[str, Any], attempt: int
) -> Request:
    """The request for a question whose answer is short; the model's thoughts are not asked for."""
    return Request(
        model=model,
        instructions=instructions,
        messages=(ChatMessage("user", question),),
        max_tokens=min(model.max_tokens, MAX_TOKENS),
        schema=schema,
        seed=seed(model.seed, SEED_OFFSET + aside.number, attempt),
        attempt=attempt,
        thoughts=False,
    )


def _fence(debate: Debate, aside: Aside) -> Fence:
    """The fence of the seat, or one of the referee, which no debater knows."""
    if aside.kind == "referee" or aside.seat is None:
        return fence_for(debate, f"referee:{aside.number}")
    return fence_for(debate, aside.seat)


def _schema(kind: str) -> dict[str, Any]:
    schemas = {"type": "boolean"}, {"type": "string", "maxLength": MAX_ANSWER_CHARS}
    return object_schema({name: schema for name, schema in zip(ANSWERS[kind], schemas, strict=True) if name})


def _instructions(debate: Debate, aside: Aside, fence: Fence) -> str:
    if aside.kind == "referee" or aside.seat is None:
        return section("asides", "referee", fence=fence.name)
    seat, question = debate.seat(aside.seat), debate.setup.question
    if question is not None and aside.about == CRITIQUE:
        return critic_instructions(debate, seat, question, fence)
    if question is not None and aside.about == DRAFT:
        return question_instructions(debate, seat, question, fence, ())
    return section(
        "asides",
        "seat",
        motion=debate.motion,
        side=SIDES[seat.side],
        extras="".join(f"{extra}\n" for extra in seat_instructions(debate, seat)),
        fence=fence.name,
    )


def _question(debate: Debate, aside: Aside, words: int, held: Fence) -> str:
    turn, fence = debate.turn(aside.turn or 0), held.name
    speech = held.hold(debate.heard_text(turn)) if turn else ""
    match aside.kind:
        case "notes":
            return _notes(debate, aside, words)
        case "point":
            who = _named(debate, aside.seat, turn.seat if turn else None)
            return section("asides", "point", speaker=who, speech=speech, fence=fence, words=words)
        case "leave":
            rising = debate.offered_point(aside.turn or 0)
            who = _named(debate, aside.seat, rising.seat if rising else None)
            return section("asides", "leave", speaker=who, taken=debate.points_taken(aside.seat or ""))
        case "concession":
            hint = held.hold(aside.about)
            return section("asides", "concession", speech=speech, hint=hint, fence=fence, words=words)
        case "referee":
            side = debate.seat(turn.seat).side if turn else "neutral"
            motion = held.hold(debate.motion)
            return section(
                "asides", "evidence", motion=motion, for_side=SPOKE[side], speech=speech, fence=fence
            )
        case _:
            raise ValueError(f"{aside.kind} is asked by an extension")


def _notes(debate: Debate, aside: Aside, words: int) -> str:
    phase = debate.phase(aside.slot)
    return section(
        "question" if aside.about else "asides",
        aside.about or "notes",
        heard=heard_before(debate, aside),
        speech=f"Your next speech: {phase.title}. {phase.guide}".strip(),
        words=words,
    )


def heard_before(debate: Debate, aside: Aside) -> str:
    """All that the seat has heard when it is asked."""
    fence = _fence(debate, aside)
    seat = debate.seat(aside.seat or "")
    quotes = [_quoted(debate, seat, item, fence) for item in hears(debate, _upcoming_turn(debate, aside))]
    return "\n\n".join(quotes) or section("asides", "nothing-heard")


def seat_wins_with_side(debate: Debate) -> bool:
    """Whether all seats of a side win together."""
    return debate.format.parties == "sides"


def _upcoming_turn(debate: Debate, aside: Aside) -> Turn:
    """The turn for which the seat is asked, as if it began now."""
    slot = debate.schedule[aside.slot]
    phase = debate.phase(aside.slot).key
    return Turn(0, slot.index, slot.round, phase, slot.tone, slot.seat, aside.seq, aside.asked_at)


def _quoted(debate: Debate, seat: Seat, item: Heard, fence: Fence) -> str:
    if item.kind == "own":
        return section("asides", "own", fence=fence.name, text=fence.hold(item.text))
    return quote(debate, seat, item)


def _named(debate: Debate, listener: str | None, seat: str | None) -> str:
    return speaker_name(debate, debate.seat(listener or ""), Heard("other", "", seat))


# --- how the reply is read ----------------------------------------------------------------------------


Said = TypeVar("Said", bound=Struct)


def read_answer(debate: Debate, aside: Aside, reply: str, words: int) -> AsideAnswered:
    """Raises UnreadableReply. An answer that is too long is cut at the word limit."""
    number, (yes, said) = aside.number, _read_yes_and_text(aside.kind, reply)
    text = first_words(said.strip(), words)
    match aside.kind:
        case "notes":
            title = f"{aside.about.capitalize()}: " if aside.about and text else ""
            return AsideAnswered(number, yes=bool(text), text=title + text)
        case "point":
            return AsideAnswered(number, yes=yes and bool(text), text=text if yes else "")
        case "referee":
            quoted = yes and _is_quoted_from(said, debate.turn(aside.turn or 0))
            return AsideAnswered(number, yes=quoted, text=text)
        case _:
            return AsideAnswered(number, yes=yes, text=text)


def _read_yes_and_text(kind: str, reply: str) -> tuple[bool, str]:
    answer = read_reply(_answer_shape(kind), reply)
    yes, text = ANSWERS[kind]
    return getattr(answer, yes, False), getattr(answer, text, "")


@cache
def _answer_shape(kind: str) -> type[Struct]:
    """Beside a yes or no the text may be left out."""
    yes, text = ANSWERS[kind]
    members = [(yes, bool, NODEFAULT), (text, str, "" if yes else NODEFAULT)]
    return defstruct(
        f"{kind.capitalize()}Answer", [member for member in members if member[0]], forbid_unknown_fields=True
    )


def read_reply(shape: type[Said], reply: str) -> Said:
    """Raises UnreadableReply where the reply is not one JSON object of exactly this shape."""
    return read_json_reply(reply, shape, twice="a member is given twice")


def _is_quoted_from(quoted: str, speech: Turn | None) -> bool:
    """Whether the words are in the speech, apart from case and surrounding marks; one word is not enough."""
    return speech is not None and count_words(quoted) > 1 and _bare(quoted) in _bare(speech.text)


def _bare(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
