"""What is said about a route, beside its code: `@router.get(path, **documented("watch", …))`.

`documented` returns the arguments of a FastAPI decorator: the check of rights, the texts, and the parts of
the OpenAPI operation that FastAPI cannot derive, since bodies and queries are read strictly by `api/v1`.
Bodies, replies and events are given as classes; `web/openapi.py` describes all that were given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from fastapi import APIRouter, Depends
from fastapi.routing import APIRoute
from msgspec import Struct
from starlette.responses import Response

from moot.api.rights import Action, Right
from moot.api.v1 import bodies
from moot.api.v1.validation_messages import Shape
from moot.web.app_context import RightsCheck

PREFIX = "/api/v1"
READ = (404, 422)
COMMANDED = (403, 404, 409, 415, 422)
"""The problems of a route that reads a debate, and of one that carries out a command."""

JSON, EVENT_STREAM = "application/json", "text/event-stream"
STREAM_OVER: dict[int | str, Any] = {
    204: {"description": "The debate is over and the client has seen its end."}
}
_EVERY_REPLY = ("X-Request-Id", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")


class ApiRoute(APIRoute):
    """A route that answers HEAD wherever it answers GET."""

    def __init__(self, path: str, endpoint: Any, *, methods: Any = None, **options: Any) -> None:
        super().__init__(path, endpoint, methods=methods, **options)
        if self.methods and "GET" in self.methods:
            self.methods.add("HEAD")

    @property
    def is_stream(self) -> bool:
        """Whether the reply is a stream of events."""
        return any(EVENT_STREAM in reply.get("content", ()) for reply in self.responses.values())

    @property
    def rights_check(self) -> RightsCheck:
        [check] = [each.dependency for each in self.dependencies if isinstance(each.dependency, RightsCheck)]
        return check


def api_router() -> APIRouter:
    return APIRouter(redirect_slashes=False, route_class=ApiRoute, default_response_class=Response)


def documented(
    action: Action | Right,
    *,
    tag: str,
    summary: str,
    says: str,
    status: int = 200,
    reply: type[Struct | bodies.Body] | None = None,
    events: Shape | None = None,
    body: type[bodies.Body] | None = None,
    query: Sequence[Shape] | None = (),
    once: bool = False,
    keys: bool = False,
    resumes: bool = False,
    headers: Sequence[str] = (),
    refusals: Sequence[int] = (),
    media_types: Sequence[str] = (),
    responses: dict[int | str, Any] | None = None,
    links: Shape | None = None,
) -> dict[str, Any]:
    """The arguments of a route decorator.

    `says` describes the reply, `events` describes the events of its stream. A route with `once` takes an
    Idempotency-Key, one with `keys` the client's own provider keys, one that `resumes` a ticket and the last
    event id; without `query` it takes no parameters, and with None it takes any, or checks them itself.
    `refusals` are its problems beside those that every route has.
    """
    content: Shape = {kind: {"schema": {"type": "string"}} for kind in media_types}
    if reply:
        content = {JSON: {"schema": schema_of(reply)}, **content}
    if events:
        content = {EVENT_STREAM: events, **content}
    done: Shape = {"headers": reply_headers(*headers), **({"content": content} if content else {})}
    if links:
        done["links"] = links
    parameters = [
        *([ref("parameters", "IdempotencyKey")] if once else ()),
        *([ref("parameters", "ProviderKey")] if keys else ()),
        *(query or ()),
        *([ref("parameters", "Ticket"), ref("parameters", "LastEventId")] if resumes else ()),
    ]
    extra: Shape = {"parameters": parameters} if parameters else {}
    if body is not None:
        content = {JSON: {"schema": schema_of(body)}}
        extra["requestBody"] = {"required": not body.optional, "content": content}
    if action == "public":
        extra["security"] = []
    return {
        "dependencies": [Depends(RightsCheck(action, has_query=resumes or query is None or bool(query)))],
        "tags": [tag],
        "summary": summary,
        "status_code": status,
        "response_description": says,
        "responses": {
            status: done,
            **{refusal: {"description": "A problem."} for refusal in refusals},
            **(responses or {}),
        },
        "openapi_extra": extra,
    }


def ref(sort: str, name: str) -> Shape:
    return {"$ref": f"#/components/{sort}/{name}"}


DESCRIBED: dict[str, type[Struct | bodies.Body]] = {}
"""Every class that a route is documented with, by the name of its schema."""


def schema_of(kind: type[Struct | bodies.Body]) -> Shape:
    """Return a reference to the schema, and have it described."""
    DESCRIBED[kind.__name__] = kind
    return ref("schemas", kind.__name__)


_NUMBERED: Shape = {"id": {"type": "string"}, "retry": {"type": "integer"}}
MESSAGES: dict[str, Shape] = {}
"""Schemas of named events with their data decoded, as a WebSocket sends them and readers of a stream pass
them on: `StatusEventMessage`, and for a whole stream their union."""


def numbered_events(events: Mapping[str, type[Struct]], message: str = "") -> Shape:
    """The events of a stream by their names; events for one viewer alone have no id, and only the first has
    `retry`. `message` is the name of the schema of any of them, decoded."""
    options = [_event(kind, name, **_NUMBERED) for name, kind in events.items()]
    if message:
        decoded = [ref("schemas", f"{kind.__name__}Message") for kind in events.values()]
        MESSAGES[message] = {"oneOf": decoded, "description": "An event of the stream, its data decoded."}
    return _stream(options)


def plain_events(union: Any) -> Shape:
    """The events of a stream without ids: members of the union, with a name where the class has one."""
    return _stream([_event(kind, getattr(kind, "event", "")) for kind in get_args(union)])


def resumable_events(union: Any) -> Shape:
    """The same as `plain_events`, with ids, for a stream that a browser can resume."""
    return _stream([_event(kind, getattr(kind, "event", ""), **_NUMBERED) for kind in get_args(union)])


def _stream(options: list[Shape]) -> Shape:
    """A whole stream is a text: so generators of clients read `schema`. `itemSchema` is one of its events, as
    OpenAPI 3.2 has it."""
    event = options[0] if len(options) == 1 else {"oneOf": options}
    text = "Server-sent events. The `data` of each is JSON."
    return {"schema": {"type": "string", "description": text}, "itemSchema": event}


def _event(kind: type[Struct], name: str, **more: Any) -> Shape:
    data = {"type": "string", "contentMediaType": JSON, "contentSchema": schema_of(kind)}
    required: Shape = {"event": {"const": name}, "data": data} if name else {"data": data}
    if name:
        MESSAGES[f"{kind.__name__}Message"] = {
            "type": "object",
            "required": [*required],
            "properties": {"event": {"const": name}, "id": {"type": "string"}, "data": schema_of(kind)},
        }
    return {"type": "object", "required": [*required], "properties": {**required, **more}}


def reply_headers(*own: str) -> Shape:
    return {name: ref("headers", name) for name in (*_EVERY_REPLY, *own)}
