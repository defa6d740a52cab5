"""Whole debates in memory: the runner's part played step by step, with no clock, no task and no network.

A `Simulation` holds a log. `step` does one thing a runner would do (advance, begin a call, hear a few words,
settle it), `ask` puts a command in between, `crash` forgets all that was under way. What the models answer
is a `Script`: a function from what was sent to a `Reply`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from moot import moves
from moot.commands import Command, Decision, Open, Start, decide
from moot.debate import Debate
from moot.errors import Fault, FaultClass, FaultKind, Refused
from moot.events import (
    CallCompleted,
    CallDelta,
    CallFailed,
    CallStarted,
    DebateOpened,
    Event,
    Narrated,
    Recorded,
    SegmentCompleted,
)
from moot.evolve import evolve
from moot.formats.plan import AskJudges, plan
from moot.hearing import Heard
from moot.judging import ballots
from moot.parts import Part, Speech, Vote
from moot.pricing import cost, estimate, input_bound, sound
from moot.providers.contract import Done
from moot.retrying import Tries, wait_before_retry
from moot.terms import DeltaKind, Finish, Money, Reasoning, ReasoningPart, Request, Segment, Text, Usage

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
TICK = timedelta(milliseconds=125)

Reported = Literal["honest", "worst", "nothing", "absurd"]


class Reply(Struct, frozen=True):
    """What a model answers to one call; `fault` comes after its words."""

    text: str = ""
    reasoning: str = ""
    fault: FaultKind | None = None
    severity: FaultClass = "transient"
    billed: bool = True
    deadline: bool = False
    """The time for the turn is up after these words."""
    finish: Finish = "stop"
    reported: Reported = "honest"
    chained: bool = True
    """The service gives the response an id."""
    stored: bool = True
    """The service remembers it."""
    degraded: str = ""
    sealed: str = ""
    """Thoughts that the service hands out encrypted."""
    items: bool = False
    """The service sends each finished segment whole."""
    piece: int = 24
    """Characters in a delta."""


class Sent(Struct, frozen=True):
    """A call as the model's side saw it."""

    call: int
    attempt: int
    purpose: moves.Purpose
    request: Request
    debate: Debate
    """The state in which the call began."""


Script = Callable[[Sent], Reply]


class Performance:
    """One part under way: from attempt to attempt until it is over."""

    def __init__(self, part: Part) -> None:
        self.part = part
        self.attempt = 0
        self.tries = Tries()
        self.call: int | None = None
        self.request: Request | None = None
        self.reply = Reply()
        self.heard = Heard()
        self.coming: list[CallDelta | SegmentCompleted] = []
        self.over = False


class Simulation:
    def __init__(self, opening: DebateOpened, script: Script, debate_id: str = "deb_1") -> None:
        self.id = debate_id
        self.script = script
        self.records: list[Recorded] = []
        self.states: list[Debate] = []
        """The state after each record."""
        self.sent: list[Sent] = []
        self.asked: list[tuple[int, Command, Decision]] = []
        """Each command with the seq at which it was answered."""
        self.commanded: set[int] = set()
        """The seqs that a command wrote; the runner wrote the others."""
        self.settled: set[int] = set()
        """The seqs at the end of a write: between them nobody sees the log."""
        self.playing: list[Performance] = []
        self.epoch = 1
        self.crashed = False
        self._record(decide(None, Open(opening)))

    @property
    def debate(self) -> Debate:
        return self.states[-1]

    @property
    def events(self) -> list[Event]:
        return [recorded.event for recorded in self.records]

    # --- what people do -------------------------------------------------------------------------------

    def ask(self, command: Command) -> Decision:
        decision = decide(self.debate, command)
        if not isinstance(decision, Refused):
            before = len(self.records)
            self._record(decision)
            self.commanded.update(range(before + 1, len(self.records) + 1))
        self.asked.append((self.debate.seq, command, decision))
        return decision

    def crash(self) -> None:
        """The process dies: whatever it was doing is forgotten, what it wrote stays."""
        self.playing.clear()
        self.crashed = True

    def drain(self) -> None:
        """The process is told to stop, and has time to say so."""
        self._record(moves.park(self.debate))
        for performance in self.playing:
            self._let_go(performance)
        self.crash()

    # --- what a runner does ---------------------------------------------------------------------------

    def start(self) -> Simulation:
        self.ask(Start())
        return self

    def run(self, most: int = 20_000) -> Simulation:
        """Until there is nothing to do."""
        for _ in range(most):
            if not self.step():
                return self
        raise AssertionError(f"still running after {most} steps")

    def run_until(self, done: Callable[[Debate], bool], most: int = 20_000) -> Simulation:
        for _ in range(most):
            if done(self.debate):
                return self
            assert self.step(), "the debate came to rest before that"
        raise AssertionError(f"not there after {most} steps")

    def step(self, pick: int = 0, *, oblivious: bool = False) -> bool:
        """One thing; False where there is nothing to do. An oblivious runner has not seen a cut yet."""
        if self.crashed:
            self.crashed = False
            self.epoch += 1
            self._record(moves.recover(self.debate))
            return True
        if self.playing:
            performance = self.playing[pick % len(self.playing)]
            self._perform(performance, oblivious)
            if performance.over:
                self.playing.remove(performance)
            return True
        wrote = self._record(moves.advance(self.debate))
        step = plan(self.debate)
        parts: list[Part] = [Speech(self.debate, turn) for turn in self.debate.live]
        if isinstance(step, AskJudges) and not parts:
            parts = [Vote(self.debate, judge, order) for judge, order in step.ballots]
        self.playing = [Performance(part) for part in parts]
        return bool(wrote or parts)

    def _perform(self, performance: Performance, oblivious: bool) -> None:
        wanted = moves.still_wanted(self.debate, performance.part.purpose)
        if not wanted and not oblivious:
            self._let_go(performance)
        elif performance.call is None:
            self._begin(performance)
        elif performance.coming:
            self._hear(performance, performance.coming.pop(0))
        else:
            self._settle(performance)

    def _begin(self, performance: Performance) -> None:
        performance.attempt += 1
        part, attempt = performance.part, performance.attempt
        request = part.request(attempt)
        purpose = part.purpose
        digest = hashlib.sha256(msgspec.json.encode(request)).hexdigest()
        written = self._record(moves.begin(self.debate, purpose, request, digest, attempt))
        started = next((event for event in written if isinstance(event, CallStarted)), None)
        if started is None:
            performance.over = True
            return
        request = replace(request, max_tokens=started.max_tokens)
        sent = Sent(started.call, attempt, purpose, request, self.debate)
        self.sent.append(sent)
        performance.call = started.call
        performance.request = request
        performance.heard = Heard()
        performance.reply = self.script(sent)
        performance.coming = list(_coming(started.call, performance.reply))

    def _hear(self, performance: Performance, event: Narrated) -> None:
        match event:
            case CallDelta():
                performance.heard.keep(event.segment, event.kind, event.text)
            case SegmentCompleted():
                performance.heard.segments[event.segment.index] = event.segment
        if self.debate.call(event.call) is not None:
            self._record((event,))

    def _settle(self, performance: Performance) -> None:
        part, heard, reply = performance.part, performance.heard, performance.reply
        call, request = performance.call, performance.request
        assert call is not None
        assert request is not None
        if reply.deadline:
            failed = self._failed(performance, Fault("timeout"), None)
            self._record(moves.fail(self.debate, failed, part.time_is_up(heard)))
            performance.over = True
            return
        try:
            if reply.fault is not None:
                raise Fault(reply.fault, reply.severity, billed=reply.billed)
            usage = _reported(reply, request, heard)
            heard.done = Done(
                reply.finish,
                usage,
                _response_id(call) if reply.chained else None,
                reply.degraded,
                stored=reply.stored,
            )
            result = part.accept(heard)
        except Fault as fault:
            part.learn(fault)
            performance.tries = performance.tries.after(fault)
            wait = wait_before_retry(fault, performance.tries, base=1.0, time_left=1e9, dice=0.5)
            end = part.give_up(fault) if wait is None else None
            self._record(moves.fail(self.debate, self._failed(performance, fault, wait), end))
            performance.call = None
            performance.over = wait is None
            return
        usage = sound(heard.done.usage, _guess(request, heard))
        done = CallCompleted(
            call=call,
            finish=heard.done.finish,
            usage=usage,
            cost=cost(request.model.price, usage),
            latency_ms=250,
            first_token_ms=50,
            response_id=heard.done.response_id,
            stored=heard.done.stored,
        )
        self._record(moves.finish(self.debate, done, part.segments(heard, call), result))
        performance.over = True

    def _let_go(self, performance: Performance) -> None:
        performance.over = True
        if performance.call is not None:
            failed = self._failed(performance, Fault("cut"), None)
            self._record(moves.fail(self.debate, failed, None))

    def _failed(self, performance: Performance, fault: Fault, wait: float | None) -> CallFailed:
        call, request = performance.call, performance.request
        assert call is not None
        assert request is not None
        reported = performance.heard.done.usage if performance.heard.done else None
        usage = sound(reported, _guess(request, performance.heard)) if fault.billed else Usage()
        return CallFailed(
            call=call,
            kind=fault.kind,
            severity=fault.severity,
            message=str(fault),
            usage=usage,
            cost=cost(request.model.price, usage) if fault.billed else Money(0),
            latency_ms=250,
            retry_in_ms=None if wait is None else int(wait * 1000),
            billed=fault.billed,
        )

    def _record(self, events: Decision) -> tuple[Event, ...]:
        assert not isinstance(events, Refused), events.reason
        for event in events:
            seq = len(self.records) + 1
            recorded = Recorded(self.id, seq, NOON + seq * TICK, self.epoch, event)
            self.records.append(recorded)
            self.states.append(evolve(self.states[-1] if self.states else None, recorded))
        self.settled.add(len(self.records))
        return events


# --- what models say ----------------------------------------------------------------------------------


def speak(sent: Sent) -> Reply:
    """A plain speech that resembles no other, or a ballot for the first seat."""
    if sent.purpose.judge is not None:
        return Reply(ballot(sent, sent.debate.seats[0].id))
    return Reply(words(sent.call))


def words(number: int, count: int = 12) -> str:
    digest = hashlib.sha256(str(number).encode()).digest()
    return " ".join(WORDS[byte % len(WORDS)] for byte in digest[:count]).capitalize() + "."


def ballot(sent: Sent, winner: str | None, scores: Sequence[int] = (80, 70, 60, 50), **changes: Any) -> str:
    """A judge's reply as JSON, its winner named by seat."""
    labels = ballots.labels(sent.debate, sent.purpose.order)
    ranked = sorted(labels, key=lambda seat: seat != winner)
    said: dict[str, Any] = {
        "reasoning": f"{labels[ranked[0]]} answered what {labels[ranked[-1]]} said.",
        "criteria": {"argument": f"{labels[ranked[0]]} was clearer."},
        "speakers": {
            labels[seat]: {"strengths": ["clear"], "weaknesses": [], "score": score}
            for seat, score in zip(ranked, scores, strict=False)
        },
        "winner": labels[winner] if winner else ballots.TIE,
    }
    return msgspec.json.encode({**said, **changes}).decode()


def in_turn(replies: Iterable[Reply], then: Script = speak) -> Script:
    """One reply for each call, in order; `then` speaks when they are used up."""
    coming = iter(replies)
    return lambda sent: next(coming, None) or then(sent)


def speeches(*texts: str, then: Script = speak) -> Script:
    return in_turn([Reply(text) for text in texts], then)


WORDS = (
    *("reason", "trade", "river", "winter", "promise", "teacher", "harbour", "law", "copper", "garden"),
    *("market", "danger", "engine", "silence", "hope", "bread", "distance", "measure", "voice", "coal"),
    *("window", "ladder", "border", "honest", "future", "island", "minister", "rain", "wheat", "debt"),
)


def _coming(call: int, reply: Reply) -> Iterable[CallDelta | SegmentCompleted]:
    """Thoughts first, then words, each as a segment of its own."""
    said: list[tuple[DeltaKind, str]] = [("reasoning", reply.reasoning), ("text", reply.text)]
    for index, (kind, text) in enumerate(part for part in said if part[1]):
        for start in range(0, len(text), reply.piece):
            yield CallDelta(call, index, kind, text[start : start + reply.piece])
        if reply.items:
            yield SegmentCompleted(call, _segment(kind, text, index, reply.sealed))


def _segment(kind: DeltaKind, text: str, index: int, sealed: str) -> Segment:
    if kind == "text":
        return Text(text, index, item_id=f"item_{index}", sequence_number=index)
    parts = (ReasoningPart(text),)
    return Reasoning(parts, index, item_id=f"item_{index}", sequence_number=index, opaque=sealed)


def _reported(reply: Reply, request: Request, heard: Heard) -> Usage | None:
    guess = _guess(request, heard)
    match reply.reported:
        case "honest":
            output = min(guess.output, request.max_tokens)
            return Usage(guess.input, output, min(guess.reasoning, output))
        case "worst":
            return Usage(input_bound(request), request.max_tokens)
        case "absurd":
            return Usage(-1, 10**12)
        case "nothing":
            return None


def _guess(request: Request, heard: Heard) -> Usage:
    return estimate(input_bound(request), heard.chars, heard.reasoning_chars)


def _response_id(call: int) -> str:
    return f"resp_{call}"
