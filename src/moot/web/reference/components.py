"""The parts of the description that its routes share: what a server offers, headers, parameters, problems."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from moot.api.problems import MEDIA_TYPE, PROBLEM_TYPES, ProblemKind
from moot.api.v1 import admin_bodies, bodies, people_bodies, query_params
from moot.api.v1.contract_example import CREATE_DEBATE
from moot.api.v1.fields import SEAT_ID
from moot.api.v1.validation_messages import Shape
from moot.views.legacy_rows import MAX_NAME_CHARS
from moot.web.extension import Extension
from moot.web.reference import samples
from moot.web.reference.article import PREFIX
from moot.web.reference.schemas.base_schemas import DEBATE_ID, Reply

# Blanks at either end do not survive the way through HTTP.
_VISIBLE = "^[!-~](?:[ -~]*[!-~])?$"
_IDEMPOTENCY = (
    "Names this request: sent again under the same key it is not carried out again, and the first reply "
    "comes back with `Idempotent-Replayed: true`."
)
_CURSOR: Shape = query_params.PARAMETERS["stream"][0]["schema"]
_EVERY = ("X-Request-Id", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")
_AGAIN = (409, 429, 503)
"""With these the server may say when to come back."""


def _header(text: str, kind: str = "string", **more: Any) -> Shape:
    return {"description": text, "schema": {"type": kind}, **more}


HEADERS: dict[str, Shape] = {
    "X-Request-Id": _header("Finds the request in the server's log.", required=True),
    "X-RateLimit-Limit": _header("Requests a minute; not there where the limit is lifted.", "integer"),
    "X-RateLimit-Remaining": _header("Requests left in this minute.", "integer"),
    "X-RateLimit-Reset": _header("When the minute is over, in epoch seconds.", "integer"),
    "Retry-After": _header("Seconds to wait.", "integer"),
    "WWW-Authenticate": _header("How to say who one is."),
    "Location": _header("The address of what was made.", required=True),
    "Idempotent-Replayed": _header("`true` where the request had been carried out before."),
    "X-Debate-Id": _header("The debate that was opened, or that is followed.", required=True),
    "X-Session-Id": _header("The session of the turn.", required=True),
    "Content-Disposition": _header("The name of the file, for Markdown and HTML."),
}


class Offer(Struct, frozen=True):
    """What this server has."""

    house: bodies.Capabilities
    keyed: tuple[str, ...]
    """Providers that take a key of the asker's own."""
    locked: bool
    """A token is needed."""
    provider: str
    """With this one, and this model, a debate can be held without any key."""
    model: str
    extensions: tuple[Extension, ...] = ()

    @property
    def added_replies(self) -> tuple[type[Reply], ...]:
        return tuple(reply for added in self.extensions for reply in added.reference().replies)

    @property
    def added_events(self) -> dict[str, tuple[type[Reply], ...]]:
        return {
            name: events for added in self.extensions for name, events in added.reference().events.items()
        }

    @property
    def added_samples(self) -> dict[str, Callable[[str], Any]]:
        return {
            name: sample for added in self.extensions for name, sample in added.reference().samples.items()
        }

    @property
    def keyless(self) -> dict[str, Any]:
        return samples.keyless(self.provider, self.model)

    @property
    def named(self) -> str:
        """That model in full."""
        return f"{self.provider}/{self.model}"

    def example(self, body: str) -> Any:
        sample = self.added_samples.get(body)
        return sample(self.named) if sample else samples.BODIES[body]

    @property
    def creations(self) -> dict[str, Any]:
        """Bodies that open a debate here."""
        providers = {"anthropic", "openai"}
        contract = all(name in self.house.providers and self.house.has_key(name) for name in providers)
        return {"keyless": self.keyless, **({"contract": CREATE_DEBATE} if contract else {})}


def ref(sort: str, name: str) -> Shape:
    return {"$ref": f"#/components/{sort}/{name}"}


def schema(name: str) -> Shape:
    return ref("schemas", name)


def headers(*own: str) -> Shape:
    return {name: ref("headers", name) for name in (*_EVERY, *own)}


def body_schemas(offer: Offer) -> dict[str, Shape]:
    """Examples in them are such as work here: those who test by them would be refused otherwise."""
    added = [body for extension in offer.extensions for body in extension.reference().bodies]
    more = (bodies.InjectContext, *people_bodies.BODIES, *admin_bodies.BODIES, *added)
    shapes = bodies.schemas(offer.house, *more)
    shapes["CreateDebate"]["examples"] = list(offer.creations.values())
    # Two of the same are refused; that no two may have the same name cannot be said here.
    shapes["CreateDebate"]["properties"]["participants"]["uniqueItems"] = True
    model = shapes["ModelChoice"]["properties"]
    model["provider"]["examples"], model["modelId"]["examples"] = [offer.provider], [offer.model]
    shapes["Debater"]["properties"]["provider"]["enum"] = [*offer.house.providers]
    for name, sample in offer.added_samples.items():
        shapes[name]["examples"] = [sample(offer.named)]
    return shapes


def parameters(offer: Offer) -> Iterator[tuple[str, Shape]]:
    debate_id = {"type": "string", "pattern": DEBATE_ID}
    yield "DebateId", _parameter("debateId", "path", debate_id, "The debate.")
    number = {"type": "string", "pattern": "^[0-9]{1,9}$"}
    yield "Call", _parameter("call", "path", number, "The number of the call, from 1.")
    seat = {"type": "string", "pattern": f"^{SEAT_ID}$"}
    yield "Seat", _parameter("seat", "path", seat, "The participant whose seat it is.")
    guest = {
        "type": "string",
        "minLength": 1,
        "maxLength": people_bodies.MAX_NAME_LENGTH,
        "pattern": "^[0-9A-Za-z_-]+$",
    }
    yield "Guest", _parameter("name", "path", guest, "The name of the invitation.")
    model = {"type": "string", "pattern": "^[0-9A-Za-z][0-9A-Za-z._-]{0,63}$"}
    # Nobody can ask for `.` or `..`: on the way here they lead elsewhere.
    talk = {"type": "string", "maxLength": MAX_NAME_CHARS, "pattern": r"^[^\x00-\x1f\x7f]*[^\x00-\x1f\x7f.]$"}
    about = "A debate, or an imported conversation, whose id may have a slash in it: %2F."
    yield "Conversation", _parameter("conversationId", "path", talk, about)
    session = {"type": "string", "pattern": "^[A-Za-z0-9_.-]{1,100}$"}
    yield "Session", _parameter("sessionId", "path", session, "The session, or its id before an import.")
    yield "Model", _parameter("model", "path", model, "The name of the model, as in the list.")
    yield (
        "Token",
        _parameter("token", "path", {**guest, "maxLength": admin_bodies.MAX_NAME_LENGTH}, "Its name."),
    )
    key = {"type": "string", "minLength": 1, "maxLength": 255, "pattern": _VISIBLE}
    yield "IdempotencyKey", _parameter("Idempotency-Key", "header", key, _IDEMPOTENCY)
    last = "The last id that was seen; browsers send it by themselves. Wins over `lastEventId`."
    yield "LastEventId", _parameter("Last-Event-ID", "header", _CURSOR, last)
    ticket = "Lets a browser in that can send no token: see tickets."
    yield "Ticket", _parameter("ticket", "query", {"type": "string"}, ticket)
    secret = {"type": "string", "minLength": 1, "maxLength": 512, "pattern": _VISIBLE}
    for name in offer.keyed:
        text = f"A key of your own for {name}. It stays in memory, for this debate alone."
        yield f"ProviderKey-{name}", _parameter(f"X-Provider-Key-{name}", "header", secret, text)


def _parameter(name: str, where: str, schema: Shape, text: str) -> Shape:
    return {"name": name, "in": where, "required": where == "path", "schema": schema, "description": text}


def problems() -> dict[str, Shape]:
    """One reply for each status, with all the kinds that have it."""
    statuses = sorted({sort.status for sort in PROBLEM_TYPES.values()})
    return {f"Problem{status}": _problem(status) for status in statuses}


def kinds_of(status: int) -> list[ProblemKind]:
    return [kind for kind, sort in PROBLEM_TYPES.items() if sort.status == status]


def _problem(status: int) -> Shape:
    kinds = kinds_of(status)
    examples = {kind: {"summary": PROBLEM_TYPES[kind].detail, "value": example_of(kind)} for kind in kinds}
    said = (
        *(("Retry-After",) if status in _AGAIN else ()),
        *(("WWW-Authenticate",) if status == 401 else ()),
    )
    return {
        "description": "; ".join(f"`{kind}`: {PROBLEM_TYPES[kind].detail}" for kind in kinds),
        "headers": headers(*said),
        "content": {MEDIA_TYPE: {"schema": schema("ErrorResponse"), "examples": examples}},
    }


def example_of(kind: ProblemKind) -> Shape:
    sort = PROBLEM_TYPES[kind]
    shape: Shape = {
        "type": f"/errors/{kind}",
        "title": sort.title,
        "status": sort.status,
        "detail": sort.detail,
        "instance": f"{PREFIX}/debates",
        "requestId": "req_01HZ9X8K7M3QR5TNVWXYZ12345",
    }
    if kind == "validation":
        return {**shape, "detail": bodies.CreateDebate.detail, "errors": samples.ERRORS}
    return {**shape, "currentStatus": "completed"} if kind == "conflict" else shape
