"""The parts that models play, as the runner sees them: a `Speech` in the debate, a `Vote` of a judge, an
answer `Beside` the speeches. A `Person` plays theirs by themselves; the runner only holds the clock.

Each part of a model says what to ask at each attempt, whether an answer will do, and what is written down
when it does, when the time is up, or when nothing more is to be tried. A speech that asks something of its
tools goes on with what they gave. Pure.
"""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from msgspec.structs import replace

from moot.core.errors import Fault
from moot.core.events import (
    AsideFailed,
    BallotCast,
    BallotSpoiled,
    SegmentCompleted,
    TurnCompleted,
    TurnFailed,
)
from moot.core.state import Aside, Debate, Turn
from moot.core.terms import Finish, Model, Request, Text, Truncation
from moot.core.word_count import LENIENCE, count
from moot.engine.call_result import Heard
from moot.engine.tool_session import Research
from moot.judging import ballots
from moot.judging.judge_request import judge_request, repair_request
from moot.prompts import small_model_prompts
from moot.prompts.side_question_prompts import Unreadable, answer, aside_request
from moot.prompts.speech_prompts import turn_request
from moot.rules.runner_decisions import Purpose, Result, aside_model
from moot.rules.side_questions import ANSWER_SECONDS, words_for

TRUNCATIONS: dict[Finish, Truncation] = {"length": "max_tokens", "filter": "filter"}


class Part(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def purpose(self) -> Purpose: ...

    @property
    def continues(self) -> int | None:
        """The call that the next one goes on from."""
        ...

    def request(self, attempt: int) -> Request: ...

    def learn(self, fault: Fault) -> None:
        """Ask for something else next time, where that may help."""
        ...

    def accept(self, heard: Heard) -> Result | None:
        """None where it goes on after this. Raises Fault where the answer will not do."""
        ...

    def segments(self, heard: Heard, call: int) -> tuple[SegmentCompleted, ...]:
        """What is still to be written down of an accepted answer."""
        ...

    def time_is_up(self, heard: Heard) -> Result: ...

    def give_up(self, fault: Fault) -> Result: ...


class Speech:
    def __init__(self, debate: Debate, turn: Turn) -> None:
        self.name = f"turn {turn.number}"
        self.purpose = Purpose(turn=turn.number)
        self._debate = debate
        self._turn = turn
        self._seat = debate.seat(turn.seat)
        self._second_try = False
        self._chained = not _held_twice(debate, debate.chain(turn.seat))
        self._sealed = True
        self._thoughts = True
        self._trimmed = False
        self.research = Research(debate, self._seat)

    @property
    def continues(self) -> int | None:
        return self.research.continues

    @property
    def model(self) -> Model:
        return self._seat.model

    def request(self, attempt: int) -> Request:
        request = turn_request(
            self._debate,
            self._turn,
            attempt,
            chained=self._chained,
            sealed=self._sealed,
            trimmed=self._trimmed,
            aided=self.research.equipped,
        )
        request = request if self._thoughts else replace(request, thoughts=False)
        return self.research.brought_to(request, chained=self._chained, sealed=self._sealed)

    def learn(self, fault: Fault) -> None:
        if fault.kind in ("chain_lost", "too_long"):
            self._chained = False
        if fault.kind == "seal_refused":
            self._sealed = False
        if fault.kind == "summary_refused":
            self._thoughts = False
        if fault.kind == "tools_refused":
            self.research.give_up()
        if fault.kind == "too_long" and self.research.under_way:
            # It was short enough before its tools had answered.
            self.research.give_up()
        elif fault.kind == "too_long":
            self._trimmed = True
            if not self.request(1).trimmed:
                # There is nothing to leave out: it would be as long the next time.
                fault.severity = "permanent"

    def accept(self, heard: Heard) -> Result | None:
        if self.research.goes_on(heard):
            return None
        finish = heard.done.finish if heard.done else "stop"
        refusal = finish == "refusal"
        if not self.research.whole(heard).strip() and not refusal:
            if finish == "filter":
                raise Fault("filtered", "unusable")
            raise Fault("empty", "unusable")
        if self._seat.model.small and not self._second_try:
            self._second_try = True
            if small_model_prompts.strays(self._debate, self._turn, heard.text):
                raise Fault("off_side", "unusable")
        truncated = heard.truncated or TRUNCATIONS.get(finish)
        return self._completed(heard, truncated, refusal)

    def segments(self, heard: Heard, call: int) -> tuple[SegmentCompleted, ...]:
        made = heard.unrecorded(call)
        if not (self._seat.model.small and heard.done and heard.done.finish == "length"):
            return made
        # A small model rarely ends in time; its speech ends with its last whole sentence.
        return tuple(
            replace(
                event,
                segment=replace(event.segment, text=small_model_prompts.whole_sentences(event.segment.text)),
            )
            if isinstance(event.segment, Text)
            else event
            for event in made
        )

    def time_is_up(self, heard: Heard) -> Result:
        if self.research.whole(heard).strip():
            return self._completed(heard, "timeout", refusal=False)
        return self.give_up(Fault("timeout"))

    def give_up(self, fault: Fault) -> Result:
        return TurnFailed(self._turn.number, fault.kind, str(fault))

    def _completed(self, heard: Heard, truncated: Truncation | None, refusal: bool) -> TurnCompleted:
        text, budget = self.research.whole(heard), self._debate.budget(self._turn.slot)
        words = count(text)
        return TurnCompleted(
            turn=self._turn.number,
            words=words,
            truncated=truncated,
            refusal=refusal,
            degraded=",".join(self._marks(heard)),
            over_length=words > budget * LENIENCE,
            clipped=self._debate.clipped(self._turn.slot, text),
        )

    def _marks(self, heard: Heard) -> list[str]:
        marks = heard.done.degraded.split(",") if heard.done and heard.done.degraded else []
        return [*marks, "context_trimmed"] if self._trimmed else marks


def _held_twice(debate: Debate, response_id: str | None) -> bool:
    """Whose memory an id would wake that the service has given twice is anybody's guess."""
    return response_id is not None and sum(turn.response_id == response_id for turn in debate.turns) > 1


class Beside:
    """The answer to an aside."""

    continues: int | None = None

    def __init__(self, debate: Debate, aside: Aside) -> None:
        self.name = f"aside {aside.number}"
        self.purpose = Purpose(aside=aside.number)
        self._debate = debate
        self._aside = aside
        self._words = words_for(debate, aside)
        self._schema = True

    def request(self, attempt: int) -> Request:
        model = aside_model(self._debate, self._aside)
        request = aside_request(self._debate, self._aside, model, self._words, attempt)
        return request if self._schema else replace(request, schema=None)

    def learn(self, fault: Fault) -> None:
        # The question describes the JSON in words too.
        if fault.kind == "schema_refused":
            self._schema = False
        if fault.kind == "too_long":
            fault.severity = "permanent"

    def accept(self, heard: Heard) -> Result:
        try:
            return answer(self._debate, self._aside, heard.text, self._words)
        except Unreadable as error:
            raise Fault("malformed", "unusable", detail=str(error)) from error

    def segments(self, heard: Heard, call: int) -> tuple[SegmentCompleted, ...]:
        return heard.unrecorded(call)

    def time_is_up(self, heard: Heard) -> Result:
        return self.give_up(Fault("timeout"))

    def give_up(self, fault: Fault) -> Result:
        return AsideFailed(self._aside.number, str(fault))


class Person:
    """Someone who speaks, judges or answers by hand: what the debate waits for, and how long."""

    def __init__(self, purpose: Purpose, name: str) -> None:
        self.purpose = purpose
        self.name = name

    def seconds_left(self, debate: Debate, now: datetime) -> float | None:
        """None while the clock stands still."""
        if debate.status == "paused":
            return None
        since, seconds = self._allowed(debate)
        return seconds - (now - since).total_seconds()

    def _allowed(self, debate: Debate) -> tuple[datetime, float]:
        usual = debate.limits.person_seconds
        if self.purpose.turn is not None and (turn := debate.turn(self.purpose.turn)):
            return turn.started_at, usual + turn.extended
        if self.purpose.aside is not None and (aside := debate.aside(self.purpose.aside)):
            return aside.asked_at, ANSWER_SECONDS + aside.extended
        return (debate.judging.people_since if debate.judging else debate.updated_at), usual


class Vote:
    continues: int | None = None

    def __init__(self, debate: Debate, judge: str, order: int) -> None:
        self.name = f"judge {judge} {order}"
        self._debate = debate
        self._judge = debate.judge(judge)
        self._order = order
        self._number = debate.judging.number if debate.judging else 0
        self._request = judge_request(debate, self._judge, order)
        self._repairing = False

    @property
    def purpose(self) -> Purpose:
        return Purpose(judge=self._judge.id, order=self._order, repair=self._repairing)

    def request(self, attempt: int) -> Request:
        return replace(self._request, attempt=attempt)

    def learn(self, fault: Fault) -> None:
        # The prompt describes the JSON in words too.
        if fault.kind == "schema_refused":
            self._request = replace(self._request, schema=None)
        if fault.kind == "summary_refused":
            self._request = replace(self._request, thoughts=False)
        if fault.kind == "too_long" and self._repairing:
            self._request = replace(self._request, messages=self._request.messages[:1])
        elif fault.kind == "too_long":
            # Nothing of what a judge reads can be left out.
            fault.severity = "permanent"

    def accept(self, heard: Heard) -> Result:
        if heard.truncated == "cap":
            raise Fault("malformed", "unusable")
        try:
            ballot = ballots.read(heard.text, self._debate, self._judge, self._order)
        except ballots.Unreadable as error:
            if not self._repairing:
                self._request = repair_request(self._request, heard.text, str(error))
                self._repairing = True
            raise Fault("malformed", "unusable", detail=str(error)) from error
        return BallotCast(self._number, ballot)

    def segments(self, heard: Heard, call: int) -> tuple[SegmentCompleted, ...]:
        return heard.unrecorded(call)

    def time_is_up(self, heard: Heard) -> Result:
        return self.give_up(Fault("timeout"))

    def give_up(self, fault: Fault) -> Result:
        return BallotSpoiled(self._number, self._judge.id, self._order, str(fault))
