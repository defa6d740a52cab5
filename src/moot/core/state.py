"""The state of a debate: what there is to know about it at one point of its log.

Everything here is frozen. Finished turns are in `turns`, those being given in `live`; a debate lays its
schedule out when it opens, and what is left of it is `remaining_slots`. How events change the state is told
in `evolve.py`.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal

from msgspec import Struct, field

from moot.core.events import EndReason, FailReason
from moot.core.schedule import seats_by_side
from moot.core.segments import Run, in_order, unfinished
from moot.core.terms import (
    AsideKind,
    Ballot,
    DebateLimits,
    DebateOptions,
    DeltaKind,
    Format,
    Judge,
    Money,
    Phase,
    PollName,
    Seat,
    Segment,
    Slot,
    Status,
    StepSize,
    Tone,
    ToolCall,
    ToolResult,
    Truncation,
    Usage,
    Verdict,
)
from moot.core.word_count import first_words, words_within_budget

RUNNING: tuple[Status, ...] = ("initializing", "awaiting_arguments", "debating")
FINAL: tuple[Status, ...] = ("completed", "aborted")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ZERO = Money(0)

TurnState = Literal["live", "completed", "failed", "interrupted"]
REPLAYED_INTERRUPTIONS = ("crash", "pause", "drain", "absent")
"""Interruptions after which the same speech is given again."""


class EarlierCalls(Struct, frozen=True):
    """What a speech had brought before its present call, which goes on from there: it stays, even if that
    call comes to nothing."""

    text: str = ""
    reasoning: str = ""
    segments: tuple[Segment, ...] = ()
    max_tokens: int = 0
    runs: tuple[Run, ...] = ()


class Abandoned(Struct, frozen=True):
    """What an attempt had said and thought when, at `seq`, it no longer stood."""

    seq: int
    text: str
    reasoning: str


class Turn(Struct, frozen=True):
    number: int
    slot: int
    round: int
    phase: str
    tone: Tone
    seat: str
    seq: int
    """Where in the log it started: what it hears is what stands before."""
    started_at: datetime
    state: TurnState = "live"
    text: str = ""
    reasoning: str = ""
    segments: tuple[Segment, ...] = ()
    """Those that are finished."""
    runs: tuple[Run, ...] = ()
    """Which words belong to which segment, and when they came."""
    cut: tuple[Segment, ...] = ()
    """Of a speech that was cut: the segments that were never finished, as far as they had come."""
    kept: EarlierCalls = EarlierCalls()
    thinking: tuple[int, ...] = ()
    """The segments whose thoughts have come word by word, in that order."""
    abandoned: tuple[Abandoned, ...] = ()
    """While it is live: what further attempts have struck."""
    since: int = 0
    """All that stands of it was said after this seq; what was struck, before."""
    call: int | None = None
    attempt: int = 0
    max_tokens: int = 0
    """Of all the calls that it goes on over."""
    by: str = ""
    """Who or what interrupted it, or the kind of fault that failed it."""
    message: str = ""
    fault: str = ""
    """Why its last call broke down, where it was made again."""
    failures: int = 0
    words: int = 0
    clipped: int = 0
    """So many of its words are heard; 0: all of them."""
    extended: float = 0.0
    """Seconds that its speaker has been given beyond the usual."""
    truncated: Truncation | None = None
    refusal: bool = False
    degraded: str = ""
    over_length: bool = False
    struck: bool = False
    """Given again later; it no longer counts, and nobody hears it."""
    struck_at: int = 0
    """The seq of the event that struck it."""
    usage: Usage = Usage()
    cost: Money | None = ZERO
    latency_ms: int = 0
    response_id: str | None = None
    stored: bool = True
    """The provider remembers it under that id."""
    ended_at: datetime | None = None

    @property
    def used_slot(self) -> bool:
        """Its slot is used up."""
        if self.struck or self.state == "live":
            return False
        return not (self.state == "interrupted" and self.by in REPLAYED_INTERRUPTIONS)

    def begins_thought(self, segment: int) -> bool:
        """Whether thoughts in this segment would follow others, and so come after a break."""
        return bool(self.reasoning and self.thinking) and segment != self.thinking[-1]

    @property
    def shown(self) -> tuple[Segment, ...]:
        """All that has been shown of it, in the provider's order: also segments that are not finished."""
        open_ones = self.cut
        if self.state == "live":
            open_ones = unfinished(self.runs, self.text, self.reasoning, self.segments)
        return in_order((*self.segments, *open_ones)) if open_ones else self.segments

    def came_at(self, index: int, kind: DeltaKind, part: int = 0) -> datetime:
        """When the first words of this part of a segment came."""
        own = [run for run in self.runs if (run.index, run.kind) == (index, kind)]
        named = (run.at for run in own if run.part is not None and run.part.summary_index == part)
        return next(named, own[0].at if own else self.started_at)

    @property
    def awaits_tools(self) -> bool:
        """Its last reply asked for tools and was never told what they gave: nobody could go on from there."""
        last = self.segments[-1] if self.segments else None
        return isinstance(last, ToolResult) or (isinstance(last, ToolCall) and last.needs_answer)

    @property
    def has_words(self) -> bool:
        """It left words that count."""
        return self.used_slot and self.state in ("completed", "interrupted") and bool(self.text.strip())


class Call(Struct, frozen=True):
    """A call under way."""

    number: int
    model: str
    attempt: int
    max_tokens: int
    input_bound: int
    reserved: Money | None
    input_guess: int = 0
    turn: int | None = None
    judge: str | None = None
    order: int = 0
    repair: bool = False
    aside: int | None = None
    text: str = ""
    reasoning: str = ""
    thinking: tuple[int, ...] = ()


class Remark(Struct, frozen=True):
    number: int
    seq: int
    text: str
    by: str
    to: str | None
    at: datetime
    question: bool = False


class Aside(Struct, frozen=True):
    """Something asked of a seat or a referee beside the speeches; an answer that never came is a no."""

    number: int
    kind: AsideKind
    slot: int
    seat: str | None
    judge: str | None
    turn: int | None
    about: str
    seq: int
    asked_at: datetime
    extended: float = 0.0
    """Seconds that a pause has taken out of the time for the answer."""
    state: Literal["open", "answered", "failed"] = "open"
    yes: bool = False
    text: str = ""


class PointOfInformation(Struct, frozen=True):
    """A point of information, and whether the speaker took it."""

    number: int
    turn: int
    seat: str
    accepted: bool
    text: str
    seq: int


class Poll(Struct, frozen=True):
    name: PollName
    seconds: float | None
    """How long it is open, pauses included."""
    opened_at: datetime
    closed_at: datetime | None = None


class PollVote(Struct, frozen=True, gc=False):
    """One voter's vote in one poll. There may be thousands."""

    poll: PollName
    voter: str
    choice: str
    late: bool


class ModelUsage(Struct, frozen=True):
    """What one model has used and cost so far; `unpriced` calls have no known price."""

    usage: Usage = Usage()
    cost: Money = ZERO
    calls: int = 0
    unpriced: int = 0


class Judging(Struct, frozen=True):
    number: int
    why: EndReason
    judges: tuple[Judge, ...]
    """Those who are asked."""
    started_at: datetime
    people_since: datetime
    """When the last model had cast its ballot: from then on people are waited for."""
    again: bool = False
    """The debate had its end before."""
    allowance: Money | None = None
    """What it may cost by itself, whatever the debate's own limit has left."""
    counted: Money = ZERO
    """What the debate had cost when it began."""
    labels: tuple[str, ...] = ()
    """Under which the parties are shown; empty: the usual ones."""
    verdict: Verdict | None = None
    closed: bool = False
    ballots: tuple[Ballot, ...] = ()
    spoiled: tuple[tuple[str, int], ...] = ()
    lost: tuple[tuple[str, int], ...] = ()
    """Judges whose call was lost to a crash, once for each time."""
    usage: Usage = Usage()
    """Of all that its judges were asked."""

    def has_ballot(self, judge: str, order: int) -> bool:
        return (judge, order) in self.spoiled or any(
            ballot.judge == judge and ballot.order == order for ballot in self.ballots
        )


class ImportOrigin(Struct, frozen=True):
    """Where a debate was held before, and what was kept of it there; what came after `seq` was held here."""

    seq: int
    source: str
    record: dict[str, Any]


class Debate(Struct, frozen=True):
    """The state of a debate after the events of its log up to `seq`: `fold(records)` returns it.

    `turns` are the finished speeches, `live` those being given, `verdict` the first verdict or None.
    """

    id: str
    motion: str
    format: Format
    seats: tuple[Seat, ...]
    judges: tuple[Judge, ...]
    limits: DebateLimits
    manner: DebateOptions
    schedule: tuple[Slot, ...]
    title: str = ""
    prompts: int = 1
    """The version of the words that models are told."""
    fence: str = ""
    """Secret: the names of the fences around quotations are made from it."""
    seq: int = 0
    turning: int = 0
    """The seq of the last event that is not a delta or a segment."""
    epoch: int = 0
    status: Status = "created"
    before_pause: Status | None = None
    round: int = 0
    rounds_done: int = 0
    rounds_asked: int = 0
    turns: tuple[Turn, ...] = ()
    live: tuple[Turn, ...] = ()
    skipped: tuple[int, ...] = ()
    calls_made: int = 0
    calls: tuple[Call, ...] = ()
    remarks: tuple[Remark, ...] = ()
    tallies: dict[str, ModelUsage] = field(default_factory=dict[str, ModelUsage])
    counted: Money = ZERO
    """What the limit counts: settled costs, and the reservations of calls whose cost is not known."""
    warned: bool = False
    exhausted: bool = False
    """The limit had no room for a call."""
    stalemate_seq: int = 0
    """The seq at which the speeches were last found to go in circles."""
    judgings: tuple[Judging, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    drafts: dict[str, str] = field(default_factory=dict[str, str])
    """By seat."""
    asides: tuple[Aside, ...] = ()
    points: tuple[PointOfInformation, ...] = ()
    polls: tuple[Poll, ...] = ()
    votes: tuple[PollVote, ...] = ()
    ended: EndReason | None = None
    ended_detail: str = ""
    failure: FailReason | None = None
    created_at: datetime = EPOCH
    started_at: datetime | None = None
    updated_at: datetime = EPOCH
    paused_at: datetime | None = None
    paused_for: str = ""
    """Why, where whoever paused it said so."""
    step: StepSize | None = None
    """It goes on for so much, and pauses again."""
    stopped_at: datetime | None = None
    ended_at: datetime | None = None
    ended_seq: int = 0
    """The seq of its first end; what comes later, such as another verdict, is an afterthought."""
    failed_seq: int = 0
    """The seq of its first failure, also where it went on afterwards."""
    origin: ImportOrigin | None = None

    @property
    def running(self) -> bool:
        return self.status in RUNNING

    @property
    def final(self) -> bool:
        return self.status in FINAL

    @property
    def verdict(self) -> Verdict | None:
        return self.verdicts[0] if self.verdicts else None

    @property
    def judging(self) -> Judging | None:
        """The latest one."""
        return self.judgings[-1] if self.judgings else None

    @property
    def deciding_judging(self) -> Judging | None:
        """The one that led to the verdict; before there is one, the latest."""
        return next((judging for judging in self.judgings if judging.verdict), self.judging)

    @property
    def being_judged(self) -> bool:
        return self.judging is not None and not self.judging.closed

    @property
    def panel(self) -> tuple[Judge, ...]:
        """The judges of this debate who are asked."""
        return tuple(judge for judge in self.judges if not judge.recused)

    @property
    def in_circles(self) -> bool:
        """The speeches were found to repeat themselves, and nobody has spoken since."""
        return self.stalemate_seq > max((turn.seq for turn in (*self.turns, *self.live)), default=0)

    @property
    def open_asides(self) -> tuple[Aside, ...]:
        return tuple(aside for aside in self.asides if aside.state == "open")

    @property
    def rounds_planned(self) -> int:
        return self.schedule[-1].round if self.schedule else 0

    @property
    def cost_so_far(self) -> Money:
        """What the calls have cost so far, estimates included."""
        return sum((tally.cost for tally in self.tallies.values()), ZERO)

    @property
    def reserved(self) -> Money:
        return sum((call.reserved or ZERO for call in self.calls), ZERO)

    @property
    def cost_limit(self) -> Money | None:
        """What may be counted in all; a judging that brings its own allowance is held to that alone."""
        judging = self.judging
        if judging is None or judging.closed or judging.allowance is None:
            return self.limits.cost
        return judging.counted + judging.allowance

    @property
    def has_speeches(self) -> bool:
        return any(turn.has_words for turn in self.turns)

    @property
    def unheard_remarks(self) -> tuple[Remark, ...]:
        """Remarks that no turn has heard yet: the next one will."""
        heard = max((turn.seq for turn in (*self.turns, *self.live)), default=0)
        return tuple(remark for remark in self.remarks if remark.seq > heard)

    def seat(self, seat_id: str) -> Seat:
        return next(seat for seat in self.seats if seat.id == seat_id)

    def judge(self, judge_id: str) -> Judge:
        """By id, also one who judges it again later."""
        sitting = (judge for judging in self.judgings for judge in judging.judges)
        return next(judge for judge in (*self.judges, *sitting) if judge.id == judge_id)

    def aside(self, number: int) -> Aside | None:
        return next((aside for aside in self.asides if aside.number == number), None)

    def poll(self, name: PollName) -> Poll | None:
        return next((poll for poll in self.polls if poll.name == name), None)

    def word_budget(self, slot: int) -> int:
        """How many words that speech may have: on a clock, no more than its side had left."""
        words = self.schedule[slot].words or self.phase(slot).words
        if not self.phase(slot).clock:
            return words
        began = max((turn.seq for turn in self.turns if turn.slot == slot), default=None)
        return max(1, min(words, self.clock_words_left(self.schedule[slot], began)))

    def clip_words(self, slot: int, text: str) -> int:
        """How many words of this text are heard, where it goes beyond its budget; 0: all of them."""
        return words_within_budget(text, self.word_budget(slot)) if self.phase(slot).held else 0

    def clock_words_left(self, slot: Slot, before: int | None = None) -> int:
        """Words that the side of this slot still has (before that seq), where its row is on a clock."""
        seats = next(
            (bench for bench in seats_by_side(self.seats) if any(s.id == slot.seat for s in bench)), ()
        )
        side = {seat.id for seat in seats}
        spoken = 0
        for turn in self.turns:
            row = self.schedule[turn.slot]
            if turn.has_words and turn.seat in side and (row.phase, row.round) == (slot.phase, slot.round):
                spoken += (turn.clipped or turn.words) if before is None or turn.seq < before else 0
        return self.format.phases[slot.phase].clock - spoken

    def offered_point(self, turn: int) -> Aside | None:
        """Who rises on a point of information in this speech: of several, the one who was heard least."""
        risen = [a for a in self.asides if (a.kind, a.turn) == ("point", turn) and a.yes and a.text]
        heard = [point.seat for point in self.points if point.accepted]
        return min(risen, key=lambda aside: (heard.count(aside.seat or ""), aside.number), default=None)

    def points_taken(self, seat_id: str) -> int:
        """How many points of information this seat has taken in its speeches."""
        own = {turn.number for turn in self.turns if turn.seat == seat_id}
        return sum(point.accepted and point.turn in own for point in self.points)

    def phase(self, slot: int) -> Phase:
        return self.format.phases[self.schedule[slot].phase]

    def turn(self, number: int) -> Turn | None:
        return next((turn for turn in (*self.turns, *self.live) if turn.number == number), None)

    def tone(self, turn: Turn) -> Tone:
        """As what it is given: where the first half of a speech came to nothing, the second is the speech."""
        if turn.tone != "continuation":
            return turn.tone
        begun = any(t.slot == turn.slot - 1 and t.has_words and t.seq < turn.seq for t in self.turns)
        return turn.tone if begun else self.phase(turn.slot).tone

    def heard_text(self, turn: Turn) -> str:
        """Of a speech, what counts: not what goes beyond its budget."""
        return first_words(turn.text, turn.clipped) if turn.clipped else turn.text

    def is_live(self, number: int) -> bool:
        return any(turn.number == number for turn in self.live)

    def call(self, number: int) -> Call | None:
        return next((call for call in self.calls if call.number == number), None)

    def remaining_slots(self) -> tuple[Slot, ...]:
        used = {turn.slot for turn in self.turns if turn.used_slot} | set(self.skipped)
        return tuple(slot for slot in self.schedule if slot.index not in used)

    def chained_response_id(self, seat_id: str) -> str | None:
        """The response id that this seat's next turn refers to: its own last one, never another's.

        None also where the provider has twice in a row forgotten what it had promised to keep.
        """
        own = [
            turn
            for turn in self.turns
            if turn.seat == seat_id and turn.state == "completed" and turn.has_words
        ]
        if not own or not own[-1].stored or self._knows_struck_speech(own[-1]):
            return None
        if own[-1].awaits_tools:
            return None
        forgetful = len(own) > 2 and all("chain" in turn.degraded.split(",") for turn in own[-2:])
        return None if forgetful else own[-1].response_id

    def _knows_struck_speech(self, speech: Turn) -> bool:
        """What the provider remembers of this speech holds another that was struck since."""
        return any(turn.struck and turn.seq < speech.seq < turn.struck_at for turn in self.turns)
