"""A dry run of a debate with filler text, to find the calls that it would take.

The size of each request is measured on the real prompts. No seat offers a point or concedes, and no question
comes from the audience: calls that only those would cause are planned as calls that may not be needed. A
model that stands in for a person may not be needed either.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import asdict, replace

from moot.core.events import DebateOpened, Recorded
from moot.core.evolve import evolve
from moot.core.pricing import estimate_usage as guess
from moot.core.pricing import input_bound, sent_tokens, speech_tokens
from moot.core.state import EPOCH, Aside, Debate, Turn
from moot.core.terms import BELIEF_KINDS, Judge, Model, Request, Slot, Usage
from moot.core.visibility import hears
from moot.core.word_count import count_words, tokens
from moot.judging.ballots import ORDERS
from moot.judging.belief_requests import side_question_request
from moot.judging.judge_request import (
    HELD_BYTES_PER_TOKEN,
    bytes_read,
    judge_request,
    repair_bytes,
    speech_overhead,
)
from moot.prompts.side_question_prompts import MAX_TOKENS as ASIDE_TOKENS
from moot.prompts.speech_prompts import turn_request
from moot.rules.belief_questions import beliefs_after, beliefs_before, persona_votes
from moot.rules.budget import UNJUDGED_RULES, model_judges
from moot.rules.runner_decisions import aside_model
from moot.rules.side_questions import (
    POINT_WORDS,
    SideQuestion,
    answer_word_limit,
    may_concede,
    note_words_left,
    questions_after,
    questions_before,
    referee,
    skipped_speech,
    winner_if_conceded,
)

WORD = "words"
"""With the blank after it, about as long as the words of a speech are."""
BALLOT_WORDS = 200
ANSWER_WORDS = 40
NUMBER_WORDS = 6
POINT_BYTES = 12 * POINT_WORDS
TOKENS_BY_HAND = 2
"""For each word of a person's speech, in what others read of it."""


class PlannedCall(Struct, frozen=True):
    """A call as it may come about: what it will hardly stay below, and what it can reach."""

    model: Model
    least: Usage | None
    """None where the call may not be needed at all."""
    bound: int
    max_tokens: int


class FirstRound(Struct, frozen=True):
    """What a first round may come to: its calls, and the state after it."""

    calls: tuple[PlannedCall, ...]
    debate: Debate
    longer: int
    """How many more bytes judges may have to read if every speech uses its whole budget."""


def first_round(opened: DebateOpened) -> FirstRound:
    rehearsal = _DryRun(opened)
    calls = tuple(rehearsal.speeches(rounds=1))
    return FirstRound(calls, rehearsal.debate, rehearsal.longer(rehearsal.debate.turns))


def planned_calls(opened: DebateOpened) -> Iterator[PlannedCall]:
    """Every call that may come about."""
    rehearsal = _DryRun(opened)
    yield from rehearsal.speeches()
    if opened.manner.winning in UNJUDGED_RULES or not rehearsal.debate.schedule:
        return
    for judge in model_judges(rehearsal.debate.panel):
        for order in ORDERS:
            yield from rehearsal.ballot_calls(judge, order)


class _DryRun:
    """The state of the debate so far, and what it may have heard beyond the filler."""

    def __init__(self, opened: DebateOpened) -> None:
        self.people = {seat.id for seat in opened.seats if seat.model.human}
        seated = tuple(
            replace(seat, model=seat.stand_in) if seat.model.human and seat.stand_in else seat
            for seat in opened.seats
        )
        self.debate = evolve(None, Recorded("deb_0", 1, EPOCH, 0, replace(opened, seats=seated)))
        self._extra_bytes = 0
        """Bytes of points that may be taken, and of speeches that usually fall out."""

    def speeches(self, rounds: int | None = None) -> Iterator[PlannedCall]:
        for slot in self.debate.schedule:
            if rounds is not None and slot.round > rounds:
                return
            dropped = skipped_speech(self.debate, slot)
            for question in () if dropped else questions_before(self.debate, (slot,)):
                yield from self._asked(question, certain=True, answer=self._words_of(question))
            asked = (*persona_votes(self.debate, "before"), *beliefs_before(self.debate, (slot,)))
            for question in () if dropped else asked:
                yield from self._asked(question, certain=True)
            turn, request = self._turn(slot), None
            if not self.debate.seat(slot.seat).model.human:
                request = turn_request(self.debate, turn)
                yield self._speech(turn, request, certain=not dropped and slot.seat not in self.people)
            if dropped:
                self._drop(slot, request)
                continue
            self._give(turn, request)
            yield from self._aside_calls()
        for question in persona_votes(self.debate, "after"):
            yield from self._asked(question, certain=True)

    def ballot_calls(self, judge: Judge, order: int) -> Iterator[PlannedCall]:
        """A ballot, and its repair. Without automatic judging neither may be needed."""
        request = judge_request(self.debate, judge, order)
        words = _filler(BALLOT_WORDS, request.max_tokens)
        bound = input_bound(request) + self.longer(self.debate.turns)
        least = _usage(request, words) if self.debate.manner.auto_judge else None
        yield PlannedCall(request.model, least, bound, request.max_tokens)
        yield PlannedCall(request.model, None, bound + repair_bytes(request), request.max_tokens)

    def _speech(self, turn: Turn, request: Request, *, certain: bool) -> PlannedCall:
        words = _filler(self.debate.word_budget(turn.slot), request.max_tokens)
        speeches = [self.debate.turn(item.turn) for item in hears(self.debate, turn) if item.turn]
        bound = input_bound(request) + self._extra_bytes
        bound += sum(_longer(self.debate, speech, thoughts=True) for speech in speeches if speech)
        return PlannedCall(
            request.model, _usage(request, words) if certain else None, bound, request.max_tokens
        )

    def _aside_calls(self) -> Iterator[PlannedCall]:
        """What the speech that was just given may lead to."""
        turn = self.debate.turns[-1]
        for question in questions_after(self.debate):
            yield from self._asked(question, certain=True)
            self._extra_bytes += POINT_BYTES
        if self.debate.asides and self.debate.asides[-1].turn == turn.number:
            yield from self._asked(SideQuestion("leave", turn.slot, turn.seat, turn=turn.number))
        if _may_concede(self.debate, turn):
            yield from self._asked(SideQuestion("concession", turn.slot, turn.seat, turn=turn.number))
            if question := referee(self.debate, turn):
                yield from self._asked(question)
        for question in beliefs_after(self.debate):
            yield from self._asked(question, certain=True)

    def _asked(
        self, question: SideQuestion, *, certain: bool = False, answer: str = ""
    ) -> Iterator[PlannedCall]:
        """A question aside and its answer; one that may not come leaves no trace in the rehearsal."""
        aside = Aside(
            number=len(self.debate.asides) + 1,
            seq=self._seq(),
            asked_at=EPOCH,
            **asdict(question),
        )
        model = aside_model(self.debate, aside)
        is_belief = aside.kind in BELIEF_KINDS
        if model.human or (model.small and not is_belief):
            return
        request = side_question_request(self.debate, aside, model, answer_word_limit(self.debate, aside))
        bound = input_bound(request) + self._extra_bytes
        if aside.kind == "notes" or is_belief:
            bound += sum(_longer(self.debate, speech, thoughts=True) for speech in self.debate.turns)
        words = answer or _filler(NUMBER_WORDS if is_belief else ANSWER_WORDS, request.max_tokens)
        sure = certain and aside.seat not in self.people
        yield PlannedCall(model, _usage(request, words) if sure else None, bound, request.max_tokens)
        if certain:
            answered = replace(aside, state="answered", text=answer)
            self.debate = replace(self.debate, asides=(*self.debate.asides, answered))

    def _words_of(self, question: SideQuestion) -> str:
        return _filler(note_words_left(self.debate, question.seat or ""), ASIDE_TOKENS)

    def _turn(self, slot: Slot) -> Turn:
        return Turn(
            number=slot.index + 1,
            slot=slot.index,
            round=slot.round,
            phase=self.debate.format.phases[slot.phase].key,
            tone=slot.tone,
            seat=slot.seat,
            seq=self._seq(),
            started_at=EPOCH,
        )

    def _give(self, turn: Turn, request: Request | None) -> None:
        """The speech as it would have been given."""
        budget = self.debate.word_budget(turn.slot)
        most = request.max_tokens if request else self._by_hand(turn.slot)
        text = _filler(budget, most)
        speech = replace(turn, state="completed", text=text, words=count_words(text), max_tokens=most)
        self.debate = replace(self.debate, turns=(*self.debate.turns, speech))

    def _by_hand(self, slot: int) -> int:
        """Tokens of a speech that a person gives."""
        if self.debate.cost_limit is not None:
            return speech_tokens(self.debate, slot)
        return self.debate.word_budget(slot) * TOKENS_BY_HAND

    def _drop(self, slot: Slot, request: Request | None) -> None:
        self.debate = replace(self.debate, skipped=(*self.debate.skipped, slot.index))
        if request:
            read = bytes_read(self.debate, slot.index, request.max_tokens)
            self._extra_bytes += read + speech_overhead(self.debate)

    def _seq(self) -> int:
        return 2 + len(self.debate.turns) + len(self.debate.asides)

    def longer(self, speeches: Sequence[Turn]) -> int:
        """By how many bytes what a judge reads can be longer than the filler."""
        return self._extra_bytes + sum(_longer(self.debate, speech) for speech in speeches)


def _may_concede(debate: Debate, turn: Turn) -> bool:
    speaks = debate.seat(turn.seat).role == "debater"
    return speaks and may_concede(debate) and winner_if_conceded(debate, turn.seat) is not None


def _longer(debate: Debate, speech: Turn, *, thoughts: bool = False) -> int:
    """By how many bytes a speech that fills its room is longer than the filler; with `thoughts`, also what
    was left for those, since a debater hears whatever was said there."""
    capacity = bytes_read(debate, speech.slot, speech.max_tokens)
    if thoughts and debate.cost_limit is not None:
        capacity = max(capacity, speech.max_tokens * HELD_BYTES_PER_TOKEN)
    return max(0, capacity - len(speech.text))


def _filler(words: int, max_tokens: int) -> str:
    return " ".join([WORD] * max(1, min(words, max_tokens)))


def _usage(request: Request, output: str) -> Usage:
    figures = guess(sent_tokens(request), tokens(output))
    return replace(figures, output=min(figures.output, request.max_tokens))
