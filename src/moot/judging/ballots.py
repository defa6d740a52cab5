"""A judge's reply as a ballot, or the reason why it is none.

The seats appear under neutral labels, and each judge sees them both ways round, so that neither a label nor
a place can win a debate. The reply must be one JSON object of exactly the asked shape: anything else is no
ballot, because a winner is never guessed.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from moot.debate import Debate
from moot.prompts.small import whole_sentences
from moot.terms import Ballot, Judge, Score, Seat

LABELS = ("Birch", "Cedar", "Maple", "Rowan", "Alder", "Hazel", "Aspen", "Willow")
TIE = "tie"
SMALL_STRENGTHS = (
    "gives clear reasons",
    "uses concrete examples",
    "answers the other side",
    "stays on the question",
)
SMALL_WEAKNESSES = (
    "gives few examples",
    "repeats itself",
    "does not answer the other side",
    "stays vague",
)

# Only whole escapes: a stream may break off in the middle of one, or between the halves of a pair.
_REASONING = re.compile(
    r'"reasoning"\s*:\s*"('
    r'(?:[^"\\]|\\[^u]|\\u(?![dD][89a-fA-F])[0-9a-fA-F]{4}'
    r"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})*)",
    re.DOTALL,
)
_Points = Annotated[float, Meta(ge=0, le=100)]


class Unreadable(ValueError):
    """Why a reply is not a ballot."""


class _Marks(Struct, forbid_unknown_fields=True):
    score: _Points
    strengths: list[str] = []
    weaknesses: list[str] = []


class _Reply(Struct, forbid_unknown_fields=True):
    reasoning: str
    speakers: dict[str, _Marks]
    criteria: dict[str, str]
    winner: str


def judged_seats(debate: Debate) -> tuple[Seat, ...]:
    return tuple(seat for seat in debate.seats if seat.role == "debater")


def labels(debate: Debate, order: int) -> dict[str, str]:
    """Seat id to label; the second order turns the seats round."""
    seats = judged_seats(debate)
    shown = seats if order % 2 == 0 else seats[::-1]
    return {seat.id: LABELS[place] for place, seat in enumerate(shown)}


def schema(debate: Debate, judge: Judge) -> dict[str, Any]:
    """The shape of a reply. Reasoning comes first, so that it streams while the verdict forms."""
    names = list(labels(debate, 0).values())
    remark = {"type": "string", "maxLength": 400}
    remarks = {"type": "array", "items": remark, "maxItems": 5}
    score = {"type": "integer", "minimum": 0, "maximum": 100}
    marks = _object({"strengths": remarks, "weaknesses": remarks, "score": score})
    return _object(
        {
            "reasoning": {"type": "string", "maxLength": 6000},
            "criteria": _object(dict.fromkeys(judge.criteria, remark)),
            "speakers": _object(dict.fromkeys(names, marks)),
            "winner": {"type": "string", "enum": [*names, TIE]},
        }
    )


def small_schema(debate: Debate, judge: Judge) -> dict[str, Any]:
    """For models that fill free text with the same sentence again and again: short, and from closed lists."""
    names = list(labels(debate, 0).values())
    remark = {"type": "string", "enum": [*(f"{name} is stronger" for name in names), "Both are even"]}
    marks = _object(
        {
            "strengths": _one_of(SMALL_STRENGTHS),
            "weaknesses": _one_of(SMALL_WEAKNESSES),
            "score": {"type": "integer", "enum": list(range(40, 100, 5))},
        }
    )
    return _object(
        {
            "reasoning": {"type": "string", "minLength": 40, "maxLength": 260},
            "criteria": _object(dict.fromkeys(judge.criteria, remark)),
            "speakers": _object(dict.fromkeys(names, marks)),
            "winner": {"type": "string", "enum": [*names, TIE]},
        }
    )


def read(reply: str, debate: Debate, judge: Judge, order: int) -> Ballot:
    """Raises Unreadable with what to mend."""
    try:
        said = msgspec.json.decode(_unfenced(reply), type=_Reply, strict=True)
    except msgspec.MsgspecError as error:
        raise Unreadable(str(error)) from error
    seats = {label: seat for seat, label in labels(debate, order).items()}
    if set(said.speakers) != set(seats):
        raise Unreadable(f"speakers must be exactly: {', '.join(seats)}")
    if said.winner not in (*seats, TIE):
        raise Unreadable(f"winner must be one of: {', '.join(seats)}, {TIE}")
    winner = seats.get(said.winner)
    scores = {
        seats[label]: Score(marks.score, tuple(marks.strengths), tuple(marks.weaknesses))
        for label, marks in said.speakers.items()
    }
    best = max(score.score for score in scores.values())
    return Ballot(
        judge=judge.id,
        order=order,
        winner=winner,
        scores=scores,
        reasoning=whole_sentences(said.reasoning, 0.1) if judge.model.small else said.reasoning,
        criteria=said.criteria,
        inconsistent=winner is not None and scores[winner].score < best,
    )


def named(text: str, debate: Debate, order: int) -> str:
    """A judge's words with the speakers' names in place of the labels."""
    names = {label: debate.seat(seat).name for seat, label in labels(debate, order).items()}
    pattern = r"\b(?:(?:Speaker|Team) )?(" + "|".join(names) + r")\b"
    return re.sub(pattern, lambda match: names[match[1]], text)


def reasoning_so_far(partial: str) -> str:
    """The reasoning in a reply that is still being written."""
    match = _REASONING.search(partial)
    if match is None:
        return ""
    try:
        return msgspec.json.decode(f'"{match[1]}"', type=str)
    except msgspec.DecodeError:
        return ""


def _unfenced(reply: str) -> str:
    """Models like to wrap JSON in a Markdown fence; one wrapping is taken off."""
    match = re.fullmatch(r"\s*```(?:json)?\s*\n(.*?)\n?\s*```\s*", reply, re.DOTALL)
    return match[1] if match else reply


def _one_of(remarks: tuple[str, ...]) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "string", "enum": list(remarks)}, "minItems": 1, "maxItems": 1}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
