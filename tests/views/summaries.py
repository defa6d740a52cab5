"""Summaries of made-up debates."""

from __future__ import annotations

from itertools import count

from msgspec.structs import replace

from moot.views.summary import StoredSummary

numbers = count(1)
OWL, CAT = "acme/owl", "acme/cat"
FOR_AND_AGAINST = ("for", "against")


def debate(
    *models: str, won: int | None = None, sides: tuple[str, ...] = FOR_AND_AGAINST, **changes: object
) -> StoredSummary:
    """A debate that was judged: seat `won` won it, or nobody."""
    seats = tuple(f"Seat {place}" for place in range(len(models)))
    summary = StoredSummary(
        id=f"deb_{next(numbers)}",
        motion="Cats are better than dogs",
        format="oxford",
        status="completed",
        seats=seats,
        models=models,
        round=2,
        rounds=2,
        turns=4,
        cost="0.25",
        winner=None if won is None else seats[won],
        outcome="draw" if won is None else "win",
        sides=sides,
        winner_model="" if won is None else models[won],
        winner_side="" if won is None else sides[won],
    )
    return replace(summary, **changes)
