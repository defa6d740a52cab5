"""What the replies and stream events of the older APIs have in common.

The routes build these structs, and the OpenAPI document describes them. Their members are encoded in the
order in which they stand, `type` first; one with a default is left out where there is nothing to say.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from moot.core.json_types import Count, Dollars, Nth

Seq = Annotated[Nth, Meta(description="Its number in the log: to resume after it, as `lastEventId`.")]
Part = Annotated[
    Nth | None,
    Meta(description="Of several events with one number, which: `lastEventId=seq.part`. The last has none."),
]
Duration = Annotated[Count, Meta(description="Milliseconds.")]
KnownCost = Annotated[Dollars | None, Meta(description="US dollars; null where no price is known.")]


class PlainShape(Struct, frozen=True, rename="camel", omit_defaults=True):
    """The common configuration."""


class QuickMessage(PlainShape, frozen=True, kw_only=True):
    role: str
    content: str
    round: Count


class QuickOutcome(PlainShape, frozen=True, kw_only=True):
    """The result of a debate, or its state so far."""

    summary: Annotated[
        str, Meta(description="The moderator's; else the reasoning of the judges, or why it ended.")
    ]
    total_tokens: Count
    total_cost: KnownCost
    duration: Duration
    transcript: tuple[QuickMessage, ...]
