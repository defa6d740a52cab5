"""What the shapes of replies have in common: ids, times, amounts of money, and how they are encoded.

Limits and patterns are only described (`extra_json_schema`), not enforced: an older client must be able to
read what a newer server sends.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Self

import msgspec
from msgspec import Meta

SCHEMA_TEMPLATE = "#/components/schemas/{name}"

Count = Annotated[int, Meta(extra_json_schema={"minimum": 0})]


class Timestamp(datetime):
    """A time in UTC that is encoded with exactly three digits after the second, as v1 promises."""

    @classmethod
    def of(cls, at: datetime) -> Self:
        return cls.fromtimestamp(at.timestamp(), UTC)


def encode_value(value: Any) -> str:
    """The hook for what msgspec cannot encode by itself."""
    if isinstance(value, Timestamp):
        return value.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    raise NotImplementedError(f"{type(value).__name__} is no part of a reply")


def decode_value(kind: type, value: Any) -> Any:
    """The hook for what msgspec cannot decode by itself."""
    if kind is Timestamp:
        return Timestamp.fromisoformat(value)
    raise NotImplementedError(f"{kind.__name__} is no part of a reply")


def describe_type(kind: type) -> dict[str, Any]:
    """The schema of what msgspec cannot describe by itself."""
    if kind is Timestamp:
        return {"type": "string", "format": "date-time", "examples": ["2024-12-03T05:30:00.000Z"]}
    raise NotImplementedError(f"{kind.__name__} is no part of a reply")


encoder = msgspec.json.Encoder(enc_hook=encode_value, decimal_format="number")
