"""The state of a debate: all that is known about it at one point of its log.

Everything here is frozen. A speech is a `Turn`: those that are over are in `Debate.turns`, those being given
in `Debate.live`. The schedule is made when the debate opens; what is left of it is `remaining_slots`. A
`Call` is a request to a model that is under way. `evolve.py` says how events change the state.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal

from msgspec import Struct, field

from moot.core.audience import AudienceState
from moot.core.events import BallotSpoiled
from moot.core.schedule import seats_by_side
from moot.core.segments import Run, in_order, unfinished
from moot.core.statuses import FINAL, RUNNING, EndReason, FailReason, Status
from moot.core.terms import (
    SESSION_FORMAT,
    Ballot,
    DebateLimits,
    DebateSetup,
    DebateVerdict,
    DeltaKind,
    Format,
    Judge,
    Money,
    Phase,
    Seat,
    Segment,
    SeriesTag,
    Slot,
    StepSize,
    Tone,
    ToolCall,
    ToolResult,
    Truncation,
    Usage,
)
from moot.core.word_count import first_words, words_within_budget

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ZERO = Money(0)

TurnState = Literal["live", "completed", "failed", "interrupted"]
REPLAYED_INTERRUPTIONS = ("crash", "pause", "drain", "absent", "unusable")
"""After these the same speech is given again."""


class EarlierCalls(Struct, frozen=True, gc=False):
    """What a speech had brought before its present call, which continues it: it stays even if that call
    fails."""

    text: str = ""
    reasoning: str = ""
    segments: tuple[Segment, ...] = ()
    max_tokens: int = 0
    runs: tuple[Run, ...] = ()


class Abandoned(Struct, frozen=True, gc=False):
    """Text and reasoning of an attempt that was discarded at `seq`."""

    seq: int
    text: str
    reasoning: str
    attempt: int = 0


class Turn(Struct, frozen=True, gc=False):
    """One speech, over or being given, with everything that its calls brought."""

    number: int
    slot: int
    round: int
    phase: str
    tone: Tone
    seat: str
    seq: int
    """Where in the log it started: its speaker hears what comes before."""
    started_at: datetime
    state: TurnState = "live"
    text: str = ""
    reasoning: str = ""
    segments: tuple[Segment, ...] = ()
    """The finished segments."""
    runs: tuple[Run, ...] = ()
    """Which part of the text belongs to which segment, and when it came."""
    cut: tuple[Segment, ...] = ()
    """Of a speech that was cut: the segments that were never finished, as far as they came."""
    kept: EarlierCalls = EarlierCalls()
    thinking: tuple[int, ...] = ()
    """The segments whose reasoning was streamed, in the order in which they began."""
    abandoned: tuple[Abandoned, ...] = ()
    """Attempts that were discarded, and a streamed text that the final one does not continue."""
    since: int = 0
    """All of its present text came after this seq."""
    call: int | None = None
    attempt: int = 0
    heard_at: datetime | None = None
    """When the last text of its present call came."""
    max_tokens: int = 0
    """Of all the calls that make up the speech."""
    by: str = ""
    """Who or what interrupted it, or the kind of fault that failed it."""
    message: str = ""
    fault: str = ""
    """Why its last call failed, where it was tried again."""
    failures: int = 0
    retry_at: datetime | None = None
    """When the call that failed last is tried again."""
    words: int = 0
    clipped: int = 0
    """Only so many of its words are heard; 0: all of them."""
    extended: float = 0.0
    """Seconds that its speaker got beyond the usual time."""
    truncated: Truncation | None = None
    refusal: bool = False
    refusal_category: str = ""
    degraded: str = ""
    over_length: bool = False
    struck: bool = False
    """Given again later: it no longer counts, and no speaker hears it."""
    struck_at: int = 0
    """The seq of the event that struck it."""
    usage: Usage = Usage()
    cost: Money | None = ZERO
    latency_ms: int = 0
    response_id: str | None = None
    stored: bool = True
    """The provider keeps the response under that id."""
    quoted: str = ""
    """What its speaker was told that the opponent had said, where that differs from the speech before it."""
    ended_at: datetime | None = None

    @property
    def used_slot(self) -> bool:
        """Whether its slot is used up, so that the speech is not given again."""
        if self.struck or self.state == "live":
            return False
        return not (self.state == "interrupted" and self.by in REPLAYED_INTERRUPTIONS)

    def begins_thought(self, segment: int) -> bool:
        """Whether reasoning in this segment follows that of another one, and so starts a new paragraph."""
        last = next((run for run in reversed(self.runs) if run.kind == "reasoning"), None)
        return bool(self.reasoning) and last is not None and last.index != segment

    @property
    def shown(self) -> tuple[Segment, ...]:
        """All its segments in the provider's order, also those that are not finished."""
        unfinished_segments = self.cut
        if self.state == "live":
            unfinished_segments = unfinished(self.runs, self.text, self.reasoning, self.segments)
        return in_order((*self.segments, *unfinished_segments)) if unfinished_segments else self.segments

    def came_at(self, index: int, kind: DeltaKind, part: int = 0) -> datetime:
        """When the first text of this part of a segment came."""
        runs = [run for run in self.runs if (run.index, run.kind) == (index, kind)]
        of_part = (run.at for run in runs if run.part is not None and run.part.summary_index == part)
        return next(of_part, runs[0].at if runs else self.started_at)

    @property
    def awaits_tools(self) -> bool:
        """Whether its last reply called tools and never got the results: no later call can continue it."""
        last = self.segments[-1] if self.segments else None
        return isinstance(last, ToolResult) or (isinstance(last, ToolCall) and last.needs_answer)

    @property
    def has_words(self) -> bool:
        """Whether it has text that counts."""
        return self.used_slot and self.state in ("completed", "interrupted") and bool(self.text.strip())


class Call(Struct, frozen=True, gc=False):
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
    started_at: datetime = EPOCH
    heard_at: datetime | None = None
    """When its last text came; of a speech, see `Turn.heard_at`."""
    text: str = ""
    reasoning: str = ""


class Remark(Struct, frozen=True, gc=False):
    number: int
    seq: int
    text: str
    by: str
    to: str | None
    at: datetime
    question: bool = False


class Aside(Struct, frozen=True, gc=False):
    """A question to a seat or a referee beside the speeches; without an answer it counts as a no."""

    number: int
    kind: str
    """An `AsideKind`, or one of an extension."""
    slot: int
    seat: str | None
    judge: str | None
    turn: int | None
    about: str
    seq: int
    asked_at: datetime
    extended: float = 0.0
    """Seconds of pauses, which do not count towards the time for the answer."""
    state: Literal["open", "answered", "failed"] = "open"
    yes: bool = False
    text: str = ""
    chances: dict[str, float] = {}
    """How likely each party is to win, from 0 to 1, where that was the question."""
    lost: bool = False
    """It failed because the process stopped."""
    persona: str = ""
    """Who is asked, where it is neither a seat nor a judge."""


class PointOfInformation(Struct, frozen=True, gc=False):
    """A point of information, and whether the speaker accepted it."""

    number: int
    turn: int
    seat: str
    accepted: bool
    text: str
    seq: int


class ModelUsage(Struct, frozen=True, gc=False):
    """What one model has used and cost so far; `unpriced` calls have no known price."""

    usage: Usage = Usage()
    cost: Money = ZERO
    calls: int = 0
    unpriced: int = 0

    @property
    def known_cost(self) -> Money | None:
        """None where no call has a known price."""
        return self.cost if self.unpriced < self.calls else None


class BallotCharge(Struct, frozen=True, gc=False):
    """What the calls for one ballot cost and took, with all attempts; None where a price is not known."""

    judge: str
    order: int
    cost: Money | None = ZERO
    latency_ms: int = 0


class Judging(Struct, frozen=True, gc=False):
    number: int
    why: EndReason
    judges: tuple[Judge, ...]
    """Without those who are recused."""
    started_at: datetime
    people_since: datetime
    """When the last model cast its ballot: the time of people runs from then on."""
    again: bool = False
    """The debate had ended before."""
    allowance: Money | None = None
    """What it may cost by itself, whatever the debate's own limit has left."""
    counted: Money = ZERO
    """`Debate.counted` when it began."""
    labels: tuple[str, ...] = ()
    """The names under which the parties are shown; empty: the usual ones."""
    verdict: DebateVerdict | None = None
    closed: bool = False
    ballots: tuple[Ballot, ...] = ()
    spoiled: tuple[tuple[str, int], ...] = ()
    causes: tuple[BallotSpoiled, ...] = ()
    """Of each spoiled ballot."""
    waived: tuple[tuple[str, int], ...] = ()
    """(judge, order) of the readings that the cost limit left no room for."""
    written: tuple[tuple[str, int], ...] = ()
    """Judge and order of calls that have ended and brought text: a further call begins again."""
    lost: tuple[tuple[str, int], ...] = ()
    """(judge, order) of each call that was lost in a crash."""
    usage: Usage = Usage()
    """Of all its calls."""
    charges: tuple[BallotCharge, ...] = ()

    def charge(self, judge: str, order: int) -> BallotCharge | None:
        return next((one for one in self.charges if (one.judge, one.order) == (judge, order)), None)

    @property
    def may_be_repeated(self) -> bool:
        """Whether the same judges may give a verdict when they are asked again as they are."""
        return not self.causes or any(cause.severity != "permanent" for cause in self.causes)

    def has_ballot(self, judge: str, order: int) -> bool:
        return (judge, order) in (*self.spoiled, *self.waived) or any(
            ballot.judge == judge and ballot.order == order for ballot in self.ballots
        )


class ImportOrigin(Struct, frozen=True, gc=False):
    """Where an imported debate comes from, with the other system's record; events after `seq` are our own."""

    seq: int
    source: str
    record: dict[str, Any]


class Debate(AudienceState, frozen=True, gc=False):
    """The state of a debate after the events of its log up to `seq`: `fold(records)` returns it.

    `turns` are the finished speeches, `live` those being given, `verdict` the first verdict or None.
    """

    id: str
    motion: str
    format: Format
    seats: tuple[Seat, ...]
    judges: tuple[Judge, ...]
    limits: DebateLimits
    setup: DebateSetup
    schedule: tuple[Slot, ...]
    title: str = ""
    prompts: int = 1
    """The version of the prompts."""
    fence: str = ""
    """Secret: the names of the fences around quotations are made from it."""
    seq: int = 0
    unstreamed_seq: int = 0
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
    """What counts towards the cost limit: settled costs, and reservations of calls whose cost is unknown."""
    warned: bool = False
    exhausted: bool = False
    """The cost limit left no room for a call or another round."""
    shortened: tuple[tuple[int, int], ...] = ()
    """(round, per cent): from that round on, speeches have so many per cent of their words."""
    cut_round: int = 0
    """The round that the cost limit cut: its speeches are not judged."""
    stalemate_seq: int = 0
    """The seq of the last `stalemate.found`."""
    judgings: tuple[Judging, ...] = ()
    verdicts: tuple[DebateVerdict, ...] = ()
    drafts: dict[str, str] = field(default_factory=dict[str, str])
    """By seat."""
    asides: tuple[Aside, ...] = ()
    points: tuple[PointOfInformation, ...] = ()
    ended: EndReason | None = None
    ended_detail: str = ""
    failure: FailReason | None = None
    created_at: datetime = EPOCH
    started_at: datetime | None = None
    updated_at: datetime = EPOCH
    paused_at: datetime | None = None
    paused_for: str = ""
    """The reason of the pause, if one was given."""
    step: StepSize | None = None
    """How much is held before the debate pauses again."""
    quoted: str = ""
    """For the next speaker: see `Turn.quoted`."""
    stopped_at: datetime | None = None
    ended_at: datetime | None = None
    ended_seq: int = 0
    """The seq of its first end; later events, such as another verdict, do not change the result."""
    failed_seq: int = 0
    """The seq of its first failure, even if it went on afterwards."""
    origin: ImportOrigin | None = None
    extensions: dict[str, Any] = field(default_factory=dict[str, Any])
    """The state of each extension that has events in this debate: see `core/extension_events.py`."""

    @property
    def running(self) -> bool:
        """Whether it has started, and is neither paused nor over nor being judged."""
        return self.status in RUNNING

    @property
    def final(self) -> bool:
        """Whether it is over for good: one that failed may still be retried."""
        return self.status in FINAL

    @property
    def is_session(self) -> bool:
        """Whether a client asks for each turn: see `rules/turn_by_turn.py`."""
        return self.format.name == SESSION_FORMAT

    @property
    def verdict(self) -> DebateVerdict | None:
        """The first one: later judgings add verdicts and change no result."""
        return self.verdicts[0] if self.verdicts else None

    @property
    def judging(self) -> Judging | None:
        """The latest one."""
        return self.judgings[-1] if self.judgings else None

    @property
    def deciding_judging(self) -> Judging | None:
        """The judging that led to the verdict; before there is one, the latest."""
        return next((judging for judging in self.judgings if judging.verdict), self.judging)

    @property
    def being_judged(self) -> bool:
        """Whether judges are reading it now, for the first time or again."""
        return self.judging is not None and not self.judging.closed

    @property
    def panel(self) -> tuple[Judge, ...]:
        """The judges who are not recused."""
        return tuple(judge for judge in self.judges if not judge.recused)

    @property
    def in_circles(self) -> bool:
        """Whether a stalemate was found and nobody has spoken since."""
        return self.stalemate_seq > max((turn.seq for turn in (*self.turns, *self.live)), default=0)

    @property
    def open_asides(self) -> tuple[Aside, ...]:
        """The side questions that have no answer yet."""
        return tuple(aside for aside in self.asides if aside.state == "open")

    @property
    def rounds_planned(self) -> int:
        """How many rounds the schedule has."""
        return self.schedule[-1].round if self.schedule else 0

    @property
    def cost_so_far(self) -> Money:
        """The cost of all calls so far, estimates included."""
        return sum((tally.cost for tally in self.tallies.values()), ZERO)

    @property
    def reserved(self) -> Money:
        """What the calls under way may cost at most."""
        return sum((call.reserved or ZERO for call in self.calls), ZERO)

    @property
    def cost_limit(self) -> Money | None:
        """The limit for `counted`; a judging with its own allowance has only that limit."""
        judging = self.judging
        if judging is None or judging.closed or judging.allowance is None:
            return self.limits.cost_limit
        return judging.counted + judging.allowance

    @property
    def has_speeches(self) -> bool:
        """Whether anybody has said anything."""
        return any(turn.has_words for turn in self.turns)

    @property
    def unheard_remarks(self) -> tuple[Remark, ...]:
        """Remarks that no turn has heard yet: the next one will."""
        last_start = max((turn.seq for turn in (*self.turns, *self.live)), default=0)
        return tuple(remark for remark in self.remarks if remark.seq > last_start)

    def seat(self, seat_id: str) -> Seat:
        """The seat with this id, which must exist."""
        return next(seat for seat in self.seats if seat.id == seat_id)

    def judge(self, judge_id: str) -> Judge:
        """By id, also a judge who was added when the debate was judged again."""
        later = (judge for judging in self.judgings for judge in judging.judges)
        return next(judge for judge in (*self.judges, *later) if judge.id == judge_id)

    def aside(self, number: int) -> Aside | None:
        """The side question of this number."""
        return next((aside for aside in self.asides if aside.number == number), None)

    def word_budget(self, slot: int) -> int:
        """How many words the speech of this slot may have: on a clock, no more than its side has left."""
        words = self.schedule[slot].words or self.phase(slot).words
        words = max(1, words * self.words_percent(self.schedule[slot].round) // 100)
        if not self.phase(slot).clock:
            return words
        start = max((turn.seq for turn in self.turns if turn.slot == slot), default=None)
        return max(1, min(words, self.clock_words_left(self.schedule[slot], start)))

    def words_percent(self, round: int) -> int:
        """How much of its words a speech of this round has; less than 100 where the cost limit is short."""
        return next((percent for start, percent in reversed(self.shortened) if start <= round), 100)

    def clip_words(self, slot: int, text: str) -> int:
        """How many words of this text are heard, if it is over its budget; 0: all of them."""
        return words_within_budget(text, self.word_budget(slot)) if self.phase(slot).held else 0

    def clock_words_left(self, slot: Slot, before: int | None = None) -> int:
        """Words that the side of this slot has left (before that seq) on the clock of its phase."""
        sides = ({seat.id for seat in seats} for seats in seats_by_side(self.seats))
        side = next((seats for seats in sides if slot.seat in seats), set[str]())
        spoken = 0
        for turn in self.turns:
            other = self.schedule[turn.slot]
            same_clock = turn.seat in side and (other.phase, other.round) == (slot.phase, slot.round)
            if same_clock and turn.has_words and (before is None or turn.seq < before):
                spoken += turn.clipped or turn.words
        return self.format.phases[slot.phase].clock - spoken

    def offered_point(self, turn: int) -> Aside | None:
        """The point of information offered in this speech: of several, that of the seat with the fewest
        accepted."""
        offers = [a for a in self.asides if (a.kind, a.turn) == ("point", turn) and a.yes and a.text]
        accepted = [point.seat for point in self.points if point.accepted]
        return min(offers, key=lambda aside: (accepted.count(aside.seat or ""), aside.number), default=None)

    def person_seconds_left(self, turn: Turn, now: datetime) -> float | None:
        """How long a person still has for this speech, with all extensions of its time and without pauses;
        None while the clock is stopped by a pause."""
        if self.status == "paused":
            return None
        turn = self.turn(turn.number) or turn
        seconds = self.limits.person_seconds + turn.extended
        return max(0.0, seconds - (now - turn.started_at).total_seconds())

    def points_taken(self, seat_id: str) -> int:
        """How many points of information this seat has accepted in its speeches."""
        turns = {turn.number for turn in self.turns if turn.seat == seat_id}
        return sum(point.accepted and point.turn in turns for point in self.points)

    def phase(self, slot: int) -> Phase:
        """The row of the format's table to which the slot of this index belongs."""
        return self.format.phases[self.schedule[slot].phase]

    def turn(self, number: int) -> Turn | None:
        """The speech of this number, over or being given."""
        return next((turn for turn in (*self.turns, *self.live) if turn.number == number), None)

    def tone(self, turn: Turn) -> Tone:
        """The tone in which it is given: where the first half of a speech failed, the second is the
        speech."""
        if turn.tone != "continuation":
            return turn.tone
        has_first_half = any(t.slot == turn.slot - 1 and t.has_words and t.seq < turn.seq for t in self.turns)
        return turn.tone if has_first_half else self.phase(turn.slot).tone

    @property
    def dice(self) -> str:
        """What is left to chance follows from this: from the id, or in a series from its seed."""
        return (self.series.dice if self.series else "") or self.id

    @property
    def series(self) -> SeriesTag | None:
        """The series that it belongs to."""
        return self.setup.experiment

    def heard_text(self, turn: Turn) -> str:
        """The text of a speech that others hear: not what is over its budget."""
        return first_words(turn.text, turn.clipped) if turn.clipped else turn.text

    def is_live(self, number: int) -> bool:
        """Whether the speech of this number is being given."""
        return any(turn.number == number for turn in self.live)

    def call(self, number: int) -> Call | None:
        """The call of this number, while it is under way."""
        return next((call for call in self.calls if call.number == number), None)

    def remaining_slots(self) -> tuple[Slot, ...]:
        """The slots of the schedule in which nobody has spoken yet, without those skipped."""
        used = {turn.slot for turn in self.turns if turn.used_slot} | set(self.skipped)
        return tuple(slot for slot in self.schedule if slot.index not in used)

    def chained_response_id(self, seat_id: str) -> str | None:
        """The response id that this seat's next turn refers to: that of its own last speech, never another's.

        None also where the provider has twice in a row lost a response that it had promised to keep.
        """
        speeches = self._complete_speeches(seat_id)
        if not self.could_be_chained(seat_id) or not speeches[-1].stored or speeches[-1].awaits_tools:
            return None
        last = speeches[-1]
        unreliable = len(speeches) > 2 and all("chain" in turn.degraded.split(",") for turn in speeches[-2:])
        return None if unreliable else last.response_id

    def could_be_chained(self, seat_id: str) -> bool:
        """Whether a provider can have the speeches of this seat on record as they count: not where each was
        cut by a command, nor where one was struck since."""
        speeches = self._complete_speeches(seat_id)
        if not speeches:
            return False
        last = speeches[-1].seq
        return not any(turn.struck and turn.seq < last < turn.struck_at for turn in self.turns)

    def _complete_speeches(self, seat_id: str) -> list[Turn]:
        return [
            turn
            for turn in self.turns
            if turn.seat == seat_id and turn.state == "completed" and turn.has_words
        ]
