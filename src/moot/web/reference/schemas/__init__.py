"""The replies of v1 as readers should expect them: for the description only, nothing is checked by them.

The replies themselves are projections (`api/v1/replies.py`); a test holds real ones against these shapes.
Types have the names of the contract. A member with `LEFT_OUT` is not there where there is nothing to tell;
readers should let members pass that they do not know.
"""

from __future__ import annotations

import msgspec
from pydantic.json_schema import models_json_schema

from moot.api.shapes import SHAPES
from moot.api.shapes.base import SCHEMA_TEMPLATE, describe_type
from moot.api.v1.validation_messages import Shape
from moot.web.reference.schemas.base_schemas import Reply
from moot.web.reference.schemas.conversation_schemas import ConversationEvent
from moot.web.reference.schemas.event_schemas import EVENTS, EXTENDED, AckData
from moot.web.reference.schemas.page_view_schemas import FramesResponse, ViewFrame, ViewResponse
from moot.web.reference.schemas.people_schemas import (
    InvitationResponse,
    InvitationsResponse,
    PollsResponse,
    SeatResponse,
    VerdictsResponse,
)
from moot.web.reference.schemas.problem_schemas import ErrorResponse
from moot.web.reference.schemas.record_schemas import CallResponse, EventPage, LogEntry, TranscriptResponse
from moot.web.reference.schemas.reply_schemas import (
    ActionResponse,
    CreateDebateResponse,
    DebateStatusResponse,
    InjectResponse,
    ListDebatesResponse,
    PauseDebateResponse,
    ResumeDebateResponse,
    StopDebateResponse,
    SubmitRoundResponse,
    TicketResponse,
    TriggerJudgeResponse,
)
from moot.web.reference.schemas.server_schemas import (
    EstimateResponse,
    FormatsResponse,
    HealthResponse,
    ModelsResponse,
    ProvidersResponse,
    TokenResponse,
    TokensResponse,
    ToolsResponse,
)
from moot.web.reference.schemas.statistics_schemas import StatisticsResponse

REPLIES: tuple[type[Reply], ...] = (
    CreateDebateResponse, DebateStatusResponse, ListDebatesResponse, SubmitRoundResponse,
    TriggerJudgeResponse, PauseDebateResponse, ResumeDebateResponse, StopDebateResponse, ActionResponse,
    InjectResponse, TicketResponse, TranscriptResponse, EventPage, LogEntry, CallResponse, EstimateResponse,
    InvitationResponse, InvitationsResponse, SeatResponse, PollsResponse, VerdictsResponse,
    ViewResponse, ViewFrame, FramesResponse,
    FormatsResponse, HealthResponse, ModelsResponse, ToolsResponse, StatisticsResponse, ErrorResponse,
    AckData,
    ProvidersResponse, TokenResponse, TokensResponse,
    *EVENTS.values(), *EXTENDED.values(),
)  # fmt: skip


def schemas(*more: type[Reply], template: str = "#/components/schemas/{model}") -> dict[str, Shape]:
    """The JSON Schema of every reply and event by its name; `more` are those of extensions."""
    _, shapes = models_json_schema(
        [(reply, "validation") for reply in (*REPLIES, *more)], ref_template=template
    )
    _, structs = msgspec.json.schema_components(
        SHAPES, ref_template=SCHEMA_TEMPLATE, schema_hook=describe_type
    )
    _, rows = models_json_schema([(ConversationEvent, "validation")], ref_template=template)
    return {**shapes["$defs"], **rows["$defs"], **structs}
