"""Whole debates in a few lines: each function returns what a log folds to."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec.structs import replace

from moot import formats
from moot.core.events import (
    BallotCast,
    CallCompleted,
    CallDelta,
    CallFailed,
    DebateEnded,
    DebateStarted,
    Event,
    JudgingStarted,
    PollClosed,
    PollOpened,
    Recorded,
    RoundCompleted,
    RoundStarted,
    SegmentCompleted,
    TurnCompleted,
    TurnStarted,
    VerdictReached,
    VoteCast,
)
from moot.core.evolve import evolve
from moot.core.state import ZERO, Debate
from moot.core.terms import (
    FREE,
    Ballot,
    DebateLimits,
    DebateVerdict,
    Judge,
    Model,
    Money,
    PartyScore,
    PollName,
    Reasoning,
    ReasoningPart,
    Seat,
    Text,
    Usage,
)
from moot.judging.verdicts import reach_verdict
from moot.testing.event_factories import call_started, opened

BEGAN = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


class Log:
    """Events go in, a debate comes out; a second passes with each."""

    def __init__(self, **changes: Any) -> None:
        self.records: list[Recorded] = []
        self.debate: Debate = None  # type: ignore[assignment]
        self._calls = 0
        settings = {
            "format": formats.load("oxford"),
            "limits": DebateLimits(rounds=2),
            "seats": (seat("for"), seat("against")),
            "judges": (judge(),),
        }
        self.add(opened(**{**settings, **changes}))

    def add(self, *events: Event) -> Log:
        for event in events:
            seq = len(self.records) + 1
            recorded = Recorded("deb_1", seq, BEGAN + timedelta(seconds=seq), 1, event)
            self.records.append(recorded)
            self.debate = evolve(self.debate, recorded)
        return self

    def start(self) -> Log:
        return self.add(DebateStarted(), RoundStarted(1))

    def begin(self, seat_id: str, **changes: Any) -> int:
        """A turn starts and a model is asked; returns the number of the turn."""
        turn = len(self.debate.turns) + len(self.debate.live) + 1
        slot = next(slot for slot in self.debate.remaining_slots() if slot.seat == seat_id)
        phase = self.debate.format.phases[slot.phase]
        self._calls += 1
        self.add(
            TurnStarted(turn, slot.index, slot.round, phase.key, slot.tone, seat_id),
            call_started(self._calls, turn, **{"model": self.debate.seat(seat_id).model.label, **changes}),
        )
        return turn

    def ask_again(self, turn: int, attempt: int) -> Log:
        """The call broke off, and the same speech is asked for once more."""
        self.fail_call(retry_in_ms=1)
        self._calls += 1
        return self.add(call_started(self._calls, turn, attempt=attempt))

    def hear(self, text: str, kind: str = "text") -> Log:
        return self.add(CallDelta(self._calls, 0, kind, text))  # type: ignore[arg-type]

    def settle(self, text: str, thought: str = "", cost: Money | None = ZERO, **usage: Any) -> Log:
        spent = Usage(**{"input": 100, "output": 20, **usage})
        if thought:
            part = Reasoning((ReasoningPart(thought),))
            self.add(SegmentCompleted(self._calls, part))
        if text:
            self.add(SegmentCompleted(self._calls, Text(text)))
        return self.add(CallCompleted(self._calls, "stop", spent, cost, 1500))

    def say(self, seat_id: str, text: str, thought: str = "", **completed: Any) -> Log:
        turn = self.begin(seat_id)
        if thought:
            self.hear(thought, "reasoning")
        self.hear(text).settle(text, thought)
        return self.add(TurnCompleted(turn, len(text.split()), **completed))

    def say_by_hand(self, seat_id: str, text: str, **completed: Any) -> Log:
        """A person speaks: by a call that has no tokens and costs nothing."""
        turn = self.begin(seat_id, max_tokens=0, model="human/human")
        self.hear(text).add(SegmentCompleted(self._calls, Text(text)))
        self.add(CallCompleted(self._calls, "stop", Usage(), ZERO, 0))
        return self.add(TurnCompleted(turn, len(text.split()), **completed))

    def poll(self, name: PollName, *choices: str) -> Log:
        """Everybody votes, v0 first, and the poll is closed."""
        self.add(PollOpened(name))
        self.add(*(VoteCast(name, f"v{place}", choice) for place, choice in enumerate(choices)))
        return self.add(PollClosed(name))

    def fail_call(self, **changes: Any) -> Log:
        failed = CallFailed(
            self._calls, "overloaded", "transient", "The provider is overloaded.", Usage(), None
        )
        return self.add(replace(failed, **changes))

    def judged(self, *ballots: Ballot) -> Log:
        self.add(RoundCompleted(self.debate.round), JudgingStarted(1, "rounds"))
        return self.verdict(self._weighed(1, ballots))

    def judged_again(self, judges: tuple[Judge, ...], *ballots: Ballot) -> Log:
        number = len(self.debate.judgings) + 1
        self.add(JudgingStarted(number, "judged", judges=judges))
        return self.add(VerdictReached(self._weighed(number, ballots), number))

    def _weighed(self, number: int, ballots: tuple[Ballot, ...]) -> DebateVerdict:
        for ballot in ballots:
            self.add(BallotCast(number, ballot))
        assert self.debate.judging is not None
        verdict = reach_verdict(self.debate, self.debate.judging)
        assert verdict is not None
        return verdict

    def verdict(self, verdict: DebateVerdict) -> Log:
        return self.add(VerdictReached(verdict, 1), DebateEnded("rounds"))


def seat(side: str, name: str = "", model: str = "parrot", **changes: Any) -> Seat:
    priced = Model("scripted", model, price=FREE)
    return Seat(id=side, name=name or side.capitalize(), side=side, model=priced, **changes)  # type: ignore[arg-type]


def judge(judge_id: str = "judge", model: str = "owl", **changes: Any) -> Judge:
    return Judge(judge_id, judge_id.capitalize(), Model("scripted", model, price=FREE, **changes))


def ballot(
    winner: str | None, pro: float, con: float, order: int = 0, by: str = "judge", **more: Any
) -> Ballot:
    scores = {"for": PartyScore(pro, ("clear",), ("long",)), "against": PartyScore(con, ("deep",), ("dry",))}
    return Ballot(by, order, winner, scores, "Because of the evidence.", {"argument": "Sound."}, **more)


def held(**changes: Any) -> Log:
    """Two rounds of two speeches and a clear verdict."""
    log = Log(**changes).start()
    log.say("for", "Licences keep people safe.", thought="Lead with safety.")
    log.say("against", "Licences freeze what they license.")
    log.add(RoundCompleted(1), RoundStarted(2))
    log.say("for", "Safety first.").say("against", "Freedom first.")
    return log.judged(ballot("for", 80, 70, 0), ballot("for", 76, 72, 1))
