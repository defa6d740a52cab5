"""The query parameters of v1: each at most once, no unknown ones, numbers in plain digits."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from typing import Any, TypeVar, get_args
from urllib.parse import parse_qsl

from msgspec import Struct
from msgspec.structs import replace

from moot.api.frames import Cursor, parse_cursor
from moot.api.problems import Problem
from moot.api.v1.fields import SEAT_ID
from moot.api.v1.states import State, statuses_of
from moot.api.v1.validation_messages import Errors, Shape, one_of
from moot.store.contract import DebateFilter
from moot.views.exports import EXPORTS, all_exports

STATES: tuple[State, ...] = get_args(State)
MAX_OFFSET = 1_000_000_000
START_CURSOR = Cursor()
GIVEN_TWICE = "Given more than once"
TICKET = "ticket"
"""Admits a stream where a browser cannot send a token; `GuardMiddleware` has checked it already."""

AS_SEAT = "as"
"""The seat as whose person the client watches: a moderator who also speaks would otherwise see too much."""

FILTERS = ("format", "model", "from", "to")
MAX_TEXT = 200
MAX_PERSON = 60

_SEAT = re.compile(SEAT_ID, re.ASCII)
_DAY = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_WORDS_SHAPE = r"^[^\x00-\x1f\x7f]*$"
_WORDS = re.compile(_WORDS_SHAPE)
NAMES_SHAPE = "^[a-z0-9_.-]{1,40}(,[a-z0-9_.-]{1,40}){0,15}$"
_NAMES = re.compile(NAMES_SHAPE.strip("^$"), re.ASCII)
_DIGITS = re.compile("0|[1-9][0-9]{0,17}", re.ASCII)
T = TypeVar("T")
C = TypeVar("C", bound=str)


class StreamQuery(Struct, frozen=True):
    """Where a stream starts, whether it is extended, and the seat as whose person it is read."""

    cursor: Cursor = START_CURSOR
    extended: bool = False
    seat: str | None = None
    view: bool = False
    """The page's dialect in place of v1."""


def parse_listing(query: bytes) -> tuple[DebateFilter, int, int]:
    """Which debates are listed, `limit` and `offset`."""
    reader = QueryReader(query, "status", "limit", "offset", "search", *FILTERS)
    state: State | None = reader.choice("status", STATES)
    page, search = reader.page(), reader.text("search")
    statuses = statuses_of(state) if state else ()
    return reader.finish((replace(reader.debate_filter(), statuses=statuses, search=search), *page))


def parse_page(query: bytes) -> tuple[int, int]:
    """`limit` and `offset` of a page."""
    reader = QueryReader(query, "limit", "offset")
    return reader.finish(reader.page())


def parse_statistics(query: bytes) -> DebateFilter:
    reader = QueryReader(query, *FILTERS)
    return reader.finish(reader.debate_filter())


def parse_transcript(query: bytes) -> tuple[str, str | None, bool]:
    """The form, the seat as whose person it is read, and whether it has the reasoning."""
    reader = QueryReader(query, "format", "reasoning", AS_SEAT)
    forms = tuple(all_exports())
    form = reader.choice("format", forms, twice=one_of(forms))
    return reader.finish((form or "json", reader.seat(), reader.flag("reasoning")))


def parse_event_page(query: bytes) -> tuple[int, int, str | None]:
    """`after`, `limit`, and the seat as whose person it is read."""
    reader = QueryReader(query, "after", "limit", AS_SEAT)
    after, limit = reader.number("after", 0, MAX_OFFSET, 0), reader.number("limit", 1, 1000, 100)
    return reader.finish((after, limit, reader.seat()))


def parse_stream(query: bytes, last_event_id: str | None = None) -> StreamQuery:
    """The header wins over the parameter: a browser updates the header, but not the URL."""
    reader = QueryReader(query, "lastEventId", "extended", AS_SEAT, TICKET)
    parsed = StreamQuery(reader.cursor("lastEventId", last_event_id), reader.flag("extended"), reader.seat())
    return reader.finish(parsed)


def parse_plain_stream(query: bytes, last_event_id: str | None = None) -> StreamQuery:
    """The query of a stream of the compatibility APIs."""
    reader = QueryReader(query, "lastEventId", AS_SEAT, TICKET)
    return reader.finish(StreamQuery(reader.cursor("lastEventId", last_event_id), seat=reader.seat()))


def parse_log_stream(query: bytes, last_event_id: str | None = None) -> StreamQuery:
    """The stream of the native log: after `after`, or after the last event id."""
    reader = QueryReader(query, "lastEventId", "after", AS_SEAT, TICKET)
    start = Cursor(reader.number("after", 0, MAX_OFFSET, 0))
    return reader.finish(StreamQuery(reader.cursor("lastEventId", last_event_id, start), seat=reader.seat()))


def parse_socket(query: bytes) -> StreamQuery:
    reader = QueryReader(query, "after", "extended", "view", AS_SEAT, TICKET)
    parsed = StreamQuery(reader.cursor("after"), reader.flag("extended"), reader.seat(), reader.flag("view"))
    return reader.finish(parsed)


def parse_view(query: bytes) -> str | None:
    """The seat as whose person the view is read."""
    reader = QueryReader(query, AS_SEAT)
    return reader.finish(reader.seat())


def parse_queue(query: bytes) -> str:
    """The voter."""
    reader = QueryReader(query, "voter")
    return reader.finish(reader.person("voter"))


def no_params(query: bytes) -> None:
    QueryReader(query).finish(None)


class QueryReader:
    """Reads parameter by parameter and collects the errors until `finish` raises all of them at once."""

    def __init__(self, query: bytes, *known: str) -> None:
        self._errors: Errors = {}
        self._given: dict[str, list[str]] = {}
        for name, value in _pairs(query):
            self._given.setdefault(name, []).append(value)
        for name in self._given:
            if name not in known:
                self._add_error("".join(filter(str.isprintable, name[:64])), "Unknown parameter")

    def number(self, name: str, low: int, high: int, default: int) -> int:
        def read(text: str) -> int | None:
            return int(text) if _DIGITS.fullmatch(text) and low <= int(text) <= high else None

        return self._read(name, read, default, f"Must be between {low} and {high}")

    def choice(self, name: str, choices: tuple[C, ...], twice: str = GIVEN_TWICE) -> C | None:
        def read(text: str) -> C | None:
            return next((choice for choice in choices if choice == text), None)

        return self._read(name, read, None, one_of(choices), twice)

    def flag(self, name: str) -> bool:
        return self.choice(name, ("true", "false")) == "true"

    def text(self, name: str) -> str:
        def read(text: str) -> str | None:
            return text.strip() if len(text) <= MAX_TEXT and _WORDS.fullmatch(text) else None

        return self._read(name, read, "", f"Must be at most {MAX_TEXT} characters, all printable")

    def person(self, name: str) -> str:
        """A name, which is needed."""
        value = self.text(name)
        if not 1 <= len(value) <= MAX_PERSON:
            self._add_error(name, f"Must be 1-{MAX_PERSON} characters")
        return value

    def names(self, name: str) -> tuple[str, ...]:
        def read(text: str) -> tuple[str, ...] | None:
            return tuple(text.split(",")) if _NAMES.fullmatch(text) else None

        return self._read(name, read, (), "Must be names, with commas between them")

    def day(self, name: str) -> date | None:
        return self._read(name, _day, None, "Must be a day like 2026-01-31")

    def page(self) -> tuple[int, int]:
        return self.number("limit", 1, 100, 20), self.number("offset", 0, MAX_OFFSET, 0)

    def debate_filter(self) -> DebateFilter:
        """By format, by model, and by the days on which debates were opened."""
        return DebateFilter(
            format=self.text("format"),
            model=self.text("model"),
            since=self.day("from"),
            until=self.day("to"),
        )

    def seat(self) -> str | None:
        def read(text: str) -> str | None:
            return text if _SEAT.fullmatch(text) else None

        return self._read(AS_SEAT, read, None, "Must be a participant id")

    def cursor(self, name: str, header: str | None = None, start: Cursor = START_CURSOR) -> Cursor:
        """Raises Problem at once, also for the header: an id that is not one of ours makes the request
        malformed, not merely invalid."""
        # A browser that has seen nothing yet has an empty id.
        cursor = self._read(name, lambda text: parse_cursor(text) if text else start, start, "")
        return parse_cursor(header) if header else cursor

    def finish(self, parsed: T) -> T:
        if self._errors:
            raise Problem("validation", errors=self._errors)
        return parsed

    def _read(
        self, name: str, read: Callable[[str], T | None], default: T, problem: str, twice: str = GIVEN_TWICE
    ) -> T:
        values = self._given.get(name, ())
        if not values:
            return default
        value = read(values[0]) if len(values) == 1 else None
        if value is None:
            self._add_error(name, problem if len(values) == 1 else twice)
            return default
        return value

    def _add_error(self, name: str, problem: str) -> None:
        self._errors.setdefault(name, []).append(problem)


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if _DAY.fullmatch(text) else None
    except ValueError:
        return None


def _pairs(query: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(query.decode("ascii"), keep_blank_values=True, errors="strict")
    except ValueError:
        raise Problem("malformed-request", "The query is not valid UTF-8") from None


# --- how the OpenAPI page puts it ---------------------------------------------------------------------


def _parameter(name: str, schema: Shape, description: str) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": False, "schema": schema, "description": description}


def _integer(low: int, high: int, default: int) -> Shape:
    return {"type": "integer", "minimum": low, "maximum": high, "default": default}


_CURSOR: Shape = {"type": "string", "pattern": r"^(?:0|[1-9][0-9]{0,17}(?:\.[1-9][0-9]{0,3})?)?$"}
_FLAG: Shape = {"type": "string", "enum": ["true", "false"], "default": "false"}
_EXTENDED = _parameter("extended", _FLAG, "Further events, reasoning among them.")
_LAST = _parameter("lastEventId", _CURSOR, "The last id that was seen. The header Last-Event-ID wins.")
_AS = _parameter(
    AS_SEAT,
    {"type": "string", "pattern": f"^{SEAT_ID}$"},
    "Show no more than the person of this seat may see. For those who may speak for it.",
)
_AFTER = _parameter("after", _integer(0, MAX_OFFSET, 0), "The last number that was seen.")
_TEXT: Shape = {"type": "string", "maxLength": MAX_TEXT, "pattern": _WORDS_SHAPE}
_DATE: Shape = {"type": "string", "format": "date", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}
_AMONG = [
    _parameter("format", _TEXT, "Only debates of this format."),
    _parameter(
        "model", _TEXT, "Only debates in which this model speaks or judges: `provider/model`, or its name."
    ),
    _parameter("from", _DATE, "Only debates opened on this day (UTC) or later."),
    _parameter("to", _DATE, "Only debates opened on this day (UTC) or before."),
]
_PAGE = [
    _parameter("limit", _integer(1, 100, 20), "Results per page."),
    _parameter("offset", _integer(0, MAX_OFFSET, 0), "How many are left out at the front."),
]
PARAMETERS: dict[str, list[dict[str, Any]]] = {
    "statistics": _AMONG,
    "listing": [
        _parameter("status", {"type": "string", "enum": [*STATES]}, "Only debates in this state."),
        _parameter("search", _TEXT, "Only debates whose motion has this in it, in any case."),
        *_AMONG,
        *_PAGE,
    ],
    "page": _PAGE,
    "queue": [
        {
            **_parameter("voter", {**_TEXT, "minLength": 1, "maxLength": MAX_PERSON}, "Who judges."),
            "required": True,
        }
    ],
    "ticket": [_parameter(TICKET, {"type": "string"}, "Lets a browser in that can send no token.")],
    "transcript": [
        _parameter("format", {"type": "string", "enum": [*EXPORTS], "default": "json"}, "In which form."),
        _parameter("reasoning", _FLAG, "With what the speakers thought, as far as one may read it."),
        _AS,
    ],
    "event_page": [_AFTER, _parameter("limit", _integer(1, 1000, 100), "Events per page."), _AS],
    "view": [_AS],
    "stream": [_LAST, _EXTENDED, _AS],
    "log": [_LAST, _AFTER, _AS],
    "plain": [_LAST, _AS],
}
