"""What judges read of a debate: the numbered speeches, and the questions that were put to the speakers.

A speech is cited by its turn: S4 is the fourth. Points of information and questions from the audience are
included so that the answers can be understood, and only if a speech follows; they score for nobody. So are
the judge's own questions in a debate about a question with given answers. Notes, reasoning, remarks to single
seats and a moderator's other words are not evidence.
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
"""Questions and answers between the speeches."""


class SpeakerQuestion(Struct, frozen=True):
    """A point of information by a seat, or a question from the audience or of the judge."""

    seq: int
    text: str
    seat: str | None = None
    to: str | None = None
    """The seat that a question is put to; None: to all."""
    by_judge: bool = False
    """Whether the judge has asked it between the rounds."""


def speech_mark(turn: Turn) -> str:
    return f"S{turn.number}"


def speeches(debate: Debate) -> tuple[Turn, ...]:
    """What can be judged and cited: the speeches of all parties, also those that were declined, in order. Not
    those of a round that the cost limit cut: one side would have a speech that the other was denied."""
    debaters = {seat.id for party in parties(debate) for seat in party.seats}
    spoken = (turn for turn in debate.turns if (turn.has_words or _declined(turn)) and turn.seat in debaters)
    turns = (turn for turn in spoken if not debate.cut_round or turn.round != debate.cut_round)
    return tuple(sorted(turns, key=lambda turn: turn.number))


def answerable_questions(debate: Debate) -> tuple[SpeakerQuestion, ...]:
    """The questions that a later speech could answer."""
    last = _last_seq(debate)
    return tuple(item for item in _all_put(debate) if item.seq < last)


def pending_questions(debate: Debate) -> tuple[SpeakerQuestion, ...]:
    """The questions that only a further speech could answer."""
    last = _last_seq(debate)
    return tuple(item for item in _all_put(debate) if item.seq > last)


def last_word(debate: Debate) -> str | None:
    """The seat that spoke last; none where several did at the same time."""
    spoken = [turn for turn in speeches(debate) if turn.has_words]
    if not spoken:
        return None
    group = debate.schedule[spoken[-1].slot].group
    last = {turn.seat for turn in spoken if debate.schedule[turn.slot].group == group}
    return spoken[-1].seat if len(last) == 1 else None


def speech_heading(debate: Debate, turn: Turn, turns: Sequence[Turn]) -> str:
    """The kind of the speech with notes, in our own words: the titles of a format are untrusted text."""
    return TONE_NAMES[debate.tone(turn)] + "".join(f" ({note})" for note in _notes(debate, turn, turns))


def _notes(debate: Debate, turn: Turn, turns: Sequence[Turn]) -> Iterator[str]:
    if not debate.phase(turn.slot).new_arguments and turn.tone not in INTERLUDE_TONES:
        yield "no new arguments"
    group = debate.schedule[turn.slot].group
    together = [other for other in turns if debate.schedule[other.slot].group == group]
    if together[0].number != turn.number:
        yield f"given at the same time as {speech_mark(together[0])}"
    if turn.refusal:
        yield "declined to answer"
    elif turn.state == "interrupted":
        yield "cut short"
    elif turn.truncated:
        yield "broke off"


def _declined(turn: Turn) -> bool:
    """Whether the model refused without any text: speakers do not hear that, but judges read it."""
    return turn.refusal and turn.used_slot


def _all_put(debate: Debate) -> list[SpeakerQuestion]:
    points = [SpeakerQuestion(point.seq, point.text, point.seat) for point in debate.points if point.accepted]
    remarks = (remark for remark in debate.remarks if remark.question)
    questions = [SpeakerQuestion(remark.seq, remark.text, to=remark.to) for remark in remarks]
    return sorted((*points, *questions, *_asked_by_judge(debate)), key=lambda item: item.seq)


def _asked_by_judge(debate: Debate) -> list[SpeakerQuestion]:
    if debate.setup.question is None:
        return []
    askers = {seat.id for seat in debate.seats if seat.role == "moderator"}
    asked = (turn for turn in debate.turns if turn.has_words and turn.seat in askers)
    return [SpeakerQuestion(turn.seq, debate.heard_text(turn), by_judge=True) for turn in asked]


def _last_seq(debate: Debate) -> int:
    return max((turn.seq for turn in speeches(debate)), default=0)
