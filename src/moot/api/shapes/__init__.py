"""Replies of the API, each defined once: built by the server, decoded by the client, described in OpenAPI.

A class has the name of its schema; `moot.client` exports it under a shorter name. Descriptions of members are
`Meta`, from which the OpenAPI document takes them.
"""

from __future__ import annotations

from msgspec import Struct

from moot.api.problems import ErrorResponse
from moot.api.shapes import (
    conversations,
    debates,
    estimates,
    events,
    page_view,
    people,
    records,
    server,
    statistics,
)
from moot.views import transcript_shapes

SHAPES: tuple[type[Struct], ...] = (
    conversations.ConversationResponse,
    conversations.ConversationsResponse,
    conversations.ConversationEventsResponse,
    conversations.InstallResponse,
    conversations.InstallsResponse,
    debates.CreateDebateResponse,
    debates.DebateStatusResponse,
    debates.ListDebatesResponse,
    debates.ActionResponse,
    debates.SubmitRoundResponse,
    debates.InjectResponse,
    debates.TriggerJudgeResponse,
    debates.PauseDebateResponse,
    debates.ResumeDebateResponse,
    debates.StopDebateResponse,
    debates.TicketResponse,
    estimates.EstimateResponse,
    server.ModelsResponse,
    server.ProvidersResponse,
    server.FormatsResponse,
    server.ToolsResponse,
    server.TokenResponse,
    server.TokensResponse,
    server.HealthResponse,
    server.ServicesResponse,
    people.InvitationResponse,
    people.InvitationsResponse,
    people.SeatResponse,
    statistics.StatisticsResponse,
    page_view.ViewResponse,
    page_view.View,
    page_view.ViewFrame,
    page_view.FramesResponse,
    ErrorResponse,
    transcript_shapes.TranscriptResponse,
    records.LogEntry,
    records.EventPage,
    records.CallResponse,
    records.VerdictsResponse,
    *events.EVENTS.values(),
    *events.EXTENDED.values(),
)
"""Every reply that is defined here."""
