"""The reply to the question what a debate would cost."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from moot.api.shapes.base import Amount, Count
from moot.rules.cost_estimate import CountRange
from moot.views.preview import ScheduledSpeech


class ModelEstimate(Struct, frozen=True, rename="camel", kw_only=True):
    model: str
    low: Annotated[Amount | None, Meta(description="null where nobody knows the price.")]
    high: Amount | None
    calls: CountRange
    input_tokens: CountRange
    output_tokens: CountRange


class EstimateResponse(Struct, frozen=True, rename="camel", kw_only=True):
    currency: Annotated[str, Meta(extra_json_schema={"const": "USD"})]
    low: Annotated[
        Amount | None, Meta(description="US dollars, if everybody keeps to the words of the format.")
    ]
    high: Annotated[Amount | None, Meta(description="US dollars, if every call takes all that it may.")]
    low_text: str
    high_text: str
    limited: Annotated[bool, Meta(description="It could cost more if `costLimit` did not hold it.")]
    smallest_limit: Annotated[
        Amount | None,
        Meta(
            description="The smallest `costLimit` under which the first round can be held and judged: a "
            "smaller one is refused. null where a price is not known."
        ),
    ]
    speeches: Count
    calls: CountRange
    tokens: CountRange
    models: tuple[ModelEstimate, ...]
    unpriced: tuple[str, ...]
    order: Annotated[tuple[ScheduledSpeech, ...], Meta(description="Who speaks when.")]
    warnings: Annotated[
        tuple[str, ...],
        Meta(description="What will weaken the verdict, and what is not in the estimate: tools."),
    ]
