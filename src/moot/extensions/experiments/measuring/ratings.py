"""Ratings of models from judgments: Bradley-Terry with a side term, intervals by motions, and rank ranges.

`rate_models` is the main function. What is measured is how often judges prefer the speeches of a model, not
how true it is. Debates count once however many judges they had, ties are half a win for both, and the
advantage of the side is estimated and taken out. docs/experiments.md tells the method and its limits.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from msgspec import Struct, field, structs

from moot.core.errors import Invalid
from moot.extensions.experiments.measuring.bradley_terry import Decisions
from moot.extensions.experiments.measuring.connections import components, unbeaten_and_winless
from moot.extensions.experiments.measuring.counted_decisions import (
    CountedJudgments,
    DebateWeight,
    PairWeight,
    count_judgments,
)
from moot.extensions.experiments.measuring.covariates import covariates, independent
from moot.extensions.experiments.measuring.estimates import FEW_MOTIONS, LEVEL, Estimate
from moot.extensions.experiments.measuring.leaderboard import (
    SCALE,
    Difference,
    ModelRating,
    Standing,
    effects_of,
    leaderboard,
)
from moot.extensions.experiments.measuring.likelihood import most_likely
from moot.extensions.experiments.measuring.motion_jackknife import standard_errors
from moot.extensions.experiments.measuring.separation import OpenEnds, open_ends
from moot.extensions.experiments.measuring.tables import Booleans, Floats, Integers, JudgmentTable, as_table

TieRule = Literal["half", "davidson"]
Cluster = Literal["motion", "group"]
Population = Literal["motions", "judges"]
UNEVEN = 3
"""Pairs that met so many times as often as others are told of."""
PRIOR_SD = 3.0
"""In log-odds: about 520 points. For a model with 20 debates the prior counts less than one debate."""
STYLE_CONTROLLED = ("side", "last_word", "order", "length", "markup", "side:format")


class RatingOptions(Struct, frozen=True, kw_only=True):
    """How ratings are computed; kept in the result, so that a report can tell it."""

    terms: tuple[str, ...] = ("side",)
    """Covariates beside the strengths: see `covariates.py`."""
    ties: TieRule = "half"
    debate_weight: DebateWeight = "debate"
    pair_weight: PairWeight = "held"
    """`equal` makes the result independent of how often each pair was chosen to meet."""
    cluster: Cluster = "motion"
    """What is left out as a whole. Rows that name no motion are taken by group."""
    over: Population = "motions"
    """What would be drawn anew if the experiment were repeated: other motions, with the same judges; or other
    judges too."""
    intervals: bool = True
    """False: only the ratings, which takes much less time."""
    level: float = LEVEL
    prior_sd: float = PRIOR_SD


class Ratings(Struct, frozen=True, kw_only=True):
    """A leaderboard with its doubts. `rows()` gives plain rows for pandas, `notes` says what to beware of."""

    models: tuple[ModelRating, ...]
    effects: tuple[Estimate, ...]
    """Side and other covariates, in log-odds."""
    differences: tuple[Difference, ...]
    """Of each model to each one below it."""
    judgments: int
    debates: int
    groups: int
    motions: int = 0
    options: RatingOptions = field(default_factory=RatingOptions)
    notes: tuple[str, ...] = ()

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary for each model, best first."""
        return [structs.asdict(row) for row in self.models]

    def effect(self, name: str) -> Estimate | None:
        return next((effect for effect in self.effects if effect.name == name), None)

    def model(self, name: str) -> ModelRating:
        return next(row for row in self.models if row.model == name)

    def separable(self, one: str, other: str) -> bool:
        """Whether the data tells which of two models is stronger."""
        return any(d.separable for d in self.differences if {d.better, d.worse} == {one, other})


def rate_models(data: object, **options: Any) -> Ratings:
    """Rate the models of judgments: rows, mappings, a DataFrame or a `JudgmentTable`.

    Options are the fields of `RatingOptions`. Raises `Invalid` where no judgment decides anything, or where
    some models never met the others, also not over third ones; `rate_components` splits such data.

    >>> rows = [dict(motion=m, pro=p, con=c, judge="j", winner=w) for m in ("x", "y", "z")
    ...         for p, c, w in (("a", "b", "pro"), ("b", "a", "con" if m != "z" else "pro"))]
    >>> [row.model for row in rate_models(rows).models]
    ['a', 'b']
    """
    table, chosen = _rated_rows(as_table(data)), RatingOptions(**options)
    parts = _component_masks(table)
    if len(parts) > 1:
        sets = "; ".join(", ".join(sorted(_names(table, rows))[:4]) for rows in parts)
        raise Invalid(
            f"The models fall into {len(parts)} sets that never met each other ({sets}). Ratings of "
            "different sets cannot be compared: hold debates between them, or rate each set by itself."
        )
    return _rate(table, chosen)


def rate_components(data: object, **options: Any) -> tuple[Ratings, ...]:
    """Ratings of each set of models that met each other, the largest set first."""
    table, chosen = _rated_rows(as_table(data)), RatingOptions(**options)
    return tuple(_rate(table.where(rows), chosen) for rows in _component_masks(table))


def rate_style_controlled(data: object, **options: Any) -> Ratings:
    """Ratings with length, markup, order, last word and format taken out as far as they are known."""
    return rate_models(data, **{"terms": STYLE_CONTROLLED, **options})


def _rated_rows(table: JudgmentTable) -> JudgmentTable:
    table = table.where(table.eligible & table.decided).of_panel()
    if not len(table):
        raise Invalid("There is no judgment that names a winner or a tie and counts for ratings.")
    return table


def _component_masks(table: JudgmentTable) -> list[Booleans]:
    present = np.unique(np.concatenate([table.pro, table.con]))
    sets = components(_met(table))
    return [np.isin(table.pro, members) for members in sets if np.isin(members, present).any()]


def _met(table: JudgmentTable) -> Booleans:
    met = np.zeros((len(table.models), len(table.models)), bool)
    met[table.pro, table.con] = True
    return met


def _names(table: JudgmentTable, rows: Booleans) -> list[str]:
    return [table.models[code] for code in np.unique(table.pro[rows]).tolist()]


def _rate(table: JudgmentTable, options: RatingOptions) -> Ratings:
    table = compacted(table)
    found = covariates(table, options.terms)
    counted = count_judgments(
        table, found.columns, debate_weight=options.debate_weight, pair_weight=options.pair_weight,
        davidson=options.ties == "davidson",
    )  # fmt: skip
    kept, dropped = independent(
        counted.total().design()[:, : counted.models], counted.covariates, found.names
    )
    counted = structs.replace(counted, covariates=counted.covariates[:, kept])
    names = tuple(found.names[at] for at in kept)
    unit = table.units(options.cluster)
    motions = len(np.unique(unit))
    whole = counted.total()
    best = most_likely(whole, prior_sd=options.prior_sd)
    above, below = unbeaten_and_winless(whole.models, whole.first, whole.second, whole.weight, whole.score)
    errors, ends = None, OpenEnds()
    if motions > 1 and options.intervals:
        errors = standard_errors(
            whole, counted.by_unit, best, whole.models, prior_sd=options.prior_sd, motion=unit,
            judge=table.judge, over=options.over,
        )  # fmt: skip
        per_motion, seen = _decisions_a_motion(counted, unit)
        ends = open_ends(
            whole, best, models=whole.models, above=above, below=below, per_motion=per_motion, motions=seen,
            level=options.level,
        )  # fmt: skip
    counts = (per_model(table, codes) for codes in (table.debate, table.group, unit))
    standing = Standing(table.models, _win_shares(table), *counts)
    lines, differences = leaderboard(standing, best, errors, ends, options.level)
    if options.ties == "davidson":
        names = (*names, "tie")
    return Ratings(
        models=lines,
        effects=effects_of(names, best, errors, ends, options.level, motions),
        differences=differences,
        judgments=len(table),
        debates=len(np.unique(table.debate)),
        groups=len(np.unique(table.group)),
        motions=motions,
        options=options,
        notes=(
            *found.notes,
            *dropped,
            *_doubts(table, unit, above, below, options),
            *_uneven_pairs(table, found.columns[:, kept], best, options),
        ),
    )


def _decisions_a_motion(counted: CountedJudgments, unit: Integers) -> tuple[Floats, Floats]:
    """In how many decisions of a motion each parameter takes part (for the tie parameter all), and in how
    many motions."""
    weights = np.stack([_taken_part(each) for each in counted.by_unit(unit)])
    motions = (weights > 0).sum(axis=0).astype(float)
    return weights.sum(axis=0) / np.maximum(motions, 1), motions


def _taken_part(decisions: Decisions) -> Floats:
    found = np.abs(np.sign(decisions.design())).T @ decisions.weight
    return np.append(found, decisions.weight.sum()) if decisions.davidson else found


def compacted(table: JudgmentTable) -> JudgmentTable:
    """The table with only the models that occur in its rows."""
    used, codes = np.unique(np.concatenate([table.pro, table.con]), return_inverse=True)
    names = tuple(table.models[int(code)] for code in used)
    return structs.replace(table, models=names, pro=codes[: len(table)], con=codes[len(table) :])


def _win_shares(table: JudgmentTable) -> Floats:
    count = len(table.models)
    won = np.bincount(table.pro, table.score, count) + np.bincount(table.con, 1 - table.score, count)
    met = np.bincount(table.pro, minlength=count) + np.bincount(table.con, minlength=count)
    return won / np.maximum(met, 1)


def per_model(table: JudgmentTable, codes: Integers) -> Integers:
    """How many different codes (debates, groups) each model has."""
    present = np.zeros((len(table.models), int(codes.max()) + 1), bool)
    present[table.pro, codes] = True
    present[table.con, codes] = True
    return present.sum(axis=1)


# --- doubts -------------------------------------------------------------------------------------------


def _doubts(
    table: JudgmentTable, unit: Integers, above: set[int], below: set[int], options: RatingOptions
) -> list[str]:
    notes = few_motions(len(np.unique(unit)), table.named_motions and options.cluster == "motion")
    few = per_model(table, unit) < 5
    if not notes and few.any():
        names = ", ".join(sorted(table.models[at] for at in np.flatnonzero(few)))
        notes.append(f"Too little data for some models (fewer than 5 motions): {names}.")
    judges = len(np.unique(table.judge))
    if options.over == "judges":
        notes.append(
            f"The intervals are for other judges too, of whom these {judges} are taken as a sample."
            if judges > 1
            else "There is one judge: nothing can be said about other judges, so there are no intervals."
        )
    single = _unswapped(table)
    if single:
        notes.append(
            f"{single} of {len(np.unique(table.group))} groups were not held with both sides: the side term "
            "has to make up for it."
        )
    for models, text in ((above, "never lost to the others"), (below, "never won against the others")):
        if models:
            names = ", ".join(sorted(table.models[at] for at in models))
            notes.append(
                f"{names}: {text}. Their rating is set by the prior (standard deviation "
                f"{options.prior_sd:g} in log-odds), and their interval is open on that side."
            )
    ties = float((table.score == 0.5).mean())
    if ties and options.ties == "half":
        notes.append(f"{ties:.0%} of the judgments are ties; each counts as half a win for both.")
    return notes


def few_motions(motions: int, named: bool) -> list[str]:
    """A note where few motions make intervals wide."""
    if motions >= FEW_MOTIONS:
        return []
    what = "motion" if named else "matchup (the rows name no motion)"
    if motions < 2:
        return [
            f"Too little data: all rows belong to one {what}, so nothing tells how another one would turn "
            "out, and there are no intervals."
        ]
    what = "motions" if named else "matchups (the rows name no motion)"
    return [f"Little data: {motions} {what}. Intervals are wide, because so few may all be unusual."]


def _uneven_pairs(table: JudgmentTable, columns: Floats, best: Floats, options: RatingOptions) -> list[str]:
    """Where some pairs met much more often than others: how far ratings move if all count the same."""
    count = len(table.models)
    pair = np.minimum(table.pro, table.con) * count + np.maximum(table.pro, table.con)
    groups = len(table.groups)
    met = np.unique(pair * groups + table.group) // groups
    times = np.unique(met, return_counts=True)[1]
    if options.pair_weight == "equal" or times.max() < UNEVEN * times.min() or count < 3:
        return []
    equal = count_judgments(
        table, columns, debate_weight=options.debate_weight, pair_weight="equal",
        davidson=options.ties == "davidson",
    )  # fmt: skip
    other = most_likely(equal.total(), prior_sd=options.prior_sd, start=best)
    moved = SCALE * (other[:count] - best[:count])
    most = int(np.abs(moved).argmax())
    return [
        f"Pairs met {times.min()} to {times.max()} times. If every pair that met counted the same, ratings "
        f"would move by {np.abs(moved).mean():.0f} points on average and at most by {abs(moved[most]):.0f} "
        f"({table.models[most]})."
    ]


def _unswapped(table: JudgmentTable) -> int:
    """How many groups have all their debates with the same model on the same side."""
    turned = (table.pro > table.con).astype(float)
    _, codes = np.unique(table.group, return_inverse=True)
    share = np.bincount(codes, turned) / np.bincount(codes)
    return int(((share == 0) | (share == 1)).sum())
