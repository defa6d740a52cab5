"""What a row of the bad-input table is made of: what is sent, byte for byte, and the whole of the reply."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from msgspec import Struct

from moot.api.problems import PROBLEM_TYPES
from moot.settings import ServerSettings
from tests.api.setup_bodies import changed
from tests.web.raw_client import request

DEBATES = "/api/v1/debates"
NO_DEBATE = "There is no such debate"
INVALID = "Invalid debate configuration"
ANN, BOB, VISITOR, OPERATOR = "ann-owner-token", "bob-owner-token", "ann-viewer-token", "operators-own-token"


class Sort(Struct, frozen=True):
    """How a kind of problem looks from outside. A header of None has to be there, whatever it says."""

    status: int
    kind: str
    title: str
    headers: Mapping[str, str | None] = {}


CLOSE = {"connection": "close"}
LATER = {"retry-after": None}
VAL = Sort(422, "validation", "Validation Failed")
MAL = Sort(400, "malformed-request", "Malformed Request")
AUTH = Sort(401, "unauthorized", "Authentication Required", {"www-authenticate": None})
ORI = Sort(403, "forbidden-origin", "Origin Not Allowed")
FORBIDDEN = Sort(403, "forbidden", "Forbidden")
NF = Sort(404, "not-found", "Not Found")
MNA = Sort(405, "method-not-allowed", "Method Not Allowed", {"allow": None})
NACC = Sort(406, "not-acceptable", "Not Acceptable")
RTO = Sort(408, "request-timeout", "Request Timeout", CLOSE)
CON = Sort(409, "conflict", "Conflict")
AHEAD = Sort(409, "cursor-ahead", "Conflict")
BIG = Sort(413, "payload-too-large", "Payload Too Large", CLOSE)
URI = Sort(414, "uri-too-long", "URI Too Long")
MED = Sort(415, "unsupported-media-type", "Unsupported Media Type")
HOST = Sort(421, "misdirected-request", "Misdirected Request")
MISMATCH = Sort(422, "idempotency-mismatch", "Idempotency Mismatch")
UPG = Sort(426, "upgrade-required", "Upgrade Required", {"upgrade": "websocket"})
RATE = Sort(429, "rate-limit", "Too Many Requests", LATER)
CROWD = Sort(429, "too-many-debates", "Too Many Requests", LATER)
HDR = Sort(431, "headers-too-large", "Request Header Fields Too Large", CLOSE)


class Row(Struct, frozen=True, kw_only=True):
    """`{id}` in what is sent is a debate in that `mood`, `{last}` the number of its last event."""

    id: str
    sent: bytes
    sort: Sort | None = None
    """None: nothing is wrong with it, and `status` is what it is answered with."""
    status: int = 0
    detail: str = ""
    errors: Mapping[str, str] = {}
    now: str = ""
    """The `currentStatus` of a conflict."""
    members: Mapping[str, str] = {}
    """What else the body has."""
    code: str = ""
    """At `/api/debate`, where nothing is to be tried again."""
    headers: Mapping[str, str | None] = {}
    holds: bytes = b""
    """What the reply has in it."""
    lacks: bytes = b"\0"
    """What it has not."""
    mood: str = ""
    topic: str = ""
    before: tuple[bytes, ...] = ()
    """Sent first, each on a line of its own that stays open; all of it is welcome."""
    service: ServerSettings | None = None
    """A server of its own, that behaves so."""
    guarded: bool = False
    """Asked of the server that has tokens; the debate is Ann's."""

    def problem(self, instance: str, request_id: str) -> dict[str, Any]:
        """The whole body of the reply. With nothing left open, nothing of what was sent can be in it."""
        assert self.sort
        shape: dict[str, Any] = {
            "type": f"/errors/{self.sort.kind}",
            "title": self.sort.title,
            "status": self.sort.status,
            "detail": self.detail or PROBLEM_TYPES[self.sort.kind].detail,  # type: ignore[index]  # one of its kinds
            "instance": instance,
            "requestId": request_id,
        }
        if self.now:
            shape["currentStatus"] = self.now
        shape |= self.members
        if self.code:
            shape |= {"code": self.code, "message": shape["detail"], "retryable": False}
        if self.errors:
            shape["errors"] = {field: [message] for field, message in self.errors.items()}
        return shape


# --- what is sent -------------------------------------------------------------------------------------


def get(target: str, **headers: str | None) -> bytes:
    return request(target, **headers)


def post(target: str, body: Any = None, **headers: str | None) -> bytes:
    data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    return request(target, "POST", data, **headers)


def create(body: Any = None, **headers: str | None) -> bytes:
    return post(DEBATES, example() if body is None else body, **headers)


def example(**changes: Any) -> dict[str, Any]:
    """The contract's example between models that cost nothing, with changes by path."""
    # Changes may hold pieces of the example itself.
    shape = deepcopy(changed(**changes))
    participants = shape.get("participants")
    for seat in (shape.get("judge"), *(participants[:4] if isinstance(participants, list) else ())):
        model = seat.get("model") if isinstance(seat, dict) else None
        if isinstance(model, dict) and model.get("provider") in ("anthropic", "openai"):
            model["provider"] = "scripted"
    return shape


def written(**changes: str) -> bytes:
    """The example with members whose values are no JSON that Python would write."""
    shape = json.dumps(example(**dict.fromkeys(changes, "@@")))
    for value in changes.values():
        shape = shape.replace('"@@"', value, 1)
    return shape.encode("utf-8", "surrogateescape")


def bearer(word: str) -> dict[str, str | None]:
    return {"Authorization": f"Bearer {word}"}


def raw(*lines: str, body: bytes = b"") -> bytes:
    """A request line and headers as they are, with our host."""
    first, *headers = lines
    return "\r\n".join((first, "Host: 127.0.0.1", *headers, "", "")).encode("latin-1") + body


def handshake(target: str, **headers: str | None) -> bytes:
    given: dict[str, str | None] = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec_WebSocket_Key": "AAAAAAAAAAAAAAAAAAAAAA==",
        "Sec_WebSocket_Version": "13",
    }
    return request(target, **{**given, **headers})
