"""A typed client of a Moot server (`moot serve`): `Client` blocks, `AsyncClient` is for asyncio.

    from moot.client import Client, DebaterConfig

    with Client() as moot:
        debate = moot.create("This house would ban homework.", participants=[...], judge="local/smollm2-135m")
        for event in moot.stream(debate.id):
            print(event.name, event.data)

It depends on the shapes of the v1 API and the events of the log, and on nothing else of the engine.
"""

from __future__ import annotations

from moot.client.async_client import AsyncClient
from moot.client.client_errors import ApiError, ProblemDetails, Unreachable, Unreadable
from moot.client.shapes import (
    AudiencePolls,
    Complete,
    Conversation,
    ConversationEvents,
    Conversations,
    CostUpdate,
    CostWarning,
    Created,
    DebateConfig,
    DebaterConfig,
    Debates,
    Done,
    Event,
    Experiment,
    ExperimentSummary,
    Install,
    Invitation,
    JudgeConfig,
    Judged,
    JudgeWords,
    JudgingQueue,
    ModelConfig,
    Models,
    Record,
    Records,
    RoundComplete,
    SeatState,
    State,
    Status,
    StreamError,
    Tallied,
    Token,
    Verdict,
    Verdicts,
    Words,
)
from moot.client.streams import StreamTimeouts

try:
    from moot.client.sync_client import Client
except ModuleNotFoundError as error:
    if error.name != "moot.client.sync_client":
        raise
    raise ImportError("The blocking client is generated at set-up: run `make setup`.") from None

__all__ = [
    "ApiError",
    "AsyncClient",
    "AudiencePolls",
    "Client",
    "Complete",
    "Conversation",
    "ConversationEvents",
    "Conversations",
    "CostUpdate",
    "CostWarning",
    "Created",
    "DebateConfig",
    "DebaterConfig",
    "Debates",
    "Done",
    "Event",
    "Experiment",
    "ExperimentSummary",
    "Install",
    "Invitation",
    "JudgeConfig",
    "JudgeWords",
    "Judged",
    "JudgingQueue",
    "ModelConfig",
    "Models",
    "ProblemDetails",
    "Record",
    "Records",
    "RoundComplete",
    "SeatState",
    "State",
    "Status",
    "StreamError",
    "StreamTimeouts",
    "Tallied",
    "Token",
    "Unreachable",
    "Unreadable",
    "Verdict",
    "Verdicts",
    "Words",
]
