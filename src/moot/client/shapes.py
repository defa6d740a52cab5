"""Requests and replies of a server, with Python's spelling of their members.

Members that are left out of a request take the server's default; members of a reply that this client does not
know are ignored. Replies are the structs of `moot.api.shapes` under shorter names; amounts of money in them
are `Decimal`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from moot.api.shapes.conversations import ConversationEventsResponse as ConversationEvents
from moot.api.shapes.conversations import ConversationResponse as Conversation
from moot.api.shapes.conversations import ConversationsResponse as Conversations
from moot.api.shapes.debates import AudiencePolls, DebateConfig
from moot.api.shapes.debates import CreateDebateResponse as Created
from moot.api.shapes.debates import DebateStatusResponse as Status
from moot.api.shapes.debates import ListDebatesResponse as Debates
from moot.api.shapes.debates import TicketResponse as Ticket
from moot.api.shapes.experiments import ExperimentResponse as Experiment
from moot.api.shapes.experiments import ExperimentsResponse as Experiments
from moot.api.shapes.experiments import ExperimentSummary
from moot.api.shapes.experiments import JudgingQueueResponse as JudgingQueue
from moot.api.shapes.records import LogEntry
from moot.api.shapes.records import ReachedVerdict as Judged
from moot.api.shapes.records import VerdictsResponse as Verdicts
from moot.api.shapes.seats_and_polls import InvitationResponse as Invitation
from moot.api.shapes.seats_and_polls import InvitationsResponse as Invitations
from moot.api.shapes.seats_and_polls import PollsResponse as Tallied
from moot.api.shapes.seats_and_polls import SeatResponse as SeatState
from moot.api.shapes.server_replies import InstallResponse as Install
from moot.api.shapes.server_replies import InstallsResponse as Installs
from moot.api.shapes.server_replies import ModelsResponse as Models
from moot.api.shapes.server_replies import TokenResponse as Token
from moot.api.shapes.server_replies import TokensResponse as Tokens
from moot.api.shapes.stream_events import EVENTS, Score, Verdict
from moot.api.shapes.stream_events import CompleteEvent as Complete
from moot.api.shapes.stream_events import CostUpdateEvent as CostUpdate
from moot.api.shapes.stream_events import CostWarningEvent as CostWarning
from moot.api.shapes.stream_events import ErrorEvent as StreamError
from moot.api.shapes.stream_events import JudgeEvent as JudgeWords
from moot.api.shapes.stream_events import ParticipantEvent as Words
from moot.api.shapes.stream_events import RoundCompleteEvent as RoundComplete
from moot.api.shapes.stream_events import StatusEvent as State
from moot.client.client_errors import Unreadable
from moot.core import events
from moot.core.errors import Invalid
from moot.core.json_types import decode_value
from moot.core.sse_reader import SseEvent
from moot.core.terms import HUMAN
from moot.extension import loaded

__all__ = [
    "PERSON", "AudiencePolls", "Complete", "Conversation", "ConversationEvents", "Conversations",
    "CostUpdate", "CostWarning", "Created", "DebateConfig", "DebaterConfig", "Debates", "Done", "Event",
    "Experiment", "ExperimentSummary", "Experiments",
    "Form", "Install", "Installs", "Invitation", "Invitations", "JudgeConfig", "JudgeWords", "Judged",
    "JudgingQueue", "ModelConfig", "Models", "Position", "Record", "Records", "RoundComplete", "Score",
    "SeatState", "State",
    "Status", "StreamError", "Tallied", "Ticket", "Token", "Tokens", "Verdict", "Verdicts", "Words",
    "event_of", "full_judge", "record_of", "request",
]  # fmt: skip
Form = Literal["unified", "legacy"]
"""The shape of the events of a conversation."""

# --- requests -------------------------------------------------------------------------------------------

Position = Literal["for", "against", "neutral"]


class ModelConfig(Struct, frozen=True, rename="camel"):
    provider: str
    model_id: str
    temperature: float | UnsetType = UNSET
    max_tokens: int | UnsetType = UNSET


PERSON = ModelConfig(HUMAN, HUMAN)
"""A person, in place of a model."""


class DebaterConfig(Struct, frozen=True, rename="camel"):
    """Who takes part. `model` may be written as `provider/model`, or as `human`."""

    name: str
    model: ModelConfig | str
    position: Position
    persona: str | UnsetType = UNSET
    objective: str | UnsetType = UNSET
    system_prompt: str | UnsetType = UNSET
    color: str | UnsetType = UNSET
    stand_in: ModelConfig | str | UnsetType = UNSET
    """Speaks where the person of this seat is not there."""


class JudgeConfig(Struct, frozen=True, rename="camel"):
    """Who decides. `weights` say what each criterion counts, where they do not all count the same."""

    model: ModelConfig | str
    name: str = "Judge"
    evaluation_criteria: tuple[str, ...] | UnsetType = UNSET
    weights: dict[str, float] | UnsetType = UNSET


def _full_model(model: ModelConfig | str) -> ModelConfig:
    if isinstance(model, ModelConfig):
        return model
    if model == HUMAN:
        return PERSON
    provider, slash, name = model.partition("/")
    if not (provider and slash and name):
        raise Invalid(f"{model!r} should be written as provider/model.")
    return ModelConfig(provider, name)


def request(
    topic: str,
    format: str,
    participants: Sequence[DebaterConfig],
    judge: JudgeConfig | ModelConfig | str,
    config: DebateConfig,
    judges: Sequence[JudgeConfig | ModelConfig | str] = (),
) -> bytes:
    """The body that opens a debate, or asks what it would cost."""
    body: dict[str, object] = {
        "topic": topic,
        "format": format,
        "participants": [_full_debater(debater) for debater in participants],
        "judge": full_judge(judge),
        "config": config,
    }
    if judges:
        body["judges"] = [full_judge(one) for one in judges]
    return msgspec.json.encode(body)


def _full_debater(debater: DebaterConfig) -> DebaterConfig:
    stand_in = debater.stand_in if debater.stand_in is UNSET else _full_model(debater.stand_in)
    return msgspec.structs.replace(debater, model=_full_model(debater.model), stand_in=stand_in)


def full_judge(judge: JudgeConfig | ModelConfig | str) -> JudgeConfig:
    judge = judge if isinstance(judge, JudgeConfig) else JudgeConfig(judge)
    return msgspec.structs.replace(judge, model=_full_model(judge.model))


# --- replies to commands ---------------------------------------------------------------------------------


class Done(Struct, frozen=True, rename="camel", kw_only=True):
    """The members that the replies to all commands have in common: the command is recorded in the log."""

    debate_id: str = ""
    status: str = ""
    message: str = ""
    current_round: int | None = None
    paused_at: datetime | None = None
    resumed_at: datetime | None = None
    stopped_at: datetime | None = None


# --- events and entries of the log ----------------------------------------------------------------------

Data = (
    State | Words | RoundComplete | JudgeWords | Verdict | CostUpdate | CostWarning | StreamError | Complete
    | dict[str, Any]
)  # fmt: skip
_decoders: dict[str, msgspec.json.Decoder[Any]] = {
    name: msgspec.json.Decoder(shape, dec_hook=decode_value) for name, shape in EVENTS.items()
}


class Event(Struct, frozen=True):
    """An event of a stream, to be resumed after its `id`.

    The events that only an extended stream has are plain dictionaries.
    """

    name: str
    id: str
    data: Data


class Record(Struct, frozen=True):
    """An entry of the native log.

    `event` is None where the client may not see it (then `kind` is `hidden`) or does not know its kind.
    """

    seq: int
    at: datetime
    kind: str
    event: events.Event | None


def event_of(message: SseEvent) -> Event:
    decoder = _decoders.get(message.name)
    try:
        data = decoder.decode(message.data) if decoder else msgspec.json.decode(message.data)
    except msgspec.DecodeError as error:
        raise Unreadable from error
    return Event(message.name, message.id, data)


class Records(Struct, frozen=True):
    """A page of the native log."""

    records: tuple[Record, ...]
    has_more: bool


class _Kind(Struct, frozen=True):
    type: str


_entry = msgspec.json.Decoder(LogEntry)
_kind = msgspec.json.Decoder(_Kind)
_KNOWN: frozenset[str] = frozenset(str(shape.__struct_config__.tag) for shape in events.Event.__args__)


def _is_known(kind: str) -> bool:
    """Whether it is ours, or of an extension that is loaded here too."""
    return kind in _KNOWN or loaded().family(kind.partition(".")[0]) is not None


def record_of(entry: LogEntry | bytes) -> Record:
    try:
        entry = _entry.decode(entry) if isinstance(entry, bytes) else entry
        kind = _kind.decode(entry.event).type
        event = events.decode_event(bytes(entry.event)) if _is_known(kind) else None
    except msgspec.DecodeError as error:
        raise Unreadable from error
    return Record(entry.seq, entry.at, kind, event)
