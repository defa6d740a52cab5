"""What the shapes of replies are made of; most of it is shared with transcripts, which are views."""

from __future__ import annotations

from typing import Annotated

from moot.api.v1.states import State
from moot.views.json_types import (
    DEBATE_ID,
    Amount,
    Count,
    DebateId,
    Dollars,
    JudgeId,
    Nth,
    Points,
    SeatId,
    Seconds,
    Timestamp,
    Winner,
    as_number,
    decode_value,
    describe_type,
    encode_value,
    encoder,
    one_of,
    to_members,
)

__all__ = [
    "DEBATE_ID", "SCHEMA_TEMPLATE", "Amount", "Count", "DebateId", "Dollars", "JudgeId", "Nth", "Points",
    "SeatId", "Seconds", "StateName", "Timestamp", "Winner", "as_number", "decode_value", "describe_type",
    "encode_value", "encoder", "one_of", "to_members",
]  # fmt: skip
SCHEMA_TEMPLATE = "#/components/schemas/{name}"
StateName = Annotated[str, one_of(State)]
