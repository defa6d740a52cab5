"""The table `ratings`: for each model its rating with interval, and what its debates took."""

from __future__ import annotations

from collections.abc import Sequence

from moot.core.errors import Invalid
from moot.extensions.experiments.measuring.data_tables import RatingRow
from moot.extensions.experiments.measuring.judge_identity import own_rows
from moot.extensions.experiments.measuring.judgments import Judgment, Ranking
from moot.extensions.experiments.measuring.leaderboard import ModelRating
from moot.extensions.experiments.measuring.rankings import rate_rankings
from moot.extensions.experiments.measuring.ratings import rate_models
from moot.extensions.experiments.measuring.reliability import ModelReliability, model_reliability


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
    return RatingRow(
        model=model,
        experiment=experiment,
        rank=rated.rank if rated else None,
        best_rank=rated.best_rank if rated else None,
        worst_rank=rated.worst_rank if rated else None,
        rating=rated.rating if rated else None,
        low=rated.low if rated else None,
        high=rated.high if rated else None,
        win_share=rated.win_share if rated else None,
        expected_share=rated.expected_share if rated else None,
        debates=held.debates if held else rated.debates if rated else None,
        groups=rated.groups if rated else None,
        with_issues=held.with_issues if held else None,
        words=held.words if held else None,
        seconds=held.seconds if held else None,
        cost=held.cost if held else None,
        wins_per_dollar=held.wins_per_dollar if held else None,
    )
