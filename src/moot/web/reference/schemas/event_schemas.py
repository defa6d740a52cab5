"""The acknowledgement of a command over a WebSocket."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from moot.api.command_table import SOCKET_COMMANDS
from moot.api.v1.states import State
from moot.web.reference.schemas.base_schemas import Count, DebateId, Moment, Reply


class AckData(Reply):
    """A command over a WebSocket is in the log."""

    type: Annotated[str, Field(json_schema_extra={"enum": [*SOCKET_COMMANDS]})]
    status: Literal["done", "queued"]
    debate_id: DebateId
    current_status: State
    seq: Count
    timestamp: Moment
