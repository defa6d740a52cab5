"""The API described in OpenAPI 3.1, made from the table of routes, the articles and the schemas.

It is made for the server that is asked: with its formats, its providers, the keys that it takes, and whether
a token is needed. Examples are such as work here. What a WebSocket says has no place in OpenAPI; its path is
listed with an extension of our own, `x-websocket`.
"""

from __future__ import annotations

from collections.abc import Iterator

from moot import __version__
from moot.api.commands import SOCKET_COMMANDS
from moot.api.v1 import conversation_pages, query_params
from moot.api.v1.contract_example import CREATE_DEBATE
from moot.api.v1.validation_messages import Shape
from moot.web.reference import samples
from moot.web.reference.article import PREFIX, TAGS, Article
from moot.web.reference.articles import ARTICLES
from moot.web.reference.components import (
    HEADERS,
    Offer,
    body_schemas,
    headers,
    parameters,
    problems,
    ref,
    schema,
)
from moot.web.reference.schemas import EVENTS, EXTENDED
from moot.web.reference.schemas import schemas as reply_schemas
from moot.web.reference.schemas.base_schemas import Reply
from moot.web.routes.debates import ROUTES, STREAM_ROUTES

ALWAYS = (400, 401, 408, 413, 414, 421, 429, 431, 500, 503)
UNCOUNTED = (400, 408, 413, 414, 421, 431)
"""What may be told where nobody needs a token and nobody is counted."""
"""What any route may answer."""
ABOUT = """\
Language models debate a motion. Open a debate, follow its stream, steer it, read the verdict.

Every error is a problem document (`application/problem+json`); every reply has an `X-Request-Id`. The page
at `/docs` tells the whole story: streams and how to come back to them, WebSockets, tokens, limits."""
SERVICES = "/api/health"
HEALTH = {
    f"{PREFIX}/health": "Whether it can do its work",
    "/health": "The same, where probes look for it",
    "/health/ready": "The same, by its name for Kubernetes",
    "/health/live": "Whether it lives",
    SERVICES: "The same, and how the services with a key do",
}
_JSON = "application/json"
_OPENED = ("Location", "Idempotent-Replayed")
_OWN = {
    "create": _OPENED,
    "export": ("Content-Disposition",),
    "quick": ("X-Debate-Id", "Idempotent-Replayed"),
    "quick_create": (*_OPENED, "X-Debate-Id"),
    "open_bout": (*_OPENED, "X-Debate-Id"),
    "stream_quick": ("X-Debate-Id",),
    "stream_bout": ("X-Debate-Id",),
    "stream_session": ("X-Session-Id",),
}
"""Headers of a reply that others have not."""
_NAMED = {
    "{call}": "Call",
    "{seat}": "Seat",
    "{name}": "Guest",
    "{model}": "Model",
    "{token}": "Token",
    "{conversationId}": "Conversation",
    "{sessionId}": "Session",
}
_PLACES = {
    "debateId": "$response.body#/id",
    "call": "1",
    "seat": "$response.body#/participants/0/id",
}
"""What a new debate tells of the addresses below it."""


def description(offer: Offer) -> Shape:
    return {
        "openapi": "3.1.0",
        "info": {"title": "Moot", "version": __version__, "description": ABOUT},
        "servers": [{"url": "/", "description": "This server"}],
        "security": [{"bearer": []}] if offer.locked else [{}, {"bearer": []}],
        "tags": [{"name": name, "description": text} for name, text in TAGS.items()],
        "paths": {**_paths(offer), **_socket(), **_health(), **_metrics()},
        "components": {
            "schemas": {**body_schemas(offer), **reply_schemas(*offer.added_replies)},
            "responses": problems(),
            "parameters": dict(parameters(offer)),
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


def _paths(offer: Offer) -> Shape:
    paths: Shape = {}
    tables = [(PREFIX, ROUTES, ARTICLES)]
    tables += [(added.prefix, added.routes, added.reference().articles) for added in offer.extensions]
    for prefix, routes, articles in tables:
        for method, path, name, _ in routes:
            operation = _operation(articles[name], name, path, offer)
            paths.setdefault(f"{prefix}{path}", {})[method.lower()] = operation
    return paths


def _operation(article: Article, name: str, path: str, offer: Offer) -> Shape:
    shape: Shape = {
        "operationId": name,
        "tags": [article.tag],
        "summary": article.summary,
        "description": article.text,
        "parameters": list(_parameters(article, name, path, offer)),
        "responses": _responses(article, name, offer),
    }
    if article.body:
        shape["requestBody"] = _request_body(article, offer)
    return shape


def _parameters(article: Article, name: str, path: str, offer: Offer) -> Iterator[Shape]:
    if "{debateId}" in path:
        yield ref("parameters", "DebateId")
    for place, name_ in _NAMED.items():
        if place in path:
            yield ref("parameters", name_)
    if article.once:
        yield ref("parameters", "IdempotencyKey")
    if article.keys:
        yield from (ref("parameters", f"ProviderKey-{provider}") for provider in offer.keyed)
    yield from {**query_params.PARAMETERS, **conversation_pages.QUERIES}.get(article.query, ())
    if name in STREAM_ROUTES or article.query == "plain":
        yield ref("parameters", "Ticket")
        yield ref("parameters", "LastEventId")


def _request_body(article: Article, offer: Offer) -> Shape:
    opens = article.body == "CreateDebate"
    given = offer.creations if opens else {"example": offer.example(article.body)}
    examples = {name: {"value": body} for name, body in given.items()}
    content: Shape = {"schema": schema(article.body), "examples": examples}
    if opens and "contract" not in given:
        # To read, and not to try: it needs keys that this server has not.
        content["x-examples"] = {"contract": {"value": CREATE_DEBATE}}
    return {"required": article.needs_body, "content": {_JSON: content}}


def _responses(article: Article, name: str, offer: Offer) -> Shape:
    done: Shape = {"description": article.says, "headers": headers(*_OWN.get(name, ()))}
    if content := _content(article, name, offer):
        done["content"] = content
    if links := dict(_links(name)):
        done["links"] = links
    replies: Shape = {str(article.status): done}
    if name == "stream" or article.query == "plain":
        replies["204"] = {
            "description": "The debate is over and its end was seen: there is nothing to come back for.",
            "headers": headers(),
        }
    refusals = sorted({*ALWAYS, *article.refusals})
    replies |= {str(status): ref("responses", f"Problem{status}") for status in refusals}
    if article.simply:
        problem = problems()["Problem400"]
        content = {**problem["content"], _JSON: {"schema": schema(article.simply)}}
        replies["400"] = {**problem, "content": content}
    return replies


def _content(article: Article, name: str, offer: Offer) -> Shape:
    if name in STREAM_ROUTES:
        return {"text/event-stream": _stream(name)}
    if article.events:
        lines = [_line(model) for model in offer.added_events[article.events]]
        return {"text/event-stream": {"schema": {"oneOf": lines}}}
    if not article.reply:
        return {}
    sample = samples.REPLIES.get(article.reply)
    json = {"schema": schema(article.reply), **({"example": sample} if sample else {})}
    if name != "export":
        return {_JSON: json}
    text = {"schema": {"type": "string"}}
    return {_JSON: json, "text/markdown": text, "text/html": text}


def _stream(name: str) -> Shape:
    """A stream is described by one event of it."""
    if name == "stream_events":
        return {"schema": _event("LogEntry")}
    if name == "stream_view":
        return {"schema": _event("ViewFrame")}
    events = {**EVENTS, **EXTENDED}
    return {"schema": {"oneOf": [_event(model.__name__, event) for event, model in events.items()]}}


def _event(model: str, name: str = "") -> Shape:
    """What is told to one viewer alone has no id, and only the first event says when to come back."""
    shape: Shape = {
        "id": {"type": "string"},
        "data": {"type": "string", "contentMediaType": _JSON, "contentSchema": schema(model)},
        "retry": {"type": "integer"},
    }
    if name:
        shape = {"event": {"const": name}, **shape}
    return {"type": "object", "required": ["event", "data"] if name else ["data"], "properties": shape}


def _line(model: type[Reply]) -> Shape:
    """An event that has no id, and no name unless its model has one."""
    data = {"type": "string", "contentMediaType": _JSON, "contentSchema": schema(model.__name__)}
    name = getattr(model, "event", "")
    shape = {"event": {"const": name}, "data": data} if name else {"data": data}
    return {"type": "object", "required": [*shape], "properties": shape}


def _links(name: str) -> Iterator[tuple[str, Shape]]:
    """Where to go on from a reply."""
    if name == "issue_ticket":
        ticket = {"debateId": "$request.path.debateId", "query.ticket": "$response.body#/ticket"}
        yield "stream", _link("stream", ticket)
    if name == "invite":
        guest = {"debateId": "$request.path.debateId", "name": "$response.body#/name"}
        yield "uninvite", _link("uninvite", guest)
    if name != "create":
        return
    for _, path, other, _ in ROUTES:
        if "{debateId}" in path and "{name}" not in path:
            places = {place: found for place, found in _PLACES.items() if f"{{{place}}}" in path}
            yield other, _link(other, places)


def _link(operation: str, parameters: Shape) -> Shape:
    link: Shape = {"operationId": operation, "parameters": parameters}
    if operation == "decide":
        link["requestBody"] = {"winner": "$response.body#/participants/0/id"}
    return link


# --- paths beside the routes ----------------------------------------------------------------------------


def _socket() -> Shape:
    return {
        f"{PREFIX}/debates/{{debateId}}/ws": {
            "summary": "Follow and steer over a WebSocket",
            "description": "The same events as the stream, as `{event, id, data}`, and commands the other "
            "way, as `{type, data?, key?}`. Its query may have `after`, `extended`, `as` and `ticket`, "
            "and `view` for the page's own events in place of these.",
            "parameters": [ref("parameters", "DebateId")],
            "x-websocket": {
                "events": {
                    **{name: schema(model.__name__) for name, model in EVENTS.items()},
                    "ack": schema("AckData"),
                },
                "commands": {
                    name: schema((row.socket_body or row.body).__name__)
                    for name, row in SOCKET_COMMANDS.items()
                },
            },
        }
    }


def _health() -> Shape:
    paths: Shape = {}
    for path, summary in HEALTH.items():
        reply = "ServicesResponse" if path == SERVICES else "HealthResponse"
        json = {_JSON: {"schema": schema(reply), "example": samples.REPLIES[reply]}}
        unwell = {"description": "Not now.", "headers": headers("Retry-After"), "content": json}
        well = {"description": "All is well.", "headers": headers(), "content": json}
        refusals = {str(status): ref("responses", f"Problem{status}") for status in UNCOUNTED}
        paths[path] = {
            "get": {
                "operationId": path.strip("/").replace("/", "_"),
                "tags": ["Health"],
                "summary": summary,
                "security": [],
                "responses": {"200": well, **refusals, "503": unwell},
            }
        }
    return paths


def _metrics() -> Shape:
    page = {"text/plain": {"schema": {"type": "string"}}}
    done = {"description": "Counts of this process.", "headers": headers(), "content": page}
    refusals = {str(status): ref("responses", f"Problem{status}") for status in ALWAYS}
    operation = {
        "operationId": "metrics",
        "tags": ["Health"],
        "summary": "Figures for Prometheus",
        "description": "Unlike the others of its kind it needs a token, where tokens are used.",
        "responses": {"200": done, **refusals},
    }
    return {"/metrics": {"get": operation}}
