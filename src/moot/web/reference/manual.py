"""The page at /docs: a guide, and every route and shape, set from the OpenAPI description.

It needs no script, no font and no picture, and asks nobody else for anything. The guide's words are in
`pages/guide.html`; what they show is filled in here, for the server that is asked.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from moot.api.frames import Frame, as_sse
from moot.api.problems import PROBLEM_TYPES
from moot.api.v1.validation_messages import Shape
from moot.rules.participation import MAX_VOTES
from moot.settings import ServerSettings
from moot.store.append import MAX_INVITATIONS as MOST_INVITED
from moot.web.openapi import example_of
from moot.web.reference import samples
from moot.web.reference.schemas import EVENTS, EXTENDED
from moot.web.reference.typesetting import (
    about,
    as_json,
    code,
    fields,
    kind,
    listing,
    prose,
    shape_link,
    short_json,
    table,
)
from moot.web.route_docs import PREFIX

KEY = "X-Provider-Key-"
LENT = (
    "A header such as <code>X-Provider-Key-openai</code>, sent when a debate is opened, is used for this "
    "debate alone and kept in memory only. After a restart of the server the debate waits: send the key "
    'again with <a href="#route-resume">resume</a>.'
)
NOT_LENT = "They cannot be lent on this server: its debates run on other machines."
CAPTIONS = {"keyless": "Without any key:", "contract": "With services that take a key:"}
METHODS = ("get", "post", "put", "delete")
CHAPTERS = {
    "start": "Start here",
    "events": "Following",
    "sockets": "WebSocket",
    "people": "People in the room",
    "errors": "Errors",
    "limits": "Limits",
    "tokens": "Tokens and tickets",
    "once": "Doing things once",
}


def to_html(shape: Shape, origin: str, service: ServerSettings) -> str:
    return Template(_file("docs.html")).substitute(
        version=escape(shape["info"]["version"]),
        contents="\n".join(_contents(shape)),
        guide=_guide(shape, origin, service),
        routes="\n".join(_routes(shape)),
        shapes="\n".join(_shapes(shape)),
    )


def _file(name: str) -> str:
    return files("moot.web").joinpath("paper", name).read_text("utf-8")


# --- the guide ------------------------------------------------------------------------------------------


def _guide(shape: Shape, origin: str, service: ServerSettings) -> str:
    locked = {} not in shape["security"]
    body = _keyless(shape)
    return Template(_file("guide.html")).substitute(
        _commands(origin, body, locked),
        model=code("/".join(body["judge"]["model"].values())),
        and_a_token=", and <code>$MOOT_TOKEN</code> is your token" if locked else "",
        sample=listing(_stream(), "A stream", look="folded"),
        events=_events(),
        browser=listing(BROWSER, "Following a debate in a browser"),
        comment=f"{service.comment_seconds:g}",
        stalled=f"{service.stalled_seconds:g}",
        ws=origin.replace("http", "ws", 1),
        frames=listing(_frames(), "Frames of a WebSocket", look="folded"),
        commands=_socket_commands(shape),
        problem=listing(as_json(example_of("validation")), "A problem"),
        errors=_problems(),
        limits=_limits(service),
        or_one_of_your_own=' or <a href="#keys">one of your own</a>' if _lends(shape) else "",
        keys=LENT if _lends(shape) else NOT_LENT,
        locked="This server asks for a token." if locked else "This server asks for no token.",
    )


def _lends(shape: Shape) -> bool:
    return any(one["name"].startswith(KEY) for one in shape["components"]["parameters"].values())


def _keyless(shape: Shape) -> dict[str, Any]:
    opening = shape["paths"][f"{PREFIX}/debates"]["post"]["requestBody"]
    return opening["content"]["application/json"]["examples"]["keyless"]["value"]


def _commands(origin: str, body: dict[str, Any], locked: bool) -> dict[str, str]:
    """The lines to be typed, by their place in the guide."""
    debates = f"{origin}{PREFIX}/debates"
    token = ' -H "Authorization: Bearer $MOOT_TOKEN"' if locked else ""
    post = f"curl -s {debates}{token} \\\n  -H 'Content-Type: application/json' -d '{short_json(body)}'"
    lines = {
        "open": f"ID=$({post} | grep -o 'deb_[0-9A-Z]*' | head -1); echo $ID",
        "follow": f"curl -sN{token} {debates}/$ID/stream",
        "keep": f'curl -s{token} "{debates}/$ID/transcript?format=markdown"',
        "ticket": f"curl -s -X POST{token} {debates}/$ID/tickets",
        "repeat": f"curl -s -X POST{token} -H 'Idempotency-Key: pause-1' {debates}/$ID/pause",
    }
    return {name: listing(line, "A command", look="typed") for name, line in lines.items()}


def _stream() -> str:
    said = samples.EVENTS["participant"]
    last = {**said, "chunk": "", "done": True, "tokensUsed": 250, "latencyMs": 3500, "seq": 12}
    told = [
        ("status", samples.EVENTS["status"]),
        ("participant", said),
        ("participant", last),
        ("cost_update", samples.EVENTS["cost_update"]),
    ]
    return "".join(as_sse(Frame(name, data), str(data["seq"])).decode() for name, data in told).strip()


def _events() -> str:
    rows = [
        (code(name), prose(model.__doc__ or ""), shape_link(model.__name__))
        for name, model in (*EVENTS.items(), *EXTENDED.items())
    ]
    nine = table(("Event", "When", "Data"), rows[: len(EVENTS)])
    more = table(("Event", "When", "Data"), rows[len(EVENTS) :])
    return f"{nine}<p>With <code>?extended=true</code> also:</p>{more}"


def _frames() -> str:
    event = {"event": "status", "id": "3", "data": samples.EVENTS["status"]}
    ack = {"type": "INJECT_CONTEXT", "status": "queued", "debateId": samples.DEBATE}
    more = {"currentStatus": "debating", "seq": 40, "timestamp": "2024-12-03T05:31:00.000Z"}
    sent = {"type": "INJECT_CONTEXT", "data": {"additionalContext": "What about open-source models?"}}
    lines = [
        ("→", sent),
        ("←", {"event": "ack", "id": None, "data": {**ack, **more}}),
        ("←", event),
    ]
    return "\n".join(f"{way} {json.dumps(frame)}" for way, frame in lines)


def _socket_commands(shape: Shape) -> str:
    socket = shape["paths"][f"{PREFIX}/debates/{{debateId}}/ws"]["x-websocket"]
    rows = ((code(name), kind(data)) for name, data in socket["commands"].items())
    return table(("Command", "Data"), rows)


def _problems() -> str:
    rows = (
        (str(sort.status), code(f"/errors/{name}"), prose(sort.detail))
        for name, sort in sorted(PROBLEM_TYPES.items(), key=lambda item: item[1].status)
    )
    return table(("Status", "Type", "Meaning"), rows)


def _limits(service: ServerSettings) -> str:
    quota = service.quota_bytes and f"{service.quota_bytes // 1024 // 1024} MB"
    limits = {
        "Requests a minute for each client": service.requests_per_minute,
        "Debates under way at a time for each client": service.debates_per_client,
        "Streams and sockets open at a time for each client": service.streams_per_client,
        "Days that a finished debate is kept": service.ttl_days,
        "Size of the log": quota,
        "Invitations to a debate, and votes in it": f"{MOST_INVITED:,} and {MAX_VOTES:,}",
        "Body of a request": "128 KiB, 32 levels deep",
        "Address and headers": "8 KiB and 16 KiB",
        f"Time to send a body, of headers {service.header_seconds:g} s": f"{service.body_seconds:g} s",
    }
    return table(("What", "Most"), ((prose(what), str(most or "no limit")) for what, most in limits.items()))


BROWSER = """\
const source = new EventSource(debate.streamUrl);
source.addEventListener('participant', (e) => show(JSON.parse(e.data)));
source.addEventListener('error', (e) => e.data ? warn(JSON.parse(e.data)) : console.log('Reconnecting…'));
source.addEventListener('complete', () => source.close());"""


# --- routes and shapes ----------------------------------------------------------------------------------


def _contents(shape: Shape) -> Iterator[str]:
    yield "<b>Guide</b>"
    yield from (f'<a href="#{name}">{escape(title)}</a>' for name, title in CHAPTERS.items())
    yield "<b>Routes</b>"
    yield from (f'<a href="#{_slug(tag["name"])}">{escape(tag["name"])}</a>' for tag in shape["tags"])
    yield '<a href="#shapes">Shapes</a>'


def _slug(tag: str) -> str:
    return f"tag-{tag.lower().replace(' ', '-')}"


def _routes(shape: Shape) -> Iterator[str]:
    for tag in shape["tags"]:
        yield f'<section id="{_slug(tag["name"])}"><h2>{escape(tag["name"])}</h2>'
        yield f"<p>{prose(tag['description'])}</p>"
        for path, item in shape["paths"].items():
            for method in METHODS:
                if tag["name"] in item.get(method, {}).get("tags", ()):
                    yield from _operation(shape, method, path, item[method])
        yield "</section>"


def _operation(shape: Shape, method: str, path: str, operation: Shape) -> Iterator[str]:
    yield '<details class="route"><summary>'
    yield f'<b class="method {method}">{method.upper()}</b> {code(path)}'
    yield f'<span class="says">{escape(operation["summary"])}</span></summary>'
    yield _anchored(f"route-{operation['operationId']}", operation.get("description", ""))
    yield from _parameters(shape, operation)
    yield from _body(operation)
    yield from _replies(operation)
    yield "</details>"


def _parameters(shape: Shape, operation: Shape) -> Iterator[str]:
    given = [_resolved(shape, parameter) for parameter in operation.get("parameters", ())]
    if not given:
        return
    keys = [one for one in given if one["name"].startswith(KEY)]
    rows = [
        (code(one["name"]), escape(one["in"]), kind(one["schema"]), about({**one["schema"], **_text(one)}))
        for one in given
        if one not in keys
    ]
    if keys:
        names = ", ".join(code(one["name"].removeprefix(KEY)) for one in keys)
        text = f'A <a href="#keys">key of your own</a>, for {names}.'
        rows.append((code(f"{KEY}{{provider}}"), "header", "string", text))
    yield f"<h4>Parameters</h4>{table(('Name', 'In', 'Type', 'About'), rows)}"


def _text(parameter: Shape) -> Shape:
    return {"description": parameter["description"]}


def _body(operation: Shape) -> Iterator[str]:
    if "requestBody" not in operation:
        return
    content = operation["requestBody"]["content"]["application/json"]
    needed = "" if operation["requestBody"]["required"] else ", or nothing"
    yield f"<h4>Body</h4><p>{kind(content['schema'])}{needed}</p>"
    for name, example in {**content["examples"], **content.get("x-examples", {})}.items():
        yield f'<p class="caption">{escape(CAPTIONS.get(name, "Example:"))}</p>'
        yield listing(as_json(example["value"]), "Example of a body")


def _replies(operation: Shape) -> Iterator[str]:
    """What comes of it in full, and problems by their numbers: all of those are told in the guide."""
    good = {status: reply for status, reply in operation["responses"].items() if "$ref" not in reply}
    bad = [code(status) for status in operation["responses"] if status not in good]
    rows = ((code(status), prose(reply["description"]), _shapes_of(reply)) for status, reply in good.items())
    yield f"<h4>Replies</h4>{table(('Status', 'Meaning', 'Shape'), rows)}"
    if bad:
        yield f'<p class="refusals"><a href="#errors">Problems</a>: {" ".join(bad)}</p>'
    yield from _example(good)


def _shapes_of(reply: Shape) -> str:
    return " or ".join(sorted({_shape_of(*content) for content in reply.get("content", {}).items()}))


def _shape_of(media_type: str, content: Shape) -> str:
    if media_type == "text/event-stream":
        return '<a href="#events">events</a>'
    return kind(content["schema"])


def _example(replies: Shape) -> Iterator[str]:
    for reply in replies.values():
        sample = reply.get("content", {}).get("application/json", {}).get("example")
        if sample is not None:
            yield '<p class="caption">Example:</p>'
            yield listing(as_json(sample), "Example of a reply")
            return


def _resolved(shape: Shape, given: Shape) -> Shape:
    if "$ref" not in given:
        return given
    _, _, sort, name = given["$ref"].split("/")
    return shape["components"][sort][name]


def _shapes(shape: Shape) -> Iterator[str]:
    for name, member in sorted(shape["components"]["schemas"].items()):
        yield f'<details class="shape"><summary>{code(name)}</summary>'
        yield _anchored(f"shape-{name}", member.get("description", ""))
        yield f"{fields(member)}</details>"


def _anchored(name: str, text: str) -> str:
    """A browser unfolds what a link leads into, but not what it leads to: so the anchor is inside."""
    return f'<p id="{escape(name)}">{prose(text)}</p>'
