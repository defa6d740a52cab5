"""What ratings owe to single judges and motions: ratings without one of them, and by one judge alone.

Ratings rest on the experiment's own panel. A judge of a later judging, or with another prompt, has ratings of
its own beside them (`ratings_by_judge`), so that what it would have changed is seen and nothing is pooled.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from msgspec import Struct, structs

from moot.core.errors import Invalid
from moot.extensions.experiments.measuring.counted_decisions import count_judgments
from moot.extensions.experiments.measuring.covariates import covariates
from moot.extensions.experiments.measuring.leaderboard import SCALE, ModelRating
from moot.extensions.experiments.measuring.likelihood import most_likely
from moot.extensions.experiments.measuring.motion_jackknife import penalised_curvature
from moot.extensions.experiments.measuring.ratings import RatingOptions, Ratings, compacted, rate_models
from moot.extensions.experiments.measuring.tables import Booleans, JudgmentTable, as_table


class RatingShift(Struct, frozen=True, kw_only=True):
    """A model's rating with all data, and without one judge or one motion."""

    model: str
    without: str
    rating: float
    rating_without: float
    rank: int
    rank_without: int

    @property
    def shift(self) -> float:
        return self.rating_without - self.rating

    def row(self) -> dict[str, Any]:
        return {**structs.asdict(self), "shift": self.shift}


class JudgeRatings(Struct, frozen=True, kw_only=True):
    """The ratings by one judge alone."""

    judge: str
    own: bool
    """Whether it sat on the experiment's own panel."""
    debates: int
    models: tuple[ModelRating, ...]


def leave_one_judge_out(data: object, **options: Any) -> tuple[RatingShift, ...]:
    """The rating of each model without each judge of the panel that the ratings rest on; judges without whom
    the models fall apart are left out."""
    table = as_table(data).of_panel()
    parts = ((table.judges[int(code)], table.judge != code) for code in np.unique(table.judge))
    return _shifts(table, parts, options)


def leave_one_motion_out(data: object, **options: Any) -> tuple[RatingShift, ...]:
    """The rating of each model without each motion, by one Newton step from all data: that takes hardly any
    time, and differs from a new fit only where a motion is a large part of the data."""
    chosen = RatingOptions(**options)
    table = as_table(data)
    table = table.where(table.eligible & table.decided).of_panel()
    board = rate_models(table, **{**options, "intervals": False})
    table = compacted(table)
    counted = count_judgments(
        table, covariates(table, chosen.terms).columns,
        debate_weight=chosen.debate_weight, pair_weight=chosen.pair_weight,
    )  # fmt: skip
    whole = counted.total()
    best = most_likely(whole, prior_sd=chosen.prior_sd)
    curvature = penalised_curvature(whole, best, chosen.prior_sd)
    found: list[RatingShift] = []
    for code, unit in zip(np.unique(table.motion), counted.by_unit(table.motion), strict=True):
        gradient, own = unit.derivatives(best)
        moved = SCALE * np.linalg.solve(curvature - own, gradient).astype(float)[: whole.models]
        ratings = {
            model: board.model(model).rating - float(each)
            for model, each in zip(table.models, moved, strict=True)
        }
        ranked = enumerate(sorted(ratings, key=lambda name: -ratings[name]), 1)
        left = {model: (ratings[model], rank) for rank, model in ranked}
        found += _between(table.motions[int(code)], board, left)
    return tuple(found)


def largest_shifts(shifts: Iterable[RatingShift]) -> tuple[RatingShift, ...]:
    """The model that each judge or motion moves most, the largest move first."""
    largest: dict[str, RatingShift] = {}
    for each in shifts:
        known = largest.get(each.without)
        if known is None or abs(each.shift) > abs(known.shift):
            largest[each.without] = each
    return tuple(sorted(largest.values(), key=lambda each: (-abs(each.shift), each.without)))


def ratings_by_judge(data: object, **options: Any) -> tuple[JudgeRatings, ...]:
    """The ratings by each judge alone, those of the own panel first; nothing where there is one judge only.
    Judges whose ballots do not connect all models are left out."""
    table = as_table(data)
    table = structs.replace(table, own=np.ones(len(table), bool))
    mine = as_table(data).own
    found: list[JudgeRatings] = []
    codes = np.unique(table.judge)
    for code in codes if len(codes) > 1 else ():
        rows = table.judge == code
        try:
            board = rate_models(table.where(rows), **options)
        except Invalid:
            continue
        own, name = bool(mine[rows].any()), table.judges[int(code)]
        found.append(JudgeRatings(judge=name, own=own, debates=board.debates, models=board.models))
    return tuple(sorted(found, key=lambda each: not each.own))


def _shifts(
    table: JudgmentTable, parts: Iterable[tuple[str, Booleans]], options: dict[str, Any]
) -> tuple[RatingShift, ...]:
    options = {**options, "intervals": False}
    everything = rate_models(table, **options)
    found: list[RatingShift] = []
    for name, rest in parts:
        try:
            board = rate_models(table.where(rest), **options)
        except Invalid:
            continue
        found += _between(name, everything, {row.model: (row.rating, row.rank) for row in board.models})
    return tuple(found)


def _between(without: str, everything: Ratings, left: Mapping[str, tuple[float, int]]) -> list[RatingShift]:
    """`left` are the rating and the rank of the models that are left."""
    return [
        RatingShift(
            model=row.model,
            without=without,
            rating=row.rating,
            rating_without=left[row.model][0],
            rank=row.rank,
            rank_without=left[row.model][1],
        )
        for row in everything.models
        if row.model in left
    ]
