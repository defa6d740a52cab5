"""The replies of v1 as readers should expect them: for the description only, nothing is checked by them.

The replies themselves are projections (`wire/v1/replies.py`); a test holds real ones against these shapes.
Types have the names of the contract. A member with `LEFT_OUT` is not there where there is nothing to tell;
readers should let members pass that they do not know.
"""

from __future__ import annotations

from pydantic.json_schema import models_json_schema

from moot.web.schemas.archive import ConversationEventsResponse, ConversationResponse, ConversationsResponse
from moot.web.schemas.base import Reply
from moot.web.schemas.doors import DOOR_REPLIES
from moot.web.schemas.events import EVENTS, EXTENDED, AckData
from moot.web.schemas.figures import StatisticsResponse
from moot.web.schemas.gallery import FramesResponse, ViewFrame, ViewResponse
from moot.web.schemas.house import (
    EstimateResponse,
    FormatsResponse,
    HealthResponse,
    InstallResponse,
    InstallsResponse,
    ModelsResponse,
    ProvidersResponse,
    TokenResponse,
    TokensResponse,
    ToolsResponse,
)
from moot.web.schemas.keeping import CallResponse, EventPage, LogEntry, TranscriptResponse
from moot.web.schemas.people import (
    InvitationResponse,
    InvitationsResponse,
    PollsResponse,
    SeatResponse,
    VerdictsResponse,
)
from moot.web.schemas.problems import ErrorResponse
from moot.web.schemas.replies import (
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
from moot.wire.v1.wording import Shape

REPLIES: tuple[type[Reply], ...] = (
    CreateDebateResponse, DebateStatusResponse, ListDebatesResponse, SubmitRoundResponse,
    TriggerJudgeResponse, PauseDebateResponse, ResumeDebateResponse, StopDebateResponse, ActionResponse,
    InjectResponse, TicketResponse, TranscriptResponse, EventPage, LogEntry, CallResponse, EstimateResponse,
    InvitationResponse, InvitationsResponse, SeatResponse, PollsResponse, VerdictsResponse,
    ViewResponse, ViewFrame, FramesResponse,
    ConversationResponse, ConversationsResponse, ConversationEventsResponse,
    FormatsResponse, HealthResponse, ModelsResponse, ToolsResponse, StatisticsResponse, ErrorResponse,
    AckData,
    InstallResponse, InstallsResponse, ProvidersResponse, TokenResponse, TokensResponse,
    *EVENTS.values(), *EXTENDED.values(), *DOOR_REPLIES,
)  # fmt: skip


def schemas(template: str = "#/components/schemas/{model}") -> dict[str, Shape]:
    """The JSON Schema of every reply and event by its name."""
    _, shapes = models_json_schema([(reply, "validation") for reply in REPLIES], ref_template=template)
    return shapes["$defs"]
