"""What the shapes of JSON documents have in common: ids, times, amounts of money, and how they are encoded.

Replies of the API (`moot.api.shapes`) and the views (`moot.views`) are made of them.

Limits, patterns and enumerations are only described (`extra_json_schema`), not enforced: an older client must
be able to read what a newer server sends. A member that may be left out has a default that says "nothing"
(None, False, "" or an empty tuple) in a class with `omit_defaults`; one without a default is always sent.
"""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any, Self, TypeVar, get_args, overload

import msgspec
from msgspec import Meta, Struct

S = TypeVar("S", bound=Struct)
DEBATE_ID = "^deb_[0-9A-HJKMNP-TV-Z]{26}$"
DebateId = Annotated[
    str, Meta(extra_json_schema={"pattern": DEBATE_ID}, examples=["deb_01HZ9X8K7M3QR5TNVWXYZ12345"])
]
SeatId = Annotated[
    str,
    Meta(
        extra_json_schema={"pattern": "^part_[0-9A-Za-z]{1,40}$"},
        examples=["part_01HZ9X8K7N1QR5TNVWXYZ12345"],
    ),
]
JudgeId = Annotated[
    str,
    Meta(
        extra_json_schema={"pattern": "^judge_[0-9A-Za-z]{1,40}$"},
        examples=["judge_01HZ9X8K7N3QR5TNVWXYZ12345"],
    ),
]
Winner = Annotated[str, Meta(extra_json_schema={"pattern": "^(?:tie|part_[0-9A-Za-z]{1,40})$"})]
Count = Annotated[int, Meta(extra_json_schema={"minimum": 0})]
Nth = Annotated[int, Meta(extra_json_schema={"minimum": 1})]
Seconds = Annotated[float, Meta(extra_json_schema={"minimum": 0}, description="Seconds.")]
Dollars = Annotated[float, Meta(extra_json_schema={"minimum": 0})]
Amount = Annotated[Decimal, Meta(extra_json_schema={"minimum": 0})]
"""Dollars that the client gets as a `Decimal`; `as_number` makes it of an amount of money."""
Points = Annotated[float, Meta(extra_json_schema={"minimum": 0, "maximum": 100})]


def one_of(literal: Any) -> Meta:
    """Describes the strings that this version sends: the members of a `Literal`."""
    return Meta(extra_json_schema={"enum": list(get_args(literal))})


class Timestamp(datetime):
    """A time in UTC that is encoded with exactly three digits after the second, as v1 promises."""

    @overload
    @classmethod
    def of(cls, at: datetime) -> Self: ...

    @overload
    @classmethod
    def of(cls, at: datetime | None) -> Self | None: ...

    @classmethod
    def of(cls, at: datetime | None) -> Self | None:
        return None if at is None else cls.fromtimestamp(at.timestamp(), UTC)


def as_number(amount: Decimal) -> Decimal:
    """The amount with the digits of a float: v1 sends `0.0` and `0.01`, not `0` and `0.0100`."""
    return Decimal(repr(float(amount)))


def encode_value(value: Any) -> str:
    """The hook for what msgspec cannot encode by itself."""
    if isinstance(value, Timestamp):
        return value.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    raise NotImplementedError(f"{type(value).__name__} cannot be in a reply")


def choose(kind: type[S], view: object, /, **others: Any) -> S:
    """Make the struct of a document from a view: the fields that have the same name there, with times and
    amounts as they are sent, and those whose value is given here."""
    names = [name for name in kind.__struct_fields__ if name not in others]
    return kind(**{name: _as_sent(getattr(view, name)) for name in names}, **others)


def _as_sent(value: Any) -> Any:
    if isinstance(value, datetime):
        return Timestamp.of(value)
    return as_number(value) if isinstance(value, Decimal) else value


def to_members(struct: Struct) -> dict[str, Any]:
    """The members of a struct as they are encoded, for a document that has more of them."""
    return msgspec.to_builtins(struct, builtin_types=(Decimal,), enc_hook=encode_value)


def decode_value(kind: type, value: Any) -> Any:
    """The hook for what msgspec cannot decode by itself."""
    if kind is Timestamp:
        return Timestamp.fromisoformat(value)
    raise NotImplementedError(f"{kind.__name__} cannot be in a reply")


SCHEMA_TEMPLATE = "#/components/schemas/{name}"
"""How the OpenAPI document refers to a schema."""


def describe_type(kind: type) -> dict[str, Any]:
    """The schema of what msgspec cannot describe by itself."""
    if kind is Timestamp:
        return {"type": "string", "format": "date-time", "examples": ["2024-12-03T05:30:00.000Z"]}
    raise NotImplementedError(f"{kind.__name__} cannot be in a reply")


encoder = msgspec.json.Encoder(enc_hook=encode_value, decimal_format="number")
