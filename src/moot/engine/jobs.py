"""What a runner works on: a speech, an aside or a ballot, given by a model or by a person.

A `ModelJob` says what to send at each attempt, whether a reply is accepted, and what to record when it is,
when the time is up, or when no further attempt is made. A `SpeechJob` may call tools and continue with their
results. A `HumanJob` only knows how long the person has: people act by commands. Pure.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from datetime import datetime

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
from moot.core.terms import Ballot, FinishReason, Model, Request, Text, Truncation
from moot.core.word_count import OVERRUN_FACTOR, count_words
from moot.engine.call import CallResult
from moot.engine.tool_loop import ToolSession
from moot.judging import ballots
from moot.judging.answer_ballots import read_answer_ballot
from moot.judging.judge_request import judge_request, repair_request
from moot.judging.neutral_labels import labels
from moot.judging.readings import read_first
from moot.judging.word_ballots import read_word_ballot
from moot.prompts import small_model_prompts
from moot.prompts.model_replies import UnreadableReply
from moot.prompts.question_prompts import gives_answers
from moot.prompts.speech_prompts import turn_request
from moot.rules.budget import CallPurpose
from moot.rules.extension_questions import (
    NOBODY_ASKS,
    read_side_answer,
    side_question_model,
    side_question_request,
)
from moot.rules.runner_decisions import ResultEvent, is_for_human
from moot.rules.side_questions import ANSWER_SECONDS, answer_word_limit

TRUNCATIONS: dict[FinishReason, Truncation] = {"length": "max_tokens", "filter": "filter"}


class ModelJob(ABC):
    """What a model is called for: which requests to send, which replies to accept, and what to record."""

    name: str
    purpose: CallPurpose
    continues: int | None = None
    """The call that the next one continues."""

    @abstractmethod
    def request(self, attempt: int) -> Request:
        """Raises Fault where the extension that asks cannot say what to send."""

    @abstractmethod
    def adapt_to(self, fault: Fault) -> None:
        """Change the next request, where that may avoid the fault."""

    @abstractmethod
    def accept(self, reply: CallResult) -> ResultEvent | None:
        """What to record for an accepted reply; None where the reply asks for tools and so is not the end.

        Raises Fault where the reply cannot be used.
        """

    def unwritten_segments(self, reply: CallResult) -> tuple[SegmentCompleted, ...]:
        """The segments of an accepted reply that are still to be recorded."""
        return reply.unfinished_segments()

    def on_timeout(self, reply: CallResult) -> ResultEvent:
        return self.on_failure(Fault("timeout"))

    @abstractmethod
    def on_failure(self, fault: Fault) -> ResultEvent: ...


class SpeechJob(ModelJob):
    def __init__(self, debate: Debate, turn: Turn) -> None:
        self.name, self.purpose = f"turn {turn.number}", CallPurpose(turn=turn.number)
        self._debate = debate
        self._turn = turn
        self._seat = debate.seat(turn.seat)
        self._second_try = False
        self._chained = not _id_repeated(debate, debate.chained_response_id(turn.seat))
        self._sealed = True
        self._shows_reasoning = True
        self._trimmed = False
        self._schema = True
        self.tool_session = ToolSession(debate, self._seat)

    @property
    def continues(self) -> int | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.tool_session.continues

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
            aided=self.tool_session.has_tools,
        )
        request = request if self._shows_reasoning else replace(request, thoughts=False)
        request = request if self._schema else replace(request, schema=None)
        return self.tool_session.extend_request(request, chained=self._chained, sealed=self._sealed)

    def adapt_to(self, fault: Fault) -> None:
        if fault.kind in ("chain_lost", "too_long"):
            self._chained = False
        if fault.kind == "seal_refused":
            self._sealed = False
        if fault.kind == "summary_refused":
            self._shows_reasoning = False
        if fault.kind == "schema_refused":
            # The prompt describes the JSON in words as well.
            self._schema = False
        if fault.kind == "tools_refused":
            self.tool_session.drop_tools()
        if fault.kind == "too_long" and self.tool_session.started:
            # The request was short enough before the tools had answered.
            self.tool_session.drop_tools()
        elif fault.kind == "too_long":
            self._trimmed = True
            if not self.request(1).trimmed:
                # There is nothing to leave out: the next request would be as long.
                fault.severity = "permanent"

    def accept(self, reply: CallResult) -> ResultEvent | None:
        if self.tool_session.needs_tools(reply):
            return None
        finish = reply.done.finish if reply.done else "stop"
        refusal = finish == "refusal"
        if not self.tool_session.full_text(reply).strip() and not refusal:
            if finish == "filter":
                raise Fault("filtered", "unusable")
            raise Fault("empty", "unusable")
        if self._seat.model.small and not self._second_try and not gives_answers(self._debate):
            self._second_try = True
            if small_model_prompts.is_off_side(self._debate, self._turn, reply.text):
                raise Fault("off_side", "unusable")
        truncated = reply.truncated or TRUNCATIONS.get(finish)
        return self._completed(reply, truncated, refusal)

    def unwritten_segments(self, reply: CallResult) -> tuple[SegmentCompleted, ...]:
        unfinished = reply.unfinished_segments()
        if not (self._seat.model.small and reply.done and reply.done.finish == "length"):
            return unfinished
        # A small model rarely ends in time: its speech ends with its last complete sentence.
        return tuple(
            replace(
                event,
                segment=replace(event.segment, text=small_model_prompts.whole_sentences(event.segment.text)),
            )
            if isinstance(event.segment, Text)
            else event
            for event in unfinished
        )

    def on_timeout(self, reply: CallResult) -> ResultEvent:
        if self.tool_session.full_text(reply).strip():
            return self._completed(reply, "timeout", refusal=False)
        return self.on_failure(Fault("timeout"))

    def on_failure(self, fault: Fault) -> ResultEvent:
        return TurnFailed(self._turn.number, fault.kind, str(fault))

    def _completed(self, reply: CallResult, truncated: Truncation | None, refusal: bool) -> TurnCompleted:
        text, budget = self._recorded_text(reply), self._debate.word_budget(self._turn.slot)
        words = count_words(text)
        return TurnCompleted(
            turn=self._turn.number,
            words=words,
            truncated=truncated,
            refusal=refusal,
            degraded=",".join(self._degradations(reply)),
            over_length=words > budget * OVERRUN_FACTOR,
            clipped=self._debate.clip_words(self._turn.slot, text),
            refusal_category=reply.done.refusal_category if reply.done and refusal else "",
        )

    def _recorded_text(self, reply: CallResult) -> str:
        """The text of the whole speech, without what `unwritten_segments` leaves out."""
        text = self.tool_session.full_text(reply)
        recorded = {event.segment.index: event.segment for event in self.unwritten_segments(reply)}
        segments = (recorded.get(part.index, part) for part in reply.all_segments())
        return text.removesuffix(reply.text) + "".join(
            part.text for part in segments if isinstance(part, Text)
        )

    def _degradations(self, reply: CallResult) -> list[str]:
        """In what ways the speech is less than was asked for."""
        named = reply.done.degraded.split(",") if reply.done and reply.done.degraded else []
        if not self._debate.could_be_chained(self._turn.seat):
            # The history was sent because a command cut or struck a speech: the service has lost nothing.
            named = [mark for mark in named if mark != "chain"]
        return [*named, "context_trimmed"] if self._trimmed else named


def _id_repeated(debate: Debate, response_id: str | None) -> bool:
    """Whether the service has given this response id twice, so that it is unclear what it refers to."""
    return response_id is not None and sum(turn.response_id == response_id for turn in debate.turns) > 1


class AsideJob(ModelJob):
    """The answer to a question beside the speeches."""

    def __init__(self, debate: Debate, aside: Aside) -> None:
        self.name = f"aside {aside.number}"
        self._debate = debate
        self._aside = aside
        self._words = answer_word_limit(debate, aside)
        self._schema = True
        self.purpose = CallPurpose(aside=aside.number)

    def request(self, attempt: int) -> Request:
        model = side_question_model(self._debate, self._aside)
        if model is None:
            raise Fault("unavailable", "permanent", billed=False, message=NOBODY_ASKS)
        request = side_question_request(self._debate, self._aside, model, self._words, attempt)
        return request if self._schema else replace(request, schema=None)

    def adapt_to(self, fault: Fault) -> None:
        # The question describes the JSON in words as well.
        if fault.kind == "schema_refused":
            self._schema = False
        if fault.kind == "too_long":
            fault.severity = "permanent"

    def accept(self, reply: CallResult) -> ResultEvent:
        try:
            return read_side_answer(self._debate, self._aside, reply.text, self._words)
        except UnreadableReply as error:
            raise Fault("malformed", "unusable", detail=str(error)) from error

    def on_failure(self, fault: Fault) -> ResultEvent:
        return AsideFailed(self._aside.number, str(fault))


class HumanJob:
    """A person's speech, ballot or answer: what the debate waits for, and how long."""

    def __init__(self, purpose: CallPurpose, name: str) -> None:
        self.purpose = purpose
        self.name = name

    def seconds_left(self, debate: Debate, now: datetime) -> float | None:
        """None while the clock is stopped by a pause."""
        if debate.status == "paused":
            return None
        if self.purpose.turn is not None and (turn := debate.turn(self.purpose.turn)):
            return debate.person_seconds_left(turn, now)
        if self.purpose.aside is not None and (aside := debate.aside(self.purpose.aside)):
            return ANSWER_SECONDS + aside.extended - (now - aside.asked_at).total_seconds()
        since = debate.judging.people_since if debate.judging else debate.updated_at
        return debate.limits.person_seconds - (now - since).total_seconds()


class BallotJob(ModelJob):
    def __init__(self, debate: Debate, judge: str, order: int) -> None:
        self.name = f"judge {judge} {order}"
        self._debate = debate
        self._judge = debate.judge(judge)
        self._order = order
        self._number = debate.judging.number if debate.judging else 0
        self._request = judge_request(debate, self._judge, order)
        self.purpose = CallPurpose(judge=judge, order=order)

    def request(self, attempt: int) -> Request:
        return replace(self._request, attempt=attempt)

    def adapt_to(self, fault: Fault) -> None:
        # The prompt describes the JSON in words as well.
        if fault.kind == "schema_refused":
            self._request = replace(self._request, schema=None)
        if fault.kind == "summary_refused":
            self._request = replace(self._request, thoughts=False)
        if fault.kind == "too_long" and self.purpose.repair:
            self._request = replace(self._request, messages=self._request.messages[:1])
        elif fault.kind == "too_long":
            # Nothing that a judge reads can be left out.
            fault.severity = "permanent"

    def accept(self, reply: CallResult) -> ResultEvent:
        if reply.truncated == "cap":
            raise Fault("malformed", "unusable")
        try:
            ballot = self._read(reply)
        except UnreadableReply as error:
            if not self.purpose.repair:
                self._request = repair_request(self._request, reply.text, str(error))
                self.purpose = replace(self.purpose, repair=True)
            raise Fault("malformed", "unusable", detail=str(error)) from error
        first = read_first(self._debate, self._order)
        named = labels(self._debate, self._order)
        return BallotCast(self._number, replace(ballot, labels=named, read_first=first))

    def _read(self, reply: CallResult) -> Ballot:
        about = (self._debate, self._judge, self._order)
        if self._request.words:
            return read_word_ballot(reply.text, reply.done.tokens if reply.done else (), *about)
        read = read_answer_ballot if self._debate.setup.question else ballots.read_ballot
        return read(reply.text, *about)

    def on_failure(self, fault: Fault) -> ResultEvent:
        return BallotSpoiled(
            self._number, self._judge.id, self._order, str(fault), fault.kind, fault.severity
        )


def speech_job(debate: Debate, turn: Turn) -> ModelJob | HumanJob:
    if debate.seat(turn.seat).model.human:
        return HumanJob(CallPurpose(turn=turn.number), f"turn {turn.number}")
    return SpeechJob(debate, turn)


def aside_job(debate: Debate, aside: Aside) -> ModelJob | HumanJob:
    if is_for_human(debate, aside):
        return HumanJob(CallPurpose(aside=aside.number), f"aside {aside.number}")
    return AsideJob(debate, aside)


def ballot_job(debate: Debate, judge: str, order: int) -> ModelJob | HumanJob:
    if debate.judge(judge).model.human:
        return HumanJob(CallPurpose(judge=judge), f"judge {judge}")
    return BallotJob(debate, judge, order)
