"""What is asked beside the speeches, and what follows from the answers.

An aside is a short question to one seat, or to a judge as referee: to make notes before a speech; whether one
rises on a point of information, and whether the speaker takes it; whether one has conceded, and whether that
is so. It is never part of a speech, nobody else hears it, and no answer means no.

Models too small for a question of this kind are not asked: they make no notes, rise on no point, take the
first one that is put to them, and do not concede.
"""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct

from moot.core.events import PointRaised, TurnSkipped
from moot.core.schedule import opposed, seats_by_side
from moot.core.state import Aside, Debate, Turn
from moot.core.terms import AsideKind, Seat, Slot
from moot.core.word_count import count_words
from moot.prompts.question_prompts import CRITIQUE, DRAFT, gives_answers
from moot.prompts.speaker_names import teammates
from moot.prompts.templates import CONCEDE

ANSWER_SECONDS = 30.0
"""How long a person has to say whether they take a point."""
POINT_WORDS = 40
REASON_WORDS = 60
CRITIQUE_WORDS = 100
REVISION_STEPS = 2
"""A draft and its critique."""
MIN_NOTE_WORDS = 20
"""Fewer words of notes than this are not worth a call."""
MIN_CLOCK_WORDS = 10
"""A side with fewer words than this on its clock has used it up."""

CONCESSION_HINTS = re.compile(
    r"\bI (?:hereby |must |have to |do |now |fully |honestly )*"
    r"(?:concede|give way|stand corrected|withdraw my)\b"
    r"|\bI (?:have been|was|am) (?:honestly |fully )?(?:persuaded|convinced) (?:by|that)\b"
    r"|\b(?:my opponent|the other side|you) (?:has|have|is|are) (?:won me over|right, and I)\b"
    r"|\bI (?:now |must |have to |fully |completely |entirely |wholly )*"
    r"agree with (?:you|my opponent|the other side)(?: (?:completely|entirely|on everything))?[.!]"
    r"|\b(?:you're|you are|my opponent is|the other side is) (?:completely |entirely )?right[.!]",
    re.IGNORECASE,
)
_GIVING_WAY = (
    r"(?:I|we) (?:hereby |must |have to |do |now |fully |completely |entirely |wholly |totally |honestly )*"
    r"(?:agree|concur|yield|surrender|resign|give (?:up|in|way)|admit defeat)"
    r"(?: (?:with|to) (?:you|my opponent|the other side))?(?: (?:completely|entirely|fully|on everything))?"
    r"|(?:you(?:['’]re| are)|my opponent is|the other side is) (?:completely |entirely |absolutely )?right"
    r"|(?:you|my opponent|the other side) (?:win|wins|have won|has won)"
    r"|(?:you|my opponent|the other side) (?:have |has |['’]ve )?(?:persuaded|convinced) me"
)
BARE_AGREEMENT = re.compile(
    rf"(?:^|(?<=[.!?…]))[ \t]*[*_]*(?:(?:well|yes|okay|ok|fine|very well|all right),? )?(?:{_GIVING_WAY})"
    rf"(?:(?:,|;| and|, and) (?:{_GIVING_WAY}))*[*_]*(?:[.!]+[*_]*|$)"
    r"(?!\s*(?:but|however|yet|still|nevertheless|nonetheless|even so|that said)\b)",
    re.IGNORECASE | re.MULTILINE,
)
"""A sentence that is nothing but agreement, and that the next one does not take back: "I agree with you that
it costs, but …" and "I agree. But …" are courtesy, about which nobody is asked."""
_SENTENCE = re.compile(r"[^.!?。！？\n]*[.!?。！？]?")
MAX_HINT_CHARS = 300
LONGEST_HINTED = 20_000
"""Characters at the end of a speech in which such words are looked for: a megabyte would take its time."""


class SideQuestion(Struct, frozen=True):
    kind: str
    slot: int
    seat: str | None = None
    judge: str | None = None
    turn: int | None = None
    about: str = ""
    persona: str = ""
    """Who is asked, where it is neither a seat nor a judge."""


def questions_after(debate: Debate) -> tuple[SideQuestion, ...]:
    """What the latest speech gives rise to: has its speaker conceded, does anybody rise on a point?"""
    latest = latest_turns(debate)
    conceding = tuple(question for turn in latest for question in _concession_questions(debate, turn))
    if conceding or not latest or not _at_break(debate, latest[-1]):
        return conceding
    return _point_questions(debate, latest[-1])


def questions_before(debate: Debate, coming: tuple[Slot, ...]) -> tuple[SideQuestion, ...]:
    """The speakers of these slots make notes first; where speeches are revised, a draft and its critique."""
    if debate.setup.question is not None and debate.setup.question.revise:
        return tuple(step for slot in coming if (step := _revision_step(debate, slot)) is not None)
    with_notes = {(aside.slot, aside.seat) for aside in debate.asides if aside.kind == "notes"}
    return tuple(
        SideQuestion("notes", slot.index, slot.seat)
        for slot in coming
        if (slot.index, slot.seat) not in with_notes
        and makes_notes(debate, slot)
        and note_words_left(debate, slot.seat) >= MIN_NOTE_WORDS
    )


def _revision_step(debate: Debate, slot: Slot) -> SideQuestion | None:
    """The draft of a speech on a question, then the critique of the draft; None where both are there, or the
    draft has failed."""
    seat = debate.seat(slot.seat)
    made = {
        aside.about: aside
        for aside in debate.asides
        if aside.kind == "notes" and (aside.slot, aside.seat) == (slot.index, slot.seat)
    }
    if seat.role != "debater" or not _may_be_asked(seat) or gives_answers(debate):
        return None
    if DRAFT not in made:
        return SideQuestion("notes", slot.index, slot.seat, about=DRAFT)
    if made[DRAFT].text and CRITIQUE not in made:
        return SideQuestion("notes", slot.index, slot.seat, about=CRITIQUE)
    return None


def latest_turns(debate: Debate, *, of_debaters: bool = False) -> tuple[Turn, ...]:
    """The latest speech that counts, and those given at the same time."""
    counted = (turn for turn in reversed(debate.turns) if turn.used_slot)
    last = next((turn for turn in counted if not of_debaters or is_debater(debate, turn.seat)), None)
    if last is None:
        return ()
    group = debate.schedule[last.slot].group
    return tuple(
        turn for turn in debate.turns if turn.used_slot and debate.schedule[turn.slot].group == group
    )


def is_debater(debate: Debate, seat_id: str) -> bool:
    return debate.seat(seat_id).role == "debater"


def summary_slots(debate: Debate) -> tuple[Slot, ...]:
    """The moderator's summary, where the format has one that is still to be given."""
    return tuple(
        slot
        for slot in debate.remaining_slots()
        if slot.tone == "summary" and not is_debater(debate, slot.seat)
    )


def answer_word_limit(debate: Debate, aside: Aside) -> int:
    """How many words an answer may have."""
    if aside.kind == "notes":
        return words_of_notes(debate, aside)
    return POINT_WORDS if aside.kind == "point" else REASON_WORDS


def asides_about(debate: Debate, kind: AsideKind, turn: int) -> tuple[Aside, ...]:
    """The side questions of this kind about this speech."""
    return tuple(aside for aside in debate.asides if aside.kind == kind and aside.turn == turn)


# --- points of information ----------------------------------------------------------------------------


def _at_break(debate: Debate, turn: Turn) -> bool:
    """Whether the speech is at its break, where points may be offered, and none has been dealt with."""
    second_part = continuation(debate, debate.schedule[turn.slot])
    unspent = debate.remaining_slots()
    if second_part is None or not unspent or unspent[0].index != second_part.index or not turn.has_words:
        return False
    return all(point.turn != turn.number for point in debate.points)


def continuation(debate: Debate, slot: Slot) -> Slot | None:
    """The second half of the speech that begins in this slot, if it has a break."""
    following = debate.schedule[slot.index + 1] if slot.index + 1 < len(debate.schedule) else None
    if following is None or following.tone != "continuation" or slot.tone == "continuation":
        return None
    return following if (following.phase, following.seat) == (slot.phase, slot.seat) else None


def _point_questions(debate: Debate, turn: Turn) -> tuple[SideQuestion, ...]:
    answered = {aside.seat for aside in asides_about(debate, "point", turn.number)}
    others = [
        seat
        for side in seats_by_side(debate.seats)
        for seat in side
        if opposed(debate.seats, seat.id, turn.seat) and seat.id not in answered and _may_be_asked(seat)
    ]
    if others:
        return tuple(SideQuestion("point", turn.slot, seat.id, turn=turn.number) for seat in others)
    if debate.offered_point(turn.number) is None or asides_about(debate, "leave", turn.number):
        return ()
    if debate.seat(turn.seat).model.small:
        return ()
    return (SideQuestion("leave", turn.slot, turn.seat, turn=turn.number),)


def _may_be_asked(seat: Seat) -> bool:
    """Only models are asked, and not the smallest: people offer points by themselves."""
    return not (seat.model.human or seat.model.small)


def points_raised(debate: Debate) -> tuple[PointRaised, ...]:
    """A point that was offered and answered, and is not recorded yet."""
    turn = next(reversed(latest_turns(debate)), None)
    if turn is None or not _at_break(debate, turn):
        return ()
    offered = debate.offered_point(turn.number)
    if offered is None or offered.seat is None:
        return ()
    accepted = _accepts_point(debate, turn)
    return (PointRaised(len(debate.points) + 1, turn.number, offered.seat, accepted, offered.text),)


def _accepts_point(debate: Debate, turn: Turn) -> bool:
    leave = asides_about(debate, "leave", turn.number)
    if leave:
        return leave[-1].yes
    return debate.seat(turn.seat).model.small and debate.points_taken(turn.seat) == 0


# --- notes --------------------------------------------------------------------------------------------


def makes_notes(debate: Debate, slot: Slot) -> bool:
    """Notes are made before a speech, never within a cross-examination or in the middle of a speech."""
    if not (debate.setup.prep and debate.format.prep_words):
        return False
    seat = debate.seat(slot.seat)
    speaks = debate.format.phases[slot.phase].kind == "speech" and slot.tone != "continuation"
    return speaks and seat.role == "debater" and _may_be_asked(seat)


def words_of_notes(debate: Debate, notes: SideQuestion | Aside) -> int:
    if notes.about == DRAFT:
        return debate.word_budget(notes.slot)
    return CRITIQUE_WORDS if notes.about == CRITIQUE else note_words_left(debate, notes.seat or "")


def note_words_left(debate: Debate, seat: str) -> int:
    """Words of notes for the coming speech: what its team has left, shared among the speeches left."""
    team = {seat, *(mate.id for mate in teammates(debate, debate.seat(seat))[0])}
    used = sum(
        count_words(aside.text) for aside in debate.asides if aside.kind == "notes" and aside.seat in team
    )
    speeches = sum(slot.seat in team and makes_notes(debate, slot) for slot in debate.remaining_slots())
    return max(0, debate.format.prep_words - used) // max(1, speeches)


# --- speeches that are skipped ------------------------------------------------------------------------


def skipped_speech(debate: Debate, slot: Slot) -> tuple[TurnSkipped, ...]:
    """Skip an answer to the audience without a question, and a speech of a side whose clock has run out."""
    phase = debate.format.phases[slot.phase]
    if phase.kind == "questions" and not _is_asked(debate, slot.seat):
        return (TurnSkipped(slot.index, slot.seat, "no questions"),)
    if phase.clock and debate.clock_words_left(slot) < MIN_CLOCK_WORDS:
        return (TurnSkipped(slot.index, slot.seat, "clock"),)
    return ()


def _is_asked(debate: Debate, seat: str) -> bool:
    """Whether the audience has asked everybody, or this seat since its last speech."""
    spoke = max((turn.seq for turn in debate.turns if turn.seat == seat and turn.has_words), default=0)
    questions = (remark for remark in debate.remarks if remark.question)
    return any(remark.to is None or (remark.to == seat and remark.seq > spoke) for remark in questions)


# --- concession ---------------------------------------------------------------------------------------


def _concession_questions(debate: Debate, turn: Turn) -> tuple[SideQuestion, ...]:
    """Words that sound like a concession are only a hint: the debater is asked, and then a referee."""
    hint = concession_hint(debate, turn)
    if not hint or asides_about(debate, "referee", turn.number):
        return ()
    own = asides_about(debate, "concession", turn.number)
    person = debate.seat(turn.seat).model.human
    if not own and not person:
        return (SideQuestion("concession", turn.slot, turn.seat, turn=turn.number, about=hint),)
    if own and not own[-1].yes:
        return ()
    question = referee(debate, turn)
    return (question,) if question else ()


def referee(debate: Debate, turn: Turn) -> SideQuestion | None:
    """A judge of this debate; else the debater's own model, asked without its history. None for a person."""
    hint = concession_hint(debate, turn)
    for judge in debate.panel:
        if not (judge.model.human or judge.model.small):
            return SideQuestion("referee", turn.slot, judge=judge.id, turn=turn.number, about=hint)
    if debate.seat(turn.seat).model.human:
        return None
    return SideQuestion("referee", turn.slot, turn.seat, turn=turn.number, about=hint)


def concession_hint(debate: Debate, turn: Turn) -> str:
    """The passage of a speech that sounds like a concession; empty without one, or where nobody may
    concede."""
    seat = debate.seat(turn.seat)
    if not may_concede(debate) or seat.model.small or seat.role != "debater":
        return ""
    if turn.state != "completed" or not turn.has_words or winner_if_conceded(debate, turn.seat) is None:
        return ""
    return _hint_in(turn.text, by_hand=seat.model.human)


@lru_cache(maxsize=256)
def _hint_in(text: str, *, by_hand: bool) -> str:
    """Kept for the latest speeches: the next step is planned several times after each, and the search took a
    tenth of the time of a change of turns."""
    last = text.strip().splitlines()[-1].strip()
    if last.casefold() == CONCEDE.casefold():
        return last
    end = text[-LONGEST_HINTED:]
    if by_hand:
        return ""
    if hint := CONCESSION_HINTS.search(end):
        return _sentence(end, hint.start())
    bare = BARE_AGREEMENT.search(end)
    return bare[0].strip()[:MAX_HINT_CHARS] if bare else ""


def may_concede(debate: Debate) -> bool:
    """In a free debate always; else where the winning condition says so, and no fixed table is held."""
    if debate.format.scripted:
        return False
    return debate.format.turns is not None or debate.setup.winning == "self-terminate"


def _sentence(text: str, position: int) -> str:
    around = next(match for match in _SENTENCE.finditer(text) if match.end() > position)
    return around[0].strip()[:MAX_HINT_CHARS]


def winner_if_conceded(debate: Debate, seat: str) -> Seat | None:
    """Who wins if this seat concedes; None where there are more than two parties."""
    debaters = [other for other in debate.seats if other.role == "debater"]
    if len(debaters) > 2 and any(other.side == "neutral" for other in debaters):
        return None
    others = (side for side in seats_by_side(debate.seats) if all(member.id != seat for member in side))
    return next((side[0] for side in others if side), None)
