"""The description of the API in OpenAPI 3.1: what FastAPI makes of the routes, completed for this server.

FastAPI knows addresses, texts and replies. Added here are the problems that any route may answer, the
schemas of bodies, replies and events, examples that work on this server, its formats and providers, and the
WebSocket, for which OpenAPI has no place: its path has an extension of our own, `x-websocket`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from inspect import cleandoc
from typing import Any, cast

import msgspec
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from msgspec import Struct

from moot import __version__
from moot.api.command_table import socket_commands
from moot.api.problems import MEDIA_TYPE, PROBLEM_TYPES, ErrorResponse, ProblemKind
from moot.api.shapes.page_view import View
from moot.api.shapes.stream_events import EVENTS, AckData
from moot.api.v1 import bodies, body_schemas, query_params
from moot.api.v1.create_debate import CreateDebate
from moot.api.v1.fields import CREATE_DEBATE
from moot.api.v1.validation_messages import Shape
from moot.core.json_types import SCHEMA_TEMPLATE, describe_type
from moot.extension import HttpRoutes, loaded
from moot.web import openapi_examples as examples
from moot.web.route_docs import DESCRIBED, JSON, MESSAGES, PREFIX, ref, reply_headers, schema_of

ALWAYS = (400, 401, 408, 413, 414, 421, 429, 431, 500, 503)
"""The statuses that any route may answer."""
PUBLIC = (400, 408, 413, 414, 421, 431)
"""The statuses of a route that needs no token and is not rate-limited."""
ABOUT = """\
Language models debate a motion. Open a debate, follow its stream, steer it, read the verdict.

Every error is a problem document (`application/problem+json`); every reply has an `X-Request-Id`. The guide
to the API in the documentation explains streams and how to resume them, WebSockets, tokens and limits."""
TAGS: dict[str, str] = {
    "Debates": "Open a debate, look at it, export it, delete it.",
    "Following": "Streams of events as they happen, and the log that all of it is made from. A stream is "
    "resumed after the last event id that was seen: the header `Last-Event-ID`, or `lastEventId`.",
    "Steering": "Commands to a debate under way. One that the debate cannot take now is answered with 409.",
    "People": "Who may take part, and what they do: take a seat, write, speak, offer points, ask questions.",
    "Judging and voting": "Ballots of people, votes of the audience, and every verdict there is.",
}
SERVER_TAGS: dict[str, str] = {
    "Server": "This server: models, formats, tools, providers, tokens, estimates and statistics.",
    "Compatibility APIs": "The same debates, for clients that were written for other APIs.",
    "Health": "For monitoring. Open to all except the metrics, and not counted.",
}
"""The last sections; those of extensions stand before them."""
# HTTP removes blanks at either end.
_VISIBLE = "^[!-~](?:[ -~]*[!-~])?$"
_CURSOR: Shape = query_params.PARAMETERS["stream"][0]["schema"]
BY_NAME: tuple[type[Struct], ...] = (ErrorResponse, AckData, View)
"""What is referred to by name: no route is documented with it."""
_RETRIED = (409, 429, 503)
"""Statuses with which the server may send `Retry-After`."""
_LINKED_PARAMETERS = {
    "{debateId}": ("debateId", "$response.body#/id"),
    "{call}": ("call", "1"),
    "{seat}": ("seat", "$response.body#/participants/0/id"),
}
"""The parameters of links from the reply to a new debate."""


def _header(text: str, kind: str = "string", **more: Any) -> Shape:
    return {"description": text, "schema": {"type": kind}, **more}


HEADERS: dict[str, Shape] = {
    "X-Request-Id": _header(
        "Identifies the request in the server's log: the id that came with the request, if it is one.",
        required=True,
    ),
    "X-RateLimit-Limit": _header("Requests a minute; absent where the limit is lifted.", "integer"),
    "X-RateLimit-Remaining": _header("Requests left in this minute.", "integer"),
    "X-RateLimit-Reset": _header("When the minute ends, in epoch seconds.", "integer"),
    "Retry-After": _header("Seconds to wait.", "integer"),
    "WWW-Authenticate": _header("How to authenticate."),
    "Location": _header("The address of what was created.", required=True),
    "Idempotent-Replayed": _header("`true` where the request had been carried out before."),
    "X-Debate-Id": _header("The debate that was opened, or that is followed.", required=True),
    "X-Session-Id": _header("The session of the turn.", required=True),
    "Content-Disposition": _header("The name of the file, for Markdown and HTML."),
}


class Offer(Struct, frozen=True):
    """What this server has."""

    capabilities: bodies.Capabilities
    keyed: tuple[str, ...]
    """Providers for which clients may send their own keys."""
    locked: bool
    """A token is needed."""
    provider: str
    """This provider and this model need no key."""
    model: str

    @property
    def added_examples(self) -> dict[str, Callable[[str], Any]]:
        return {name: make for added in _added() for name, make in added.examples.items()}

    def body_examples(self, body: str) -> dict[str, Any]:
        """Bodies that this server accepts."""
        if body == "CreateDebate":
            return self.creations
        make = self.added_examples.get(body)
        if make is None:
            return {"example": cast("type[bodies.Body]", DESCRIBED[body]).example}
        return {"example": make(f"{self.provider}/{self.model}")}

    @property
    def creations(self) -> dict[str, Any]:
        """Bodies that open a debate here."""
        providers = {"anthropic", "openai"}
        known = self.capabilities
        contract = all(name in known.providers and known.has_key(name) for name in providers)
        keyless = examples.keyless(self.provider, self.model)
        return {"keyless": keyless, **({"contract": CREATE_DEBATE} if contract else {})}


def _added() -> list[HttpRoutes]:
    """What extensions bring."""
    return [routes for _, routes in loaded().of(lambda extension: extension.http)]


def describe(app: FastAPI, offer: Offer) -> Shape:
    """The complete description. It takes about half a second: call it once, in a thread."""
    with warnings.catch_warnings():
        # HEAD has the operation id of its GET, and is left out below.
        warnings.filterwarnings("ignore", "Duplicate Operation ID")
        shape = get_openapi(title="Moot", version=__version__, description=ABOUT, routes=app.routes)
    for item in shape["paths"].values():
        item.pop("head", None)
        for operation in item.values():
            _complete(operation, offer)
    created = shape["paths"][f"{PREFIX}/debates"]["post"]["responses"]["201"]
    created["links"] = dict(_links(shape["paths"]))
    shape["paths"] |= _socket()
    tags: dict[str, str] = dict(TAGS)
    for routes in _added():
        tags |= routes.tags
    tags |= SERVER_TAGS
    return shape | {
        "servers": [{"url": "/", "description": "This server"}],
        "security": [{"bearer": []}] if offer.locked else [{}, {"bearer": []}],
        "tags": [{"name": name, "description": text} for name, text in tags.items()],
        "components": {
            "schemas": {**_body_schemas(offer), **_reply_schemas(), **MESSAGES},
            "responses": _problems(),
            "parameters": dict(_parameters(offer)),
            "headers": HEADERS,
            "securitySchemes": {
                "bearer": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A token, where the operator asks for one.",
                }
            },
        },
    }


# --- routes ---------------------------------------------------------------------------------------------


def _complete(operation: Shape, offer: Offer) -> None:
    keys = ref("parameters", "ProviderKey")
    parameters: list[Shape] = operation.setdefault("parameters", [])
    if keys in parameters:
        parameters.remove(keys)
        parameters += [ref("parameters", f"ProviderKey-{provider}") for provider in offer.keyed]
    if body := operation.get("requestBody"):
        _add_body_examples(body["content"][JSON], offer)
    operation["responses"] = _responses(operation)


def _add_body_examples(content: Shape, offer: Offer) -> None:
    name = content["schema"]["$ref"].rpartition("/")[2]
    samples = offer.body_examples(name)
    content["examples"] = {key: {"value": body} for key, body in samples.items()}
    if name == "CreateDebate" and "contract" not in samples:
        # Not executable here: it needs keys that this server does not have.
        content["x-examples"] = {"contract": {"value": CREATE_DEBATE}}


def _responses(operation: Shape) -> Shape:
    replies: Shape = {}
    refusals = {*(PUBLIC if operation.get("security") == [] else ALWAYS)}
    for code, reply in operation["responses"].items():
        own_problem = "HTTPValidationError" in str(reply)
        if int(code) < 400 or (reply.get("content") and not own_problem):
            replies[code] = _with_content(code, reply)
        elif not own_problem:
            refusals.add(int(code))
    for status in sorted(refusals):
        replies.setdefault(str(status), ref("responses", f"Problem{status}"))
    return dict(sorted(replies.items()))


def _with_content(code: str, reply: Shape) -> Shape:
    reply.setdefault("headers", reply_headers())
    content = reply.get("content", {})
    name = content[JSON]["schema"]["$ref"].rpartition("/")[2] if JSON in content else ""
    if name in examples.reply_examples():
        content[JSON]["example"] = examples.reply_examples()[name]
    if code == "400":
        # A simple error of a compatibility API beside our problems.
        problem = _problem(400)
        return {**problem, "content": {**problem["content"], **content}}
    return reply


def _links(paths: Shape) -> Iterator[tuple[str, Shape]]:
    """Links from the reply to a new debate to every operation on it."""
    for path, item in paths.items():
        if not path.startswith(f"{PREFIX}/debates/{{debateId}}") or "{name}" in path:
            continue
        parameters = dict(value for part, value in _LINKED_PARAMETERS.items() if part in path)
        for operation in item.values():
            name = operation["operationId"]
            link: Shape = {"operationId": name, "parameters": parameters}
            if name == "decide_winner":
                link["requestBody"] = {"winner": "$response.body#/participants/0/id"}
            yield name, link


def _socket() -> Shape:
    debate_id = {
        "name": "debateId",
        "in": "path",
        "required": True,
        "schema": {"type": "string"},
        "description": "The debate.",
    }
    return {
        f"{PREFIX}/debates/{{debateId}}/ws": {
            "summary": "Follow and steer over a WebSocket",
            "description": "The same events as the stream, as `{event, id, data}`, and commands the other "
            "way, as `{type, data?, key?}`. Its query may have `after`, `extended`, `as` and `ticket`, "
            "and `view` for the page's own events in place of these.",
            "parameters": [debate_id],
            "x-websocket": {
                "events": {
                    **{name: schema_of(kind) for name, kind in EVENTS.items()},
                    "ack": ref("schemas", "AckData"),
                },
                "commands": {name: schema_of(row.socket_body) for name, row in socket_commands().items()},
            },
        }
    }


# --- components -----------------------------------------------------------------------------------------


def _body_schemas(offer: Offer) -> dict[str, Shape]:
    """With examples that this server accepts: tools that test by them would be refused otherwise."""
    described = (kind for kind in DESCRIBED.values() if issubclass(kind, bodies.Body))
    shapes = body_schemas.schemas(offer.capabilities, *described)
    shapes["CreateDebate"]["examples"] = list(offer.creations.values())
    # Equal participants are refused; that names must differ cannot be expressed in JSON Schema.
    shapes["CreateDebate"]["properties"]["participants"]["uniqueItems"] = True
    model = shapes["ModelChoice"]["properties"]
    model["provider"]["examples"], model["modelId"]["examples"] = [offer.provider], [offer.model]
    for added in _added():
        if added.complete_schemas:
            added.complete_schemas(shapes, offer.capabilities)
    for name in offer.added_examples:
        shapes[name]["examples"] = [*offer.body_examples(name).values()]
    for shape in shapes.values():
        for member in shape.get("properties", {}).values():
            _tell_default(member)
    return shapes


def _tell_default(member: Shape) -> None:
    """A default becomes a sentence: openapi-typescript requires a member that has one, in requests too."""
    default = member.pop("default", None)
    if default not in (None, ""):
        text = f"Where it is left out: `{msgspec.json.encode(default).decode()}`."
        member["description"] = f"{member.get('description', '')} {text}".strip()


def _reply_schemas() -> dict[str, Shape]:
    described = [kind for kind in DESCRIBED.values() if issubclass(kind, Struct)]
    rows = [row for routes in _added() for row in routes.rows]
    _, structs = msgspec.json.schema_components(
        (*described, *BY_NAME, *rows), ref_template=SCHEMA_TEMPLATE, schema_hook=describe_type
    )
    structs["AckData"]["properties"]["type"]["enum"] = [*socket_commands()]
    for row in rows:
        structs[row.__name__]["additionalProperties"] = True
    schemas = _each_as_sent(structs)
    for name, event in EVENTS.items():
        schemas[event.__name__]["examples"] = [examples.event_examples()[name]]
    return schemas


def _each_as_sent(schemas: dict[str, Shape]) -> dict[str, Shape]:
    """Schemas by name: a member may have the name of a keyword, such as `default`."""
    return {name: _as_sent(schema) for name, schema in schemas.items()}


def _as_sent(shape: Any) -> Any:
    """The schema as it is sent: amounts are numbers, a member with a default may be missing."""
    if isinstance(shape, list):
        return [_as_sent(part) for part in cast("list[Any]", shape)]
    if not isinstance(shape, dict):
        return shape
    schema: Shape = {
        keyword: _each_as_sent(part) if keyword == "properties" else _as_sent(part)
        for keyword, part in cast("Shape", shape).items()
    }
    if "$ref" in schema:
        # The type of what stands for it in our code.
        schema.pop("type", None)
    if "description" in schema:
        # Of a class it is the docstring, with the indentation of its lines.
        schema["description"] = cleandoc(schema["description"])
    if schema.get("format") == "decimal":
        return {**{name: part for name, part in schema.items() if name != "format"}, "type": "number"}
    if schema.pop("default", ...) is None:
        options = [option for option in schema.pop("anyOf") if option != {"type": "null"}]
        return {**schema, **(options[0] if len(options) == 1 else {"anyOf": options})}
    return schema


def _parameters(offer: Offer) -> Iterator[tuple[str, Shape]]:
    parameter = partial(_parameter, "header")
    key = {"type": "string", "minLength": 1, "maxLength": 255, "pattern": _VISIBLE}
    yield (
        "IdempotencyKey",
        parameter(
            "Idempotency-Key",
            key,
            "Names this request: sent again under the same key it is not carried out again, and the first "
            "reply comes back with `Idempotent-Replayed: true`.",
        ),
    )
    last = "The last id that was seen; browsers send it by themselves. Wins over `lastEventId`."
    yield "LastEventId", parameter("Last-Event-ID", _CURSOR, last)
    ticket = "For browsers, whose streams cannot send a token: see tickets."
    yield "Ticket", _parameter("query", "ticket", {"type": "string"}, ticket)
    secret = {"type": "string", "minLength": 1, "maxLength": 512, "pattern": _VISIBLE}
    for name in offer.keyed:
        text = f"Your own key for {name}. It stays in memory, for this debate alone."
        yield f"ProviderKey-{name}", parameter(f"X-Provider-Key-{name}", secret, text)


def _parameter(kind: str, name: str, schema: Shape, text: str) -> Shape:
    return {"name": name, "in": kind, "required": False, "schema": schema, "description": text}


def _problems() -> dict[str, Shape]:
    """One reply for each status, with all the kinds of problems that have it."""
    statuses = sorted({problem.status for problem in PROBLEM_TYPES.values()})
    return {f"Problem{status}": _problem(status) for status in statuses}


def _problem(status: int) -> Shape:
    kinds: list[ProblemKind] = [kind for kind, problem in PROBLEM_TYPES.items() if problem.status == status]
    samples = {kind: {"summary": PROBLEM_TYPES[kind].detail, "value": example_of(kind)} for kind in kinds}
    own_headers = (
        *(("Retry-After",) if status in _RETRIED else ()),
        *(("WWW-Authenticate",) if status == 401 else ()),
    )
    return {
        "description": "; ".join(f"`{kind}`: {PROBLEM_TYPES[kind].detail}" for kind in kinds),
        "headers": reply_headers(*own_headers),
        "content": {MEDIA_TYPE: {"schema": ref("schemas", "ErrorResponse"), "examples": samples}},
    }


def example_of(kind: ProblemKind) -> Shape:
    problem = PROBLEM_TYPES[kind]
    shape: Shape = {
        "type": f"/errors/{kind}",
        "title": problem.title,
        "status": problem.status,
        "detail": problem.detail,
        "instance": f"{PREFIX}/debates",
        "requestId": "req_01HZ9X8K7M3QR5TNVWXYZ12345",
    }
    if kind == "validation":
        return {**shape, "detail": CreateDebate.detail, "errors": examples.ERRORS}
    return {**shape, "currentStatus": "completed"} if kind == "conflict" else shape
