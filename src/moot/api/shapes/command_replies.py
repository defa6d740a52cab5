"""What is answered to a command: the effect itself is sent on the stream."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from moot.api.v1.states import StateName
from moot.core.json_types import Count, DebateId, Timestamp


class ActionResponse(Struct, frozen=True, rename="camel", kw_only=True):
    debate_id: DebateId
    current_round: Count
    status: StateName
    message: str


class SubmitRoundResponse(ActionResponse, frozen=True, rename="camel", kw_only=True):
    """A round was started, or the judging was."""


class InjectResponse(Struct, frozen=True, rename="camel", kw_only=True):
    debate_id: DebateId
    current_round: Count
    status: Annotated[str, Meta(extra_json_schema={"const": "queued"})]
    message: str
    current_status: StateName


class TriggerJudgeResponse(Struct, frozen=True, rename="camel", kw_only=True):
    debate_id: DebateId
    status: StateName
    message: str


class PauseDebateResponse(Struct, frozen=True, rename="camel", kw_only=True):
    debate_id: DebateId
    status: StateName
    paused_at: Timestamp
    pausing: Annotated[bool, Meta(description="Whether a speech is still being finished.")]


class ResumeDebateResponse(Struct, frozen=True, rename="camel", kw_only=True):
    debate_id: DebateId
    status: StateName
    resumed_at: Timestamp


class StopDebateResponse(Struct, frozen=True, rename="camel", kw_only=True):
    debate_id: DebateId
    status: StateName
    stopped_at: Timestamp
    message: str
    stopped: Annotated[bool, Meta(extra_json_schema={"const": True})]
