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
    page_view,
    records,
    seats_and_polls,
    server_replies,
    stream_events,
)
from moot.views import transcript_shapes

SHAPES: tuple[type[Struct], ...] = (
    conversations.ConversationResponse,
    conversations.ConversationsResponse,
    conversations.ConversationEventsResponse,
    conversations.ConversationEvent,
    server_replies.InstallResponse,
    server_replies.InstallsResponse,
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
    server_replies.EstimateResponse,
    server_replies.ModelsResponse,
    server_replies.ProvidersResponse,
    server_replies.FormatsResponse,
    server_replies.ToolsResponse,
    server_replies.TokenResponse,
    server_replies.TokensResponse,
    server_replies.HealthResponse,
    server_replies.ServicesResponse,
    seats_and_polls.InvitationResponse,
    seats_and_polls.InvitationsResponse,
    seats_and_polls.SeatResponse,
    seats_and_polls.PollsResponse,
    server_replies.StatisticsResponse,
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
    *stream_events.EVENTS.values(),
    *stream_events.EXTENDED.values(),
    stream_events.AckData,
)
"""Every reply that is defined here."""
