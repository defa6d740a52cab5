"""The quick dialect: an Optimist, a Skeptic and a Moderator, told in six flat events.

`agent_start`, `token`, `agent_end`, `round_complete`, `debate_complete`, `error`. Rounds are counted from 0,
but `round_complete` tells how many there have been, once the debaters have spoken: the moderator comes after
it. An agent that starts again has taken back what it said; `fullMessage` is right whatever was streamed. A
speech that came to nothing is an `error` and has no end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, ClassVar, Literal, assert_never

from msgspec import Struct
from pydantic import ConfigDict

from moot.api.frames import Frame, SeenEvent
from moot.api.problems import Problem
from moot.api.v1.bodies import Body, read_body
from moot.api.v1.validation_messages import FixedMessage, between, line
from moot.compat.plain_frames import (
    SpeechBegun,
    SpeechOver,
    SpeechText,
    content,
    counted_turns,
    end_seq,
    is_after_end,
    milliseconds,
    numbered_frames,
    speech_events,
)
from moot.core.errors import FaultKind
from moot.core.events import DebateEnded, DebateFailed, RoundCompleted, TurnStarted
from moot.core.state import Debate, Turn
from moot.judging.parties import party
from moot.views import outcome
from moot.views.costs import costs
from moot.views.transcript_json import moment

FORMAT = "panel"
ROUNDS, MAX_ROUNDS = 3, 5
Code = Literal["INVALID_TOPIC", "RATE_LIMIT", "LLM_ERROR", "INTERNAL_ERROR"]
PERMANENT_FAULTS: tuple[FaultKind, ...] = (
    "bad_key", "forbidden", "billing", "unknown_model", "bad_request", "too_long", "tls", "redirected",
    "filtered", "budget", "unavailable",
)  # fmt: skip
"""What would fail again."""


class QuickDebate(Body):
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"topic": "Should artificial intelligence be regulated by governments?", "maxRounds": 3}
            ]
        }
    )
    detail: ClassVar[str] = "Invalid debate configuration"

    topic: Annotated[str, line(1, 500)]
    """The subject of the debate."""
    max_rounds: Annotated[
        int, between(1, MAX_ROUNDS), FixedMessage(f"Must be between 1 and {MAX_ROUNDS}")
    ] = ROUNDS


def read_request(data: bytes) -> QuickDebate:
    """What is wrong with the topic has a code of its own."""
    try:
        return read_body(QuickDebate, data)
    except Problem as problem:
        if "topic" not in problem.errors:
            raise
        code: Code = "INVALID_TOPIC"
        raise Problem(problem.kind, problem.detail, errors=problem.errors, members={"code": code}) from None


class QuickFrames(Struct, frozen=True):
    @property
    def name(self) -> str:
        return "quick"

    def ends(self, seen: SeenEvent) -> bool:
        return end_seq(seen.after) == seen.seq

    def rests(self, debate: Debate) -> bool:
        return False

    def frames(self, seen: SeenEvent) -> Sequence[Frame]:
        if seen.event is None or is_after_end(seen):
            return ()
        return numbered_frames(seen, [*_rounds(seen), *_speeches(seen), *_turnings(seen)])


def debate_fields(debate: Debate) -> dict[str, Any]:
    """What a debate came to, in the members that its last event and its address share."""
    figures = costs(debate)
    return {
        "summary": summary(debate),
        "totalTokens": figures.usage.total,
        "totalCost": None if figures.total is None else float(figures.total),
        "duration": milliseconds(debate),
        "transcript": [_message(debate, turn) for turn in counted_turns(debate) if turn.has_words],
    }


def summary(debate: Debate) -> str:
    """The moderator's; where none spoke, what the judges said, or why it ended."""
    summed_up = [turn.text for turn in counted_turns(debate) if turn.has_words and turn.tone == "summary"]
    if summed_up:
        return summed_up[-1]
    verdict = debate.verdict
    return (verdict.reasoning or outcome.headline(debate, verdict)) if verdict else outcome.ending(debate)


def deleted() -> Frame:
    return Frame("", _error("The debate was deleted.", "INTERNAL_ERROR", retryable=False))


def _rounds(seen: SeenEvent) -> Iterator[dict[str, Any]]:
    """A round is complete when its debaters have spoken, also where a moderator still sums up."""
    event = seen.event
    match event:
        case TurnStarted(tone="summary"):
            already_sent = (
                any(turn.slot == event.slot for turn in seen.before.turns) if seen.before else False
            )
        case RoundCompleted():
            already_sent = any(
                turn.tone == "summary" and turn.round == event.round for turn in seen.after.turns
            )
        case _:
            return
    if not already_sent:
        yield {"type": "round_complete", "round": event.round, "totalRounds": seen.after.rounds_planned}


def _speeches(seen: SeenEvent) -> Iterator[dict[str, Any]]:
    for speech_event in speech_events(seen):
        agent = seen.after.seat(speech_event.turn.seat).name
        match speech_event:
            case SpeechBegun():
                position = {"agent": agent, "round": speech_event.turn.round - 1}
                yield {"type": "agent_start", **position, "timestamp": moment(seen.at)}
            case SpeechText():
                yield {"type": "token", "content": speech_event.text, "agent": agent}
            case SpeechOver():
                yield _ended(speech_event.turn, agent)
            case _:
                assert_never(speech_event)


def _ended(turn: Turn, agent: str) -> dict[str, Any]:
    position: dict[str, Any] = {"agent": agent, "round": turn.round - 1}
    if turn.state == "failed":
        return {**_fault(turn), **position}
    return {"type": "agent_end", **position, "fullMessage": content(turn), "tokenCount": turn.usage.output}


def _turnings(seen: SeenEvent) -> Iterator[dict[str, Any]]:
    match seen.event:
        case DebateEnded(reason=reason):
            fields = {**debate_fields(seen.after), "reason": reason, "winner": _winner(seen.after)}
            yield {"type": "debate_complete", **fields}
        case DebateFailed():
            yield _failure(seen.after)
        case _:
            return


def _winner(debate: Debate) -> str | None:
    """A name, or `draw`; a panel has none."""
    verdict = debate.verdict
    if verdict is None or debate.status == "aborted":
        return None
    return party(debate, verdict.winner).name if verdict.winner else "draw"


def _failure(debate: Debate) -> dict[str, Any]:
    """Of our own mistakes nothing is told but that there was one."""
    message = outcome.ending(debate)
    failed = [turn for turn in debate.turns if turn.state == "failed" and not turn.struck]
    match debate.failure:
        case "permanent_fault" | "all_failed" if failed:
            return {**_fault(failed[-1]), "message": message}
        case "internal":
            return _error(outcome.FAILURES["internal"], "INTERNAL_ERROR", retryable=False)
        case _:
            return _error(message, "LLM_ERROR", retryable=debate.failure == "judge_failed")


def _fault(turn: Turn) -> dict[str, Any]:
    code: Code = "RATE_LIMIT" if turn.by == "rate_limited" else "LLM_ERROR"
    return _error(turn.message, code, retryable=turn.by not in PERMANENT_FAULTS)


def _error(message: str, code: Code, *, retryable: bool) -> dict[str, Any]:
    return {"type": "error", "message": message, "code": code, "retryable": retryable}


def _message(debate: Debate, turn: Turn) -> dict[str, Any]:
    return {"role": debate.seat(turn.seat).name, "content": turn.text, "round": turn.round - 1}
