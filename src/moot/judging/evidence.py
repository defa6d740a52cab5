"""What judges read of a debate: the speeches under their numbers, and what was put to the speakers between.

A speech is cited by its turn: S4 is the fourth. Points of information and questions from the floor are there
so that the answers to them can be understood, and only where a speech came after; they score for nobody.
Notes, thoughts, remarks to single seats and the moderator's own words are no evidence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from moot.core.state import Debate, Turn
from moot.core.terms import Tone
from moot.judging.parties import parties

TONE_NAMES: dict[Tone, str] = {
    "opening": "opening",
    "rebuttal": "rebuttal",
    "closing": "closing",
    "summary": "summary",
    "question": "question",
    "answer": "answer",
    "continuation": "the rest of the speech",
    "floor": "answer to the floor",
}

INTERLUDE_TONES: tuple[Tone, ...] = ("question", "answer", "floor")
"""What is asked and answered between the speeches: no arguments of one's own, new or old."""


class SpeakerQuestion(Struct, frozen=True):
    """Something put to the speakers: a point of information by a seat, or a question from the floor."""

    seq: int
    text: str
    seat: str | None = None
    to: str | None = None
    """The seat that a question is put to; None: to all."""


def speech_mark(turn: Turn) -> str:
    return f"S{turn.number}"


def speeches(debate: Debate) -> tuple[Turn, ...]:
    """What can be judged and cited: all that a party has said or declined to say, as it was given."""
    debaters = {seat.id for party in parties(debate) for seat in party.seats}
    given = (turn for turn in debate.turns if (turn.has_words or _declined(turn)) and turn.seat in debaters)
    return tuple(sorted(given, key=lambda turn: turn.number))


def answerable_questions(debate: Debate) -> tuple[SpeakerQuestion, ...]:
    """What the speeches could answer."""
    last = _last_seq(debate)
    return tuple(item for item in _all_put(debate) if item.seq < last)


def pending_questions(debate: Debate) -> tuple[SpeakerQuestion, ...]:
    """What only a further speech could answer."""
    last = _last_seq(debate)
    return tuple(item for item in _all_put(debate) if item.seq > last)


def last_word(debate: Debate) -> str | None:
    """The seat that spoke last; none where several did at the same time."""
    said = [turn for turn in speeches(debate) if turn.has_words]
    if not said:
        return None
    group = debate.schedule[said[-1].slot].group
    last = {turn.seat for turn in said if debate.schedule[turn.slot].group == group}
    return said[-1].seat if len(last) == 1 else None


def speech_heading(debate: Debate, turn: Turn, given: Sequence[Turn]) -> str:
    """What kind of speech it is and what befell it, in our own words: a format's titles are its author's."""
    return TONE_NAMES[debate.tone(turn)] + "".join(f" ({note})" for note in _notes(debate, turn, given))


def _notes(debate: Debate, turn: Turn, given: Sequence[Turn]) -> Iterator[str]:
    if not debate.phase(turn.slot).new_arguments and turn.tone not in INTERLUDE_TONES:
        yield "no new arguments"
    group = debate.schedule[turn.slot].group
    together = [other for other in given if debate.schedule[other.slot].group == group]
    if together[0].number != turn.number:
        yield f"given at the same time as {speech_mark(together[0])}"
    if turn.refusal:
        yield "declined to answer"
    elif turn.state == "interrupted":
        yield "cut short"
    elif turn.truncated:
        yield "broke off"


def _declined(turn: Turn) -> bool:
    """It refused without a word: nobody hears that, but a judge is told."""
    return turn.refusal and turn.used_slot


def _all_put(debate: Debate) -> list[SpeakerQuestion]:
    points = [SpeakerQuestion(point.seq, point.text, point.seat) for point in debate.points if point.accepted]
    asked = (remark for remark in debate.remarks if remark.question)
    questions = [SpeakerQuestion(remark.seq, remark.text, to=remark.to) for remark in asked]
    return sorted((*points, *questions), key=lambda item: item.seq)


def _last_seq(debate: Debate) -> int:
    return max((turn.seq for turn in speeches(debate)), default=0)
