"""What is asked of a server and what it answers, as v1 has it; in Python's own spelling.

What is left out of a request takes the server's default. What a reply has beyond this is passed over.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from moot.api.shapes.debates import DebateSummary as Summary
from moot.api.shapes.debates import ListDebatesResponse as Debates
from moot.api.shapes.debates import TicketResponse as Ticket
from moot.client.event_shapes import Record, Tokens, Verdict
from moot.core.errors import Invalid
from moot.core.terms import HUMAN, Effort, OpeningSide, WinningRule

__all__ = [
    "PERSON",
    "Config",
    "Costs",
    "Created",
    "Debater",
    "Debates",
    "Done",
    "Judge",
    "JudgeInfo",
    "Model",
    "Polls",
    "Position",
    "Preview",
    "RawRecords",
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


class Model(Struct, frozen=True, rename="camel"):
    provider: str
    model_id: str
    temperature: float | UnsetType = UNSET
    max_tokens: int | UnsetType = UNSET


PERSON = Model(HUMAN, HUMAN)
"""Whoever types by hand."""


class Debater(Struct, frozen=True, rename="camel"):
    """Who takes part. `model` may be written as `provider/model`, or as `human`."""

    name: str
    model: Model | str
    position: Position
    persona: str | UnsetType = UNSET
    objective: str | UnsetType = UNSET
    system_prompt: str | UnsetType = UNSET
    color: str | UnsetType = UNSET
    stand_in: Model | str | UnsetType = UNSET
    """Speaks where the person of this seat is not there."""


class Judge(Struct, frozen=True, rename="camel"):
    """Who decides. `weights` say what each criterion counts, where they do not all count the same."""

    model: Model | str
    name: str = "Judge"
    evaluation_criteria: tuple[str, ...] | UnsetType = UNSET
    weights: dict[str, float] | UnsetType = UNSET


class Polls(Struct, frozen=True, rename="camel"):
    """The audience votes after the speeches, and before them too. Without `seconds`, until `close_poll`."""

    before: bool = True
    seconds: float | UnsetType = UNSET


class Config(Struct, frozen=True, rename="camel"):
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
    polls: Polls | UnsetType = UNSET
    tools: Sequence[str] | UnsetType = UNSET


def full_model(model: Model | str) -> Model:
    if isinstance(model, Model):
        return model
    if model == HUMAN:
        return PERSON
    provider, slash, name = model.partition("/")
    if not (provider and slash and name):
        raise Invalid(f"{model!r} should be written as provider/model.")
    return Model(provider, name)


def request(
    topic: str,
    format: str,
    participants: Sequence[Debater],
    judge: Judge | Model | str,
    config: Config,
    judges: Sequence[Judge | Model | str] = (),
) -> bytes:
    """The body that opens a debate, or asks what it would cost."""
    whole = {
        "topic": topic,
        "format": format,
        "participants": [_spelt_out(who) for who in participants],
        "judge": full_judge(judge),
        "config": config,
    }
    further = {"judges": [full_judge(one) for one in judges]} if judges else {}
    return msgspec.json.encode({**whole, **further})


def _spelt_out(who: Debater) -> Debater:
    stand_in = who.stand_in if who.stand_in is UNSET else full_model(who.stand_in)
    return msgspec.structs.replace(who, model=full_model(who.model), stand_in=stand_in)


def full_judge(judge: Judge | Model | str) -> Judge:
    judge = judge if isinstance(judge, Judge) else Judge(judge)
    return msgspec.structs.replace(judge, model=full_model(judge.model))


# --- answered -----------------------------------------------------------------------------------------


class Seat(Struct, frozen=True, rename="camel", kw_only=True):
    id: str
    name: str
    model: str
    position: str
    color: str = ""


class JudgeInfo(Struct, frozen=True, rename="camel", kw_only=True):
    """Where the judge sits."""

    id: str
    name: str
    model: str


class Created(Struct, frozen=True, rename="camel", kw_only=True):
    id: str
    status: str
    topic: str
    participants: tuple[Seat, ...]
    judge: JudgeInfo | None = None
    config: dict[str, Any] = {}
    created_at: datetime
    stream_url: str


class Costs(Struct, frozen=True, rename="camel", kw_only=True):
    total_cost: Decimal
    cost_by_model: dict[str, Decimal] = {}
    total_tokens: int = 0
    tokens_by_model: dict[str, Tokens] = {}


class Preview(Struct, frozen=True, rename="camel", kw_only=True):
    participant_id: str
    participant_name: str
    content_preview: str
    tokens_used: int = 0


class Round(Struct, frozen=True, rename="camel", kw_only=True):
    round_number: int
    responses: tuple[Preview, ...]
    total_tokens: int = 0
    round_cost: Decimal = Decimal(0)
    timestamp: datetime | None = None


class Status(Struct, frozen=True, rename="camel", kw_only=True):
    id: str
    status: str
    topic: str
    current_round: int
    max_rounds: int
    participants: tuple[Seat, ...]
    judge: JudgeInfo | None = None
    rounds: tuple[Round, ...] = ()
    costs: Costs
    verdict: Verdict | None = None
    created_at: datetime
    updated_at: datetime
    completed_at: datetime | None = None
    stopped: bool = False
    seq: int = 0
    """The last record of the native log."""


class Done(Struct, frozen=True, rename="camel", kw_only=True):
    """What was asked of a debate has been taken down in its log."""

    debate_id: str = ""
    status: str = ""
    message: str = ""
    current_round: int | None = None
    paused_at: datetime | None = None
    resumed_at: datetime | None = None
    stopped_at: datetime | None = None


class RawRecords(Struct, frozen=True, rename="camel", kw_only=True):
    """Records as they come: each is read on its own, because some may be of a kind not known here."""

    events: tuple[Raw, ...]
    has_more: bool = False


class Records(Struct, frozen=True):
    """A piece of the native log."""

    records: tuple[Record, ...]
    has_more: bool
