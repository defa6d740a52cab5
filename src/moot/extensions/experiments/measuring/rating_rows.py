"""The table `ratings`: for each model its rating with interval, and what its debates took."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from moot.core.errors import Invalid
from moot.extensions.experiments.measuring.data_tables import RatingRow
from moot.extensions.experiments.measuring.judge_identity import own_rows
from moot.extensions.experiments.measuring.judgments import Judgment, Ranking
from moot.extensions.experiments.measuring.leaderboard import ModelRating
from moot.extensions.experiments.measuring.rankings import rate_rankings
from moot.extensions.experiments.measuring.ratings import rate_models
from moot.extensions.experiments.measuring.reliability import ModelReliability, model_reliability

RATED = (
    "rank", "best_rank", "worst_rank", "rating", "low", "high", "win_share", "expected_share", "debates",
    "groups",
)  # fmt: skip
HELD = ("debates", "with_issues", "words", "seconds", "cost", "wins_per_dollar")
"""The columns that are of the same name there."""


def rating_rows(
    ballots: Sequence[Judgment], rankings: Sequence[Ranking] = (), *, experiment: str = ""
) -> tuple[RatingRow, ...]:
    """One row for each model, best first. Where models cannot be rated (no ballot decides anything, or some
    never met the others), the rows have no rating, and are in alphabetical order."""
    used = [row for row in ballots if row.eligible]
    reliability = {each.model: each for each in model_reliability(ballots)}
    try:
        rated = (rate_rankings(own_rows(rankings)) if rankings else rate_models(used)).models
    except Invalid:
        rated = ()
    known = {each.model: each for each in rated}
    names = [*known, *sorted(reliability.keys() - known.keys())]
    return tuple(_row(experiment, name, known.get(name), reliability.get(name)) for name in names)


def _row(experiment: str, model: str, rated: ModelRating | None, held: ModelReliability | None) -> RatingRow:
    known: dict[str, Any] = {}
    for source, names in ((rated, RATED), (held, HELD)):
        if source is not None:
            known |= {name: getattr(source, name) for name in names}
    return RatingRow(model=model, experiment=experiment, **known)
