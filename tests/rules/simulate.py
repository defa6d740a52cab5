"""Whole debates in memory: the runner's part played step by step, with no clock, no task and no network.

A `Simulation` holds a log. `step` does one thing a runner would do (advance, begin a call, hear a few words,
settle it), `ask` puts a command in between, `crash` forgets all that was under way. What the models answer
is a `Script`: a function from what was sent to a `Reply`; where the debate allows tools, they may use those
of `TOOLS`, which give their own question back. What people do is their `Hand`: when the debate has nothing
else to do but to wait for one of them, it is asked for a command, or the time is up.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from moot.core.errors import Fault, FaultKind, FaultSeverity, Refused
from moot.core.events import (
    CallCompleted,
    CallDelta,
    CallFailed,
    CallStarted,
    DebateOpened,
    Event,
    Recorded,
    SegmentCompleted,
    StreamedEvent,
)
from moot.core.evolve import evolve
from moot.core.pricing import cost, estimate_usage, input_bound, plausible_usage, sent_tokens, text_bytes
from moot.core.state import Debate
from moot.core.terms import (
    Ballot,
    DeltaKind,
    FinishReason,
    Money,
    Reasoning,
    ReasoningPart,
    Request,
    Segment,
    Text,
    TokenOdds,
    Tool,
    ToolCall,
    ToolResult,
    Usage,
)
from moot.core.word_count import whole_tokens
from moot.engine.call import CallResult
from moot.engine.continued_calls import SegmentShifter, make_shifter, next_index
from moot.engine.jobs import AsideJob, BallotJob, ModelJob, SpeechJob
from moot.engine.tool_loop import TOO_MANY
from moot.judging import ballots
from moot.judging import neutral_labels as label_names
from moot.judging.judged_speeches import speech_mark
from moot.judging.judged_speeches import speeches as evidence
from moot.judging.parties import is_ranked as is_ranked
from moot.judging.parties import parties
from moot.providers.contract import ReplyDelta, ReplyDone, ReplySegment
from moot.rules import runner_decisions
from moot.rules.commands import Command, Decision, Open, Start, decide
from moot.rules.participation import AnswerPoint, GiveSpeech, SubmitBallot
from moot.rules.plan import AskJudges, HoldPoll, closes_on_time, plan
from moot.rules.retry import FaultCounts, wait_before_retry

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
TICK = timedelta(milliseconds=125)
MUCH_LATER = NOON + timedelta(days=1)
"""When a process that died is noticed late."""

Reported = Literal["honest", "worst", "nothing", "absurd"]


class Reply(Struct, frozen=True):
    """What a model answers to one call; `fault` comes after its words."""

    text: str = ""
    reasoning: str = ""
    fault: FaultKind | None = None
    severity: FaultSeverity = "transient"
    billed: bool = True
    deadline: bool = False
    """The time for the turn is up after these words."""
    finish: FinishReason = "stop"
    reported: Reported = "honest"
    usage: Usage | None = None
    """What the service reports, where `reported` does not say it."""
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
    tokens: tuple[TokenOdds, ...] = ()
    uses: tuple[str, ...] = ()
    """What it asks of the first of its tools, after its words: JSON, or not."""


class Sent(Struct, frozen=True):
    """A call as the model's side saw it."""

    call: int
    attempt: int
    purpose: runner_decisions.CallPurpose
    request: Request
    debate: Debate
    """The state in which the call began."""


Script = Callable[[Sent], Reply]
Hand = Callable[[Debate, runner_decisions.CallPurpose], Command | None]
"""What a person does whom the debate waits for; None: nothing, until their time is up."""


TOOLS = (
    Tool(
        "lab__measure",
        "Measures what it is asked to.",
        {"type": "object", "properties": {"q": {"type": "string"}}},
        server="lab",
        title="Measure",
    ),
)


class Performance:
    """One part under way: from attempt to attempt until it is over."""

    def __init__(self, part: ModelJob) -> None:
        self.part = part
        if isinstance(part, SpeechJob) and part.tool_session.allowed:
            part.tool_session.set_tools(TOOLS, ())
        self.attempts = Counter[int | None]()
        self.asked: list[ToolCall] | None = None
        """What its tools have still to answer, once its call is over."""
        self.given: list[ToolResult] = []
        self.tries = FaultCounts()
        self.call: int | None = None
        self.request: Request | None = None
        self.reply = Reply()
        self.heard = CallResult()
        self.coming: list[CallDelta | SegmentCompleted] = []
        self.over = False


class Simulation:
    instead: ClassVar[DebateOpened | None] = None
    """How every debate is opened, whatever the scene says: as an earlier version opened it."""

    def __init__(
        self,
        opening: DebateOpened,
        script: Script,
        debate_id: str = "deb_1",
        hand: Hand | None = None,
    ) -> None:
        self.id = debate_id
        self.script = script
        self.hand = hand or act
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
        self._record(decide(None, Open(self.instead or opening)))

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

    def write(self, events: Sequence[Event]) -> None:
        """What comes from elsewhere, and not by a command."""
        self._record(events)

    def crash(self) -> None:
        """The process dies: whatever it was doing is forgotten, what it wrote stays."""
        self.playing.clear()
        self.crashed = True

    def drain(self) -> None:
        """The process is told to stop, and has time to say so."""
        self._record(runner_decisions.interrupt_for_shutdown(self.debate))
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
            self._record(runner_decisions.recover(self.debate, self.records[-1].at))
            return True
        if self.playing:
            performance = self.playing[pick % len(self.playing)]
            self._perform(performance, oblivious)
            if performance.over:
                self.playing.remove(performance)
            return True
        wrote = self._record(runner_decisions.advance(self.debate))
        self.playing = [Performance(part) for part in _parts(self.debate)]
        return bool(wrote or self.playing) or self._wait()

    def _wait(self) -> bool:
        """For a person, or for the end of a vote; time passes only where nothing else happens."""
        debate, step = self.debate, plan(self.debate)
        if isinstance(step, HoldPoll) and closes_on_time(debate, step.name):
            self._record(runner_decisions.close_poll(debate, step.name))
            return True
        awaited = next(iter(_awaited(debate)), None)
        if awaited is None or debate.status == "paused":
            return False
        command = self.hand(debate, awaited)
        if command is None or isinstance(self.ask(command), Refused):
            self._record(runner_decisions.time_is_up(self.debate, awaited))
        return True

    def _perform(self, performance: Performance, oblivious: bool) -> None:
        wanted = runner_decisions.still_wanted(self.debate, performance.part.purpose)
        if not wanted and not oblivious:
            self._let_go(performance)
        elif performance.asked is not None:
            self._answer(performance, performance.asked)
        elif performance.call is None:
            self._begin(performance)
        elif performance.coming:
            self._hear(performance, performance.coming.pop(0))
        else:
            self._settle(performance)

    def _begin(self, performance: Performance) -> None:
        part = performance.part
        performance.attempts[part.continues] += 1
        attempt = performance.attempts[part.continues]
        try:
            request = part.request(attempt)
        except Fault as fault:
            self._record((part.on_failure(fault),))
            performance.over = True
            return
        purpose = part.purpose
        digest = hashlib.sha256(msgspec.json.encode(request)).hexdigest()
        written = self._record(
            runner_decisions.begin_call(self.debate, purpose, request, digest, attempt, part.continues)
        )
        started = next((event for event in written if isinstance(event, CallStarted)), None)
        if started is None:
            performance.over = True
            return
        request = replace(request, max_tokens=started.max_tokens)
        sent = Sent(started.call, attempt, purpose, request, self.debate)
        self.sent.append(sent)
        performance.call = started.call
        performance.request = request
        performance.heard = CallResult(call=started.call)
        performance.reply = self.script(sent)
        coming = _coming(started.call, performance.reply)
        placed = make_shifter(request)
        performance.coming = [_placed(placed, event) for event in coming] if placed else list(coming)

    def _hear(self, performance: Performance, event: StreamedEvent) -> None:
        match event:
            case CallDelta():
                performance.heard.add_delta(event.segment, event.kind, event.text)
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
            self._record(runner_decisions.fail_call(self.debate, failed, part.on_timeout(heard)))
            performance.over = True
            return
        try:
            if reply.fault is not None:
                raise Fault(reply.fault, reply.severity, billed=reply.billed)
            usage = _reported(reply, request, heard)
            heard.done = ReplyDone(
                "tool" if reply.uses else reply.finish,
                usage,
                _response_id(call) if reply.chained else None,
                reply.degraded,
                stored=reply.stored,
                tokens=reply.tokens,
            )
            result = part.accept(heard)
        except Fault as fault:
            part.adapt_to(fault)
            performance.tries = performance.tries.after(fault)
            wait = wait_before_retry(fault, performance.tries, base=1.0, time_left=1e9, jitter=0.5)
            end = part.on_failure(fault) if wait is None else None
            self._record(runner_decisions.fail_call(self.debate, self._failed(performance, fault, wait), end))
            performance.call = None
            performance.over = wait is None
            return
        usage = _believed(heard.done.usage, request, heard)
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
        self._record(runner_decisions.finish_call(self.debate, done, part.unwritten_segments(heard), result))
        performance.over = result is not None
        if result is None:
            assert isinstance(part, SpeechJob)
            performance.asked, performance.given = list(part.tool_session.requested_calls(heard)), []

    def _answer(self, performance: Performance, asked: list[ToolCall]) -> None:
        """One tool answers; when all have, the speech goes on."""
        part, heard, given = performance.part, performance.heard, performance.given
        assert isinstance(part, SpeechJob)
        if asked:
            call, index = asked.pop(0), next_index(heard.all_segments()) + len(given)
            late = len(given) >= part.tool_session.calls_left
            given.append(
                ToolResult(call.id, "" if late else f"It is {call.arguments}.", TOO_MANY * late, index)
            )
            self._record(
                runner_decisions.record_tool_result(self.debate, part.purpose, heard.call, given[-1])
            )
            return
        part.tool_session.add_results(heard, given)
        performance.asked = performance.call = None

    def _let_go(self, performance: Performance) -> None:
        performance.over = True
        if performance.call is not None and performance.asked is None:
            failed = self._failed(performance, Fault("cut"), None)
            self._record(runner_decisions.fail_call(self.debate, failed, None))

    def _failed(self, performance: Performance, fault: Fault, wait: float | None) -> CallFailed:
        call, request = performance.call, performance.request
        assert call is not None
        assert request is not None
        reported = performance.heard.done.usage if performance.heard.done else None
        usage = _believed(reported, request, performance.heard) if fault.billed else Usage()
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


# --- whose turn it is ---------------------------------------------------------------------------------


def _parts(debate: Debate) -> list[ModelJob]:
    """What models have to do now."""
    speaking: list[ModelJob] = [
        SpeechJob(debate, turn) for turn in debate.live if not debate.seat(turn.seat).model.human
    ]
    if debate.live:
        return speaking
    if debate.open_asides:
        return [
            AsideJob(debate, aside)
            for aside in debate.open_asides
            if not runner_decisions.is_for_human(debate, aside)
        ]
    step = plan(debate)
    ballots = step.ballots if isinstance(step, AskJudges) else ()
    return [
        BallotJob(debate, judge, order) for judge, order in ballots if not debate.judge(judge).model.human
    ]


def _awaited(debate: Debate) -> Iterable[runner_decisions.CallPurpose]:
    """What people have to do now."""
    for turn in debate.live:
        if debate.seat(turn.seat).model.human:
            yield runner_decisions.CallPurpose(turn=turn.number)
    for aside in debate.open_asides:
        if runner_decisions.is_for_human(debate, aside):
            yield runner_decisions.CallPurpose(aside=aside.number)
    step = plan(debate)
    for judge, order in step.ballots if isinstance(step, AskJudges) else ():
        if debate.judge(judge).model.human:
            yield runner_decisions.CallPurpose(judge=judge, order=order)


def act(debate: Debate, purpose: runner_decisions.CallPurpose) -> Command | None:
    """A plain speech, a point that is taken, a ballot for the first party if there is anything to judge."""
    if purpose.judge is not None:
        cites = tuple(turn.number for turn in evidence(debate)[-1:])
        order = tuple(party.id for party in parties(debate))
        ranking = order if is_ranked(debate) else ()
        ballot = Ballot(purpose.judge, 0, order[0], {}, "They were clearer.", cites=cites, ranking=ranking)
        return SubmitBallot(ballot) if cites else None
    aside = debate.aside(purpose.aside or 0)
    if aside is not None:
        return AnswerPoint(aside.seat or "", accept=True)
    turn = debate.turn(purpose.turn or 0)
    assert turn is not None
    return GiveSpeech(turn.seat, words(1000 + turn.number))


# --- what models say ----------------------------------------------------------------------------------


def speak(sent: Sent) -> Reply:
    """A plain speech that resembles no other, a ballot for the first seat, or a willing answer aside."""
    if sent.purpose.aside is not None:
        return Reply(aside(sent))
    if sent.purpose.judge is not None:
        return Reply(ballot(sent, sent.debate.seats[0].id))
    return Reply(words(sent.call))


def aside(sent: Sent, yes: bool = True, text: str = "") -> str:
    """An answer aside as JSON."""
    asked = sent.debate.aside(sent.purpose.aside or 0)
    assert asked is not None
    said: dict[str, dict[str, object]] = {
        "notes": {"notes": text or words(sent.call)},
        "point": {"rise": yes, "point": text or words(sent.call, 6)},
        "leave": {"accept": yes},
        "concession": {"concedes": yes, "why": text or words(sent.call, 6)},
        "referee": {"conceded": yes, "quote": text or asked.about},
        "confidence": {"percent": percent_canary(sent.call)},
        "belief": _chances(sent),
        "persona_vote": {"vote": "for" if yes else "undecided"},
    }
    return msgspec.json.encode(said[asked.kind]).decode()


def percent_canary(call: int) -> float:
    """A number that occurs nowhere else."""
    return 10 + call % 80 + 0.03


def _chances(sent: Sent) -> dict[str, object]:
    """What a judge believes of two parties, or of more."""
    labels = list(sent.request.schema["properties"]) if sent.request.schema else []
    if labels == ["percent"]:
        return {"percent": percent_canary(sent.call)}
    return {label: round(100 / len(labels), 2) for label in labels}


def words(number: int, count: int = 12) -> str:
    digest = hashlib.sha256(str(number).encode()).digest()
    return " ".join(WORDS[byte % len(WORDS)] for byte in digest[:count]).capitalize() + "."


def ballot(sent: Sent, winner: str | None, scores: Sequence[int] = (80, 70, 60, 50), **changes: Any) -> str:
    """A judge's reply as JSON, its winner named by seat."""
    labels = label_names.labels(sent.debate, sent.purpose.order)
    label = label_names.seat_labels(sent.debate, sent.purpose.order)[winner] if winner else ballots.TIE
    ranked = sorted(labels, key=lambda party: labels[party] != label)
    places = [labels[party] for party in ranked]
    said: dict[str, Any] = {
        "reasoning": f"{places[0]} answered what {places[-1]} said.",
        "rests_on": [speech_mark(turn) for turn in evidence(sent.debate)[-1:]],
        "criteria": {"argument": f"{places[0]} was clearer."},
        "speakers": {
            labels[seat]: {"strengths": ["clear"], "weaknesses": [], "score": score}
            for seat, score in zip(ranked, scores, strict=False)
        },
        **({"ranking": places} if is_ranked(sent.debate) else {"winner": label}),
    }
    return msgspec.json.encode({**said, **changes}).decode()


def one_word(sent: Sent, shares: Sequence[float], why: str = " it answered more.") -> Reply:
    """The reply of a judge that is asked for one word: the shares are those of the labels, in their order."""
    odds = {word.partition(",")[0]: share for word, share in zip(sent.request.words, shares, strict=True)}
    word = sent.request.words[list(shares).index(max(shares))]
    tokens = (TokenOdds(word.partition(",")[0], {" The": 0.1, **odds}), TokenOdds(",", {",": 1.0}))
    return Reply(sent.request.prefill + word + why, tokens=tokens)


def in_turn(replies: Iterable[Reply], then: Script = speak) -> Script:
    """One reply for each call, in order; `then` speaks when they are used up, and answers what is asked
    aside."""
    coming = iter(replies)
    return lambda sent: (None if sent.purpose.aside else next(coming, None)) or then(sent)


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
    for place_, asked in enumerate(reply.uses, sum(bool(text) for _kind, text in said)):
        yield SegmentCompleted(call, ToolCall(f"use_{call}_{place_}", TOOLS[0].name, asked, place_))


def _placed(placed: SegmentShifter, event: CallDelta | SegmentCompleted) -> CallDelta | SegmentCompleted:
    if isinstance(event, CallDelta):
        said = placed.shift(ReplyDelta(event.text, event.kind, event.segment))
        assert isinstance(said, ReplyDelta)
        return CallDelta(event.call, said.segment, said.kind, said.text)
    item = placed.shift(ReplySegment(event.segment))
    assert isinstance(item, ReplySegment)
    return replace(event, segment=item.segment)


def _segment(kind: DeltaKind, text: str, index: int, sealed: str) -> Segment:
    if kind == "text":
        return Text(text, index, item_id=f"item_{index}", sequence_number=index)
    parts = (ReasoningPart(text),)
    return Reasoning(parts, index, item_id=f"item_{index}", sequence_number=index, opaque=sealed)


def _reported(reply: Reply, request: Request, heard: CallResult) -> Usage | None:
    if reply.usage is not None:
        return reply.usage
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


def _guess(request: Request, heard: CallResult) -> Usage:
    said, thought = heard.size - heard.reasoning_size, heard.reasoning_size
    return estimate_usage(sent_tokens(request), whole_tokens(said), whole_tokens(thought))


def _believed(reported: Usage | None, request: Request, heard: CallResult) -> Usage:
    sent, said = text_bytes(request), heard.chars + heard.reasoning_chars
    return plausible_usage(reported, _guess(request, heard), sent, said)


def _response_id(call: int) -> str:
    return f"resp_{call}"
