"""Elo, as many know it: ratings that change with every judgment, in the order of the rows.

It is given as a familiar extra. It depends on the order, knows no side and has no interval: `rate_models` is
the estimate to rely on. The computation is evalica's.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct, structs

from moot.extensions.experiments.measuring.tables import as_table


class EloRating(Struct, frozen=True):
    """One model's Elo rating after all judgments."""

    model: str
    rating: float

    def row(self) -> dict[str, Any]:
        return structs.asdict(self)


def elo_ratings(data: object, *, k: float = 4.0, initial: float = 1500.0) -> tuple[EloRating, ...]:
    """Elo ratings, best first; undecided and not eligible judgments are left out."""
    import evalica

    table = as_table(data)
    table = table.where(table.decided & table.eligible)
    winners = {1.0: evalica.Winner.X, 0.0: evalica.Winner.Y, 0.5: evalica.Winner.Draw}
    result = evalica.elo(
        [table.models[int(code)] for code in table.pro],
        [table.models[int(code)] for code in table.con],
        [winners[float(score)] for score in table.score],
        initial=initial,
        k=k,
    )
    scores: dict[str, float] = {str(name): float(score) for name, score in result.scores.items()}
    return tuple(
        EloRating(model, rating) for model, rating in sorted(scores.items(), key=lambda entry: -entry[1])
    )
