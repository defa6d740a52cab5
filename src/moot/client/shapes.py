"""What is asked of a server and what it answers, as v1 has it; in Python's own spelling.

What is left out of a request takes the server's default. What a reply has beyond this is passed over.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from moot.api.shapes.debates import CostSummary as Costs
from moot.api.shapes.debates import CreateDebateResponse as Created
from moot.api.shapes.debates import DebateJudge as JudgeInfo
from moot.api.shapes.debates import DebateParticipant as Seat
from moot.api.shapes.debates import DebateRoundSummary as Round
from moot.api.shapes.debates import DebateStatusResponse as Status
from moot.api.shapes.debates import DebateSummary as Summary
from moot.api.shapes.debates import ListDebatesResponse as Debates
from moot.api.shapes.debates import SpeechPreview as Preview
from moot.api.shapes.debates import TicketResponse as Ticket
from moot.client.event_shapes import Record
from moot.core.errors import Invalid
from moot.core.terms import HUMAN, Effort, OpeningSide, WinningRule

__all__ = [
    "PERSON",
    "AudiencePolls",
    "Costs",
    "Created",
    "DebateConfig",
    "DebaterConfig",
    "Debates",
    "Done",
    "JudgeConfig",
    "JudgeInfo",
    "ModelConfig",
    "Position",
    "Preview",
    "Records",
    "Round",
    "Seat",
    "Status",
    "Summary",
    "Ticket",
    "full_judge",
    "full_model",
    "request",
]  # fmt: skip

# --- asked --------------------------------------------------------------------------------------------

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


class AudiencePolls(Struct, frozen=True, rename="camel"):
    """The audience votes after the speeches, and before them too. Without `seconds`, until `close_poll`."""

    before: bool = True
    seconds: float | UnsetType = UNSET


class DebateConfig(Struct, frozen=True, rename="camel"):
    max_rounds: int | UnsetType = UNSET
    timeout_per_round: float | UnsetType = UNSET
    cost_limit: float | UnsetType = UNSET
    warn_at_cost: float | UnsetType = UNSET
    auto_judge: bool | UnsetType = UNSET
    auto_progress: bool | UnsetType = UNSET
    winning_condition: WinningRule | UnsetType = UNSET
    intensity: int | UnsetType = UNSET
    effort: Effort | UnsetType = UNSET
    show_reasoning: bool | UnsetType = UNSET
    person_seconds: float | UnsetType = UNSET
    objective: str | UnsetType = UNSET
    prep: bool | UnsetType = UNSET
    blind: bool | UnsetType = UNSET
    opens: OpeningSide | UnsetType = UNSET
    recuse: bool | UnsetType = UNSET
    polls: AudiencePolls | UnsetType = UNSET
    tools: Sequence[str] | UnsetType = UNSET


def full_model(model: ModelConfig | str) -> ModelConfig:
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
        "participants": [_spelt_out(who) for who in participants],
        "judge": full_judge(judge),
        "config": config,
    }
    if judges:
        body["judges"] = [full_judge(one) for one in judges]
    return msgspec.json.encode(body)


def _spelt_out(who: DebaterConfig) -> DebaterConfig:
    stand_in = who.stand_in if who.stand_in is UNSET else full_model(who.stand_in)
    return msgspec.structs.replace(who, model=full_model(who.model), stand_in=stand_in)


def full_judge(judge: JudgeConfig | ModelConfig | str) -> JudgeConfig:
    judge = judge if isinstance(judge, JudgeConfig) else JudgeConfig(judge)
    return msgspec.structs.replace(judge, model=full_model(judge.model))


# --- answered -----------------------------------------------------------------------------------------


class Done(Struct, frozen=True, rename="camel", kw_only=True):
    """What was asked of a debate has been taken down in its log."""

    debate_id: str = ""
    status: str = ""
    message: str = ""
    current_round: int | None = None
    paused_at: datetime | None = None
    resumed_at: datetime | None = None
    stopped_at: datetime | None = None


class Records(Struct, frozen=True):
    """A piece of the native log."""

    records: tuple[Record, ...]
    has_more: bool
