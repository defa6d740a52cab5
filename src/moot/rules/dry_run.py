"""A dry run of what is left of a debate, with filler text, to find the calls that it will take.

The size of each request is measured on the real prompts, what was said already included. No seat offers a
point or concedes, and no question comes from the audience: calls that only those would cause are planned as
calls that may not be needed. A model that stands in for a person may not be needed either. What a call is
expected to take follows the words of its budget and what its model has used in this debate so far.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import ceil

from msgspec import Struct
from msgspec.structs import asdict, replace

from moot.core.errors import Fault
from moot.core.events import DebateOpened, Recorded
from moot.core.evolve import evolve
from moot.core.pricing import (
    ballot_tokens,
    input_bound,
    least_tokens,
    sent_tokens,
    speech_tokens,
    usual_thoughts,
)
from moot.core.state import EPOCH, Aside, Debate, Turn
from moot.core.terms import ASIDE_KINDS, Judge, Model, Request, Slot, Usage
from moot.core.token_bounds import tokens_by_script
from moot.core.visibility import hears
from moot.core.word_count import OVERRUN_FACTOR, count_words, tokens
from moot.extension import loaded
from moot.judging.ballots import ORDERS
from moot.judging.judge_request import bytes_read, judge_request, repair_bytes, speech_overhead
from moot.judging.parties import parties
from moot.prompts.side_question_prompts import MAX_TOKENS as ASIDE_TOKENS
from moot.prompts.speech_prompts import turn_request
from moot.prompts.templates import clip
from moot.rules.extension_questions import (
    asked_after,
    asked_at_end,
    asked_before,
    side_question_model,
    side_question_request,
)
from moot.rules.side_questions import (
    POINT_WORDS,
    REVISION_STEPS,
    SideQuestion,
    answer_word_limit,
    may_concede,
    questions_after,
    questions_before,
    referee,
    skipped_speech,
    winner_if_conceded,
    words_of_notes,
)

WORD = "words"
"""With the blank after it, about as long as the words of a speech are."""
BALLOT_WORDS, BALLOT_PARTY_WORDS, BALLOT_CRITERION_WORDS = 150, 60, 30
"""Words of an ordinary ballot: its reasoning, what it says of each party, and of each criterion."""
ANSWER_WORDS = 40
POINT_BYTES = 12 * POINT_WORDS
TOKENS_BY_HAND = 2
"""For each word of a person's speech, in what others read of it."""
UNJUDGED_RULES = ("user-decides", "audience")


class PlannedCall(Struct, frozen=True):
    """A call as it may come about: what it will take, and what it can reach."""

    model: Model
    expected: Usage | None
    """None where the call may not be needed at all."""
    bound: int
    """The most input tokens."""
    least: int
    """The fewest output tokens with which it is made."""
    max_tokens: int
    round: int = 0
    """Of a speech and of questions beside it; 0 when the speeches are over."""
    turn: int | None = None
    judge: str | None = None
    order: int = 0
    repair: bool = False

    @property
    def ballot(self) -> bool:
        return self.judge is not None and not self.repair


class Habit(Struct, frozen=True):
    """How a model has spoken in this debate so far."""

    text: float = 1.0
    """Tokens of its speeches, compared with what their word budgets let one expect."""
    thoughts: float = 0.0
    """Tokens of reasoning in a call."""


def opened_debate(opened: DebateOpened) -> Debate:
    return evolve(None, Recorded("deb_0", 1, EPOCH, 0, opened))


def planned_calls(debate: Debate, last_round: int | None = None) -> Iterator[PlannedCall]:
    """Every call that may come about until the verdict; with `last_round`, as if that were the last one."""
    dry_run = _DryRun(debate)
    if not debate.being_judged:
        yield from dry_run.speeches(last_round)
    yield from dry_run.ballots()


def planned_ballots(debate: Debate) -> Iterator[PlannedCall]:
    """The ballots on what was said so far."""
    yield from _DryRun(debate).ballots()


def habits(debate: Debate) -> dict[str, Habit]:
    """By label of the model, from its speeches in the rounds that are complete; what is usual counts as one
    more. Not from the present round: there all speakers are given the same."""
    spoken: dict[str, list[Habit]] = {}
    for turn in debate.turns:
        model = debate.seat(turn.seat).model
        if (
            turn.state != "completed"
            or model.human
            or not turn.usage.output
            or turn.round > debate.rounds_done
        ):
            continue
        said = tokens(turn.text)
        budget = tokens(_filler(debate.word_budget(turn.slot), model.max_tokens))
        thoughts = max(turn.usage.reasoning, turn.usage.output - said)
        usual = [Habit(thoughts=usual_thoughts(model))]
        spoken.setdefault(model.label, usual).append(Habit(said / budget, float(thoughts)))
    return {
        label: Habit(
            sum(habit.text for habit in seen) / len(seen), sum(habit.thoughts for habit in seen) / len(seen)
        )
        for label, seen in spoken.items()
    }


def expected_thoughts(model: Model, known: dict[str, Habit]) -> float:
    return known[model.label].thoughts if model.label in known else usual_thoughts(model)


def model_judges(judges: tuple[Judge, ...]) -> tuple[Judge, ...]:
    """The judges that are models, and so cost money."""
    return tuple(judge for judge in judges if not judge.model.human)


class _DryRun:
    """The state of the debate so far, and what it may have heard beyond the filler."""

    def __init__(self, debate: Debate) -> None:
        self.people = {seat.id for seat in debate.seats if seat.model.human}
        seated = tuple(
            replace(seat, model=seat.stand_in) if seat.model.human and seat.stand_in else seat
            for seat in debate.seats
        )
        self.debate = replace(debate, seats=seated, live=())
        self._live = debate.live
        self._under_way = frozenset(call.number for call in debate.calls)
        self._habits = habits(debate)
        self._first = debate.seq + 1
        self._fillers: set[int] = set()
        """The numbers of the speeches that are filler."""
        first = next(iter(debate.remaining_slots()), None)
        coming = {slot.index for slot in debate.schedule if first and slot.group == first.group}
        self._next = {turn.slot for turn in debate.live} or coming
        """The slots of the speeches that are being given, or come next."""
        self._extra = 0
        """Tokens of points that may be taken, and of speeches that usually fall out."""

    def speeches(self, last_round: int | None = None) -> Iterator[PlannedCall]:
        for turn in self._live:
            request = self._request(turn)
            if request is not None and turn.call not in self._under_way:
                yield self._speech(turn, request, certain=turn.seat not in self.people)
            self._give(turn, request)
        for slot in self.debate.remaining_slots():
            if last_round is None or slot.round <= last_round:
                yield from self._slot(slot)
        for question in asked_at_end(self.debate):
            yield from self._asked(question, 0, certain=True)

    def _slot(self, slot: Slot) -> Iterator[PlannedCall]:
        dropped = skipped_speech(self.debate, slot)
        for _ in range(0 if dropped else REVISION_STEPS):
            for question in questions_before(self.debate, (slot,)):
                yield from self._asked(question, slot.round, certain=True, answer=self._words_of(question))
        for question in () if dropped else asked_before(self.debate, (slot,)):
            yield from self._asked(question, slot.round, certain=True)
        turn = self._turn(slot)
        request = self._request(turn)
        if request is not None:
            yield self._speech(turn, request, certain=not dropped and slot.seat not in self.people)
        if dropped:
            self._drop(slot, request)
            return
        self._give(turn, request)
        yield from self._aside_calls()

    def ballots(self) -> Iterator[PlannedCall]:
        """The ballots that are missing and not under way; those of a judging that has not begun, of all
        judges."""
        judging = self.debate.judging if self.debate.being_judged else None
        if judging is None and (self.debate.setup.winning in UNJUDGED_RULES or not self.debate.schedule):
            return
        asked = {(call.judge, call.order) for call in self.debate.calls if call.judge and call.aside is None}
        for judge in model_judges(judging.judges if judging else self.debate.panel):
            for order in ORDERS:
                if (judge.id, order) not in asked and not (judging and judging.has_ballot(judge.id, order)):
                    yield from self._ballot_calls(judge, order)

    def _ballot_calls(self, judge: Judge, order: int) -> Iterator[PlannedCall]:
        """A ballot, and its repair. Without automatic judging neither may be needed."""
        request = judge_request(self.debate, judge, order)
        words, text = self._ballot_length(judge)
        bound = input_bound(request) + self._longer(self.debate.turns, judged=True)
        certain = self.debate.setup.auto_judge or self.debate.being_judged
        thoughts = usual_thoughts(judge.model)
        expected = _usage(request, words, thoughts) if certain else None
        least = least_tokens(text, thoughts, request.max_tokens)
        ballot = PlannedCall(
            request.model, expected, bound, least, request.max_tokens, judge=judge.id, order=order
        )
        yield ballot
        yield replace(ballot, expected=None, bound=bound + repair_bytes(request), repair=True)

    def _ballot_length(self, judge: Judge) -> tuple[int, int]:
        """How many words a ballot is expected to have, and tokens at most."""
        sides, criteria = len(parties(self.debate)), len(judge.criteria)
        words = BALLOT_WORDS + BALLOT_PARTY_WORDS * sides + BALLOT_CRITERION_WORDS * criteria
        return words, ballot_tokens(self.debate, sides, criteria)

    def _request(self, turn: Turn) -> Request | None:
        return None if self.debate.seat(turn.seat).model.human else turn_request(self.debate, turn)

    def _speech(self, turn: Turn, request: Request, *, certain: bool) -> PlannedCall:
        speeches = [self.debate.turn(item.turn) for item in hears(self.debate, turn) if item.turn]
        bound = input_bound(request) + self._longer(speech for speech in speeches if speech)
        # A provider that continues its own earlier replies reads their reasoning again.
        bound += sum(other.usage.reasoning for other in self.debate.turns if other.seat == turn.seat)
        thoughts = expected_thoughts(request.model, self._habits)
        words = ceil(self.debate.word_budget(turn.slot) * self._habits.get(request.model.label, Habit()).text)
        return PlannedCall(
            request.model,
            _usage(request, words, thoughts) if certain else None,
            bound,
            least_tokens(speech_tokens(self.debate, turn.slot), thoughts, request.max_tokens),
            request.max_tokens,
            round=turn.round,
            turn=turn.number,
        )

    def _aside_calls(self) -> Iterator[PlannedCall]:
        """What the speech that was just given may lead to."""
        turn = self.debate.turns[-1]
        for question in questions_after(self.debate):
            yield from self._asked(question, turn.round, certain=True)
            self._extra += POINT_BYTES
        if self.debate.asides and self.debate.asides[-1].turn == turn.number:
            question = SideQuestion("leave", turn.slot, turn.seat, turn=turn.number)
            yield from self._asked(question, turn.round)
        if _may_concede(self.debate, turn):
            question = SideQuestion("concession", turn.slot, turn.seat, turn=turn.number)
            yield from self._asked(question, turn.round)
            if question := referee(self.debate, turn):
                yield from self._asked(question, turn.round)
        for question in asked_after(self.debate):
            yield from self._asked(question, turn.round, certain=True)

    def _asked(
        self, question: SideQuestion, round: int, *, certain: bool = False, answer: str = ""
    ) -> Iterator[PlannedCall]:
        """A question aside and its answer; one that may not come leaves no trace in the dry run."""
        aside = Aside(
            number=len(self.debate.asides) + 1,
            seq=self._seq(),
            asked_at=EPOCH,
            **asdict(question),
        )
        model, of_extension = side_question_model(self.debate, aside), aside.kind not in ASIDE_KINDS
        if model is None or model.human or (model.small and not of_extension):
            return
        try:
            request = side_question_request(self.debate, aside, model, answer_word_limit(self.debate, aside))
        except Fault:
            return
        heard = self.debate.turns if aside.kind == "notes" or of_extension else ()
        bound = input_bound(request) + self._longer(heard)
        words = count_words(answer) if answer else _answer_words(aside.kind)
        sure = certain and aside.seat not in self.people
        expected = _usage(request, words) if sure else None
        most = request.max_tokens
        yield PlannedCall(model, expected, bound, most, most, round=round)
        if certain:
            answered = replace(aside, state="answered", text=answer)
            self.debate = replace(self.debate, asides=(*self.debate.asides, answered))

    def _words_of(self, question: SideQuestion) -> str:
        return _filler(words_of_notes(self.debate, question), ASIDE_TOKENS)

    def _turn(self, slot: Slot) -> Turn:
        return Turn(
            number=1 + max((turn.number for turn in self.debate.turns), default=0),
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
        self._fillers.add(turn.number)
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
            self._extra += read + speech_overhead(self.debate)

    def _seq(self) -> int:
        return self._first + len(self.debate.turns) + len(self.debate.asides)

    def _longer(self, speeches: Iterable[Turn], *, judged: bool = False) -> int:
        """By how many tokens these speeches can exceed the filler: by as much as a speech may go beyond its
        words. What a judge reads of the next speeches is bounded by the bytes that it reads at most, so that
        it can read them whatever they say."""
        total = self._extra
        for speech in speeches:
            if speech.number not in self._fillers:
                continue
            read = bytes_read(self.debate, speech.slot, speech.max_tokens)
            filler = tokens_by_script(clip(speech.text, read) if judged else speech.text)
            most = ceil(filler * OVERRUN_FACTOR)
            total += (max(most, read) if judged and speech.slot in self._next else most) - filler
        return total


def _answer_words(kind: str) -> int:
    found = loaded().side_questions(kind)
    return found[1].words if found else ANSWER_WORDS


def _may_concede(debate: Debate, turn: Turn) -> bool:
    speaks = debate.seat(turn.seat).role == "debater"
    return speaks and may_concede(debate) and winner_if_conceded(debate, turn.seat) is not None


def _usage(request: Request, words: int, thoughts: float = 0.0) -> Usage:
    """What a call is expected to take that says so many words."""
    output = min(request.max_tokens, tokens(_filler(words, request.max_tokens)) + ceil(thoughts))
    return Usage(sent_tokens(request), output, min(output, ceil(thoughts)), estimated=True)


def _filler(words: int, max_tokens: int) -> str:
    return " ".join([WORD] * max(1, min(words, max_tokens)))
