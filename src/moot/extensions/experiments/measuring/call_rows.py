"""The table `calls`: every call of a model in a debate, read from its log.

What was sent and what came back are not in it: speeches and ballots have tables of their own.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import PureWindowsPath
from typing import Annotated, Literal, cast

from msgspec import Meta, Struct
from msgspec.structs import replace

from moot.core.events import CallCompleted, CallFailed, CallStarted, Recorded
from moot.core.state import Debate
from moot.core.terms import HUMAN, AsideKind

CallPurpose = Literal["speech", "ballot", AsideKind, "confidence", "belief", "persona_vote"]


class CallRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One call of a model, also one that failed."""

    debate: Annotated[str, Meta(description="The id of the debate.")]
    experiment: Annotated[str, Meta(description="The name of the experiment, if it belongs to one.")] = ""
    call: Annotated[int, Meta(description="Its number in the debate.")] = 0
    purpose: Annotated[
        CallPurpose, Meta(description="What it was made for: a speech, a ballot, or a question beside them.")
    ] = "speech"
    name: Annotated[str, Meta(description="The seat or the judge for which it was made.")] = ""
    model: Annotated[str, Meta(description="The model that was asked for.")] = ""
    answered_by: Annotated[str, Meta(description="The model that answered, as its service names it.")] = ""
    service_tier: Annotated[
        str, Meta(description="The tier at which the service answered, where it says so.")
    ] = ""
    speech: Annotated[
        int | None, Meta(description="The speech that it was made for, or that it is about.")
    ] = None
    order: Annotated[int | None, Meta(description="Of a ballot: which reading, 0 or 1.")] = None
    attempt: Annotated[int, Meta(description="1, and more where it was tried again.")] = 1
    repair: Annotated[bool, Meta(description="Whether it asked again because a reply could not be read.")] = (
        False
    )
    status: Annotated[
        Literal["completed", "failed", "open"], Meta(description="`open`: its end is not in the log.")
    ] = "open"
    finish: Annotated[str, Meta(description="Why the reply ended, such as `stop` or `length`.")] = ""
    fault: Annotated[str, Meta(description="Of one that failed: the kind of fault.")] = ""
    http_status: Annotated[int | None, Meta(description="Of one that failed: what the service answered.")] = (
        None
    )
    max_tokens: Annotated[int, Meta(description="The most tokens that it was allowed to write.")] = 0
    input_tokens: Annotated[int, Meta(description="Tokens that the model read.")] = 0
    cached_tokens: Annotated[int, Meta(description="Those of them that came from a cache.")] = 0
    output_tokens: Annotated[int, Meta(description="Tokens that it wrote, reasoning included.")] = 0
    reasoning_tokens: Annotated[int, Meta(description="Tokens of reasoning.")] = 0
    estimated: Annotated[bool, Meta(description="Whether tokens were estimated, as none were reported.")] = (
        False
    )
    cost: Annotated[float | None, Meta(description="US dollars; missing if the price is unknown.")] = None
    seconds: Annotated[float | None, Meta(description="From the request to the end.")] = None
    first_token_seconds: Annotated[float | None, Meta(description="From the request to the first text.")] = (
        None
    )
    started_at: Annotated[datetime | None, Meta(description="When it began.")] = None


class CallRows:
    """Collects the calls of one debate from its log, which is given page by page."""

    def __init__(self, debate: Debate, experiment: str = "") -> None:
        self._debate, self._experiment = debate, experiment
        self._rows: dict[int, CallRow] = {}

    @property
    def rows(self) -> tuple[CallRow, ...]:
        """In the order in which they began."""
        return tuple(self._rows.values())

    def add(self, records: Iterable[Recorded]) -> None:
        for record in records:
            match record.event:
                case CallStarted() as event if not event.model.startswith(f"{HUMAN}/"):
                    self._rows[event.call] = _started(self._debate, event, record.at, self._experiment)
                case CallCompleted() | CallFailed() as event if event.call in self._rows:
                    self._rows[event.call] = _ended(self._rows[event.call], event)
                case _:
                    pass


def _started(debate: Debate, event: CallStarted, at: datetime, experiment: str) -> CallRow:
    aside = None if event.aside is None else debate.aside(event.aside)
    turn = None if event.turn is None else debate.turn(event.turn)
    seat = turn.seat if turn else aside.seat if aside else None
    judge = event.judge or (aside.judge if aside else None)
    return CallRow(
        debate=debate.id,
        experiment=experiment,
        call=event.call,
        purpose=cast("CallPurpose", aside.kind) if aside else "ballot" if event.judge else "speech",
        name=debate.seat(seat).name if seat else debate.judge(judge).name if judge else "",
        model=event.model,
        speech=event.turn if event.turn is not None else aside.turn if aside else None,
        order=event.order if event.judge and not aside else None,
        attempt=event.attempt,
        repair=event.repair,
        max_tokens=event.max_tokens,
        started_at=at,
    )


def _ended(row: CallRow, event: CallCompleted | CallFailed) -> CallRow:
    usage = event.usage
    ended = replace(
        row,
        input_tokens=usage.input,
        cached_tokens=usage.cached,
        output_tokens=usage.output,
        reasoning_tokens=usage.reasoning,
        estimated=usage.estimated,
        cost=None if event.cost is None else float(event.cost),
        seconds=event.latency_ms / 1000,
    )
    if isinstance(event, CallFailed):
        return replace(ended, status="failed", fault=event.kind, http_status=event.http_status)
    first = event.first_token_ms
    return replace(
        ended,
        status="completed",
        answered_by=_without_folder(event.answered_by),
        service_tier=event.service_tier,
        finish=event.finish,
        first_token_seconds=None if first is None else first / 1000,
    )


def _without_folder(name: str) -> str:
    """Servers of local models may name the file, whose folder is nobody's business."""
    is_path = name.startswith("/") or "\\" in name
    return PureWindowsPath(name).stem if is_path else name
