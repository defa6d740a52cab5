"""What several routes share: parameters of paths, opening a debate, following a stream."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from math import ceil
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Path
from starlette.requests import Request

from moot.api.frames import Cursor, Dialect, Frame
from moot.api.problems import Problem
from moot.api.v1 import bodies
from moot.api.v1.fields import SEAT_ID
from moot.core.ids import new_id
from moot.core.terms import SESSION_FORMAT, Model, StepSize
from moot.core.visibility import Viewer
from moot.providers.keys import Secret
from moot.rules.debate_setup import Setup
from moot.store.contract import DebateHead, IdempotencyKey, RecordResult
from moot.web.app_context import AppContext, client_of, context_of, counted_of, identity_of
from moot.web.streaming.sse_streams import EventStreamResponse, Watcher

Body = TypeVar("Body", bound=bodies.Body)

DEBATE_ID = "^deb_[0-9A-HJKMNP-TV-Z]{26}$"


def path_parameter(name: str, pattern: str, description: str, **schema: Any) -> Any:
    """A part of an address. The pattern is only described: an id of another form is unknown, not invalid."""
    return Path(alias=name, description=description, json_schema_extra={"pattern": pattern, **schema})


DebateId = Annotated[str, path_parameter("debateId", DEBATE_ID, "The debate.")]
SeatId = Annotated[str, path_parameter("seat", f"^{SEAT_ID}$", "The participant whose seat it is.")]
Context = Annotated[AppContext, Depends(context_of)]


def check_not_stopping(context: AppContext) -> None:
    """Raises Problem where the server is shutting down."""
    if context.arena.followers.closed:
        raise Problem("shutting-down")


async def open_debate(
    context: AppContext,
    request: Request,
    setup: Setup,
    keys: Mapping[str, Secret],
    once: IdempotencyKey | None = None,
    *,
    start: bool = True,
    step: StepSize | None = None,
    objection: Problem | None = None,
) -> RecordResult:
    """Open a debate for the client, as far as its limit of debates and the disk quota allow."""
    async with context.slots.claim(client_of(request)) as claim:
        outcome = await context.arena.create(
            setup,
            owner=identity_of(request).owner or "",
            once=once,
            start=start,
            step=step,
            naming=lambda kind, _index: new_id(kind),
            keys=_needed_keys(keys, setup),
            objection=objection
            or claim.objection
            or outage_problem(context, setup, keys)
            or await quota_problem(context),
        )
        await claim.take(outcome.debate.id)
    return outcome


def outage_problem(context: AppContext, setup: Setup, keys: Mapping[str, Secret]) -> Problem | None:
    """The problem of a debate all of whose services are known to be down. Nothing is known of calls with a
    client's own key, nor of those of other processes."""
    needed = {model.provider for model in _models(setup) if not model.human}
    waits = [0.0 if name in keys else context.arena.providers.down_for(name) for name in needed]
    if not waits or not all(waits):
        return None
    seconds = max(1, ceil(min(waits)))
    detail = f"{' and '.join(sorted(needed))} cannot be reached right now; try again in {seconds} s"
    return Problem("provider-unavailable", detail, headers={"Retry-After": str(seconds)})


async def quota_problem(context: AppContext) -> Problem | None:
    """The problem of a full disk quota, to be raised if a debate is really to be written."""
    quota = context.arena.settings.service.quota_bytes
    if quota is None or await context.arena.store.size() <= quota:
        return None
    detail = "The disk quota is used up: delete debates, or raise MOOT_DISK_QUOTA_MB"
    return Problem("storage", detail, headers={"Retry-After": "60"})


def follow_debate(
    context: AppContext,
    request: Request,
    debate_id: str,
    dialect: Dialect,
    viewer: Viewer,
    cursor: Cursor,
    deleted_frame: Frame | None = None,
    *,
    plain: bool = False,
    id_prefix: str = "",
    extra_headers: Mapping[str, str] | None = None,
    slot: AbstractAsyncContextManager[Any] | None = None,
) -> EventStreamResponse:
    """The stream of a debate after `cursor`. `slot` is the client's, where it had to be taken beforehand."""
    head: DebateHead | None = request.scope["state"].get("head")
    return EventStreamResponse(
        context.feeds,
        context.stream_monitor,
        debate_id=debate_id,
        dialect=dialect,
        viewer=viewer,
        cursor=cursor,
        deleted_frame=deleted_frame,
        slot=slot or context.streams.slot(counted_of(request)),
        watching=Watcher(identity_of(request)),
        version=head.version if head else 0,
        plain=plain,
        id_prefix=id_prefix,
        extra_headers=extra_headers,
    )


def check_accepts_stream(request: Request) -> None:
    kinds = request.headers.get("accept", "*/*").lower().replace(" ", "").split(",")
    accepted = [kind.partition(";")[0] for kind in kinds if not re.search(r";q=0(\.0*)?(;|$)", kind)]
    if not any(kind in ("text/event-stream", "text/*", "*/*", "") for kind in accepted):
        raise Problem("not-acceptable")


def _needed_keys(keys: Mapping[str, Secret], setup: Setup) -> Mapping[str, Secret]:
    """The keys of the models in the setup; all keys where a model is still to be named."""
    if setup.format.name == SESSION_FORMAT:
        return keys
    models = [*_models(setup), *(seat.stand_in for seat in setup.seats if seat.stand_in)]
    providers = {model.provider for model in models}
    return {name: key for name, key in keys.items() if name in providers}


def _models(setup: Setup) -> list[Model]:
    return [*(seat.model for seat in setup.seats), *(judge.model for judge in setup.judges)]
