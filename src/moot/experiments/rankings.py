"""Ratings from rankings of three or more teams: the Plackett-Luce model with the effect of the position.

A ranking is read as a row of choices: the best of all, then the best of the rest. Each is chosen with odds
by its strength and its position in the format. Teams that a ballot leaves out are below those named, in no
order. Intervals come from resampled groups; each resample is fitted by one Newton step from the estimate,
which is exact enough from some dozen groups on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

import msgspec
import numpy as np

from moot.core.errors import Invalid
from moot.experiments.connections import components
from moot.experiments.judgments import Ranking, counted_as
from moot.experiments.leaderboard import Standing, leaderboard
from moot.experiments.ratings import RatingOptions, Ratings, small_sample_factor
from moot.experiments.resampling import FEW_GROUPS, Estimate, bounds, group_draws, sums_by
from moot.experiments.tables import Floats, Integers, coded

MAX_STEPS = 60


def rate_rankings(data: Iterable[Ranking | Mapping[str, Any]], **options: Any) -> Ratings:
    """Rate models from rankings. Options are those of `RatingOptions` that concern weights, resamples and
    prior. The effects of `Ratings` are those of the positions. Raises `Invalid` where models never met."""
    rows = [row if isinstance(row, Ranking) else msgspec.convert(row, Ranking) for row in data]
    rows = [row for row in rows if row.eligible and row.ranking and len(row.models) > 1]
    if not rows:
        raise Invalid("There is no ranking that counts for ratings.")
    options.setdefault("terms", ("position",))
    return _rate(rows, RatingOptions(**options))


def _rate(rows: list[Ranking], options: RatingOptions) -> Ratings:
    models, _ = coded(name for row in rows for name in row.models)
    seats, _ = coded(name for row in rows for name in row.seats)
    groups, group = coded(row.group for row in rows)
    debates, debate = coded(map(counted_as, rows))
    notes = _notes(rows, models, len(groups))
    weight = np.ones(len(rows))
    if options.debate_weight == "debate":
        weight = 1.0 / np.bincount(debate)[debate]
    design, chosen, row_of = _choices(rows, models, seats)
    best, scores, curvature = _fit(design, chosen, weight[row_of], options.prior_sd)
    samples = np.zeros((0, len(best)))
    if len(groups) > 1:
        parts = (sums_by(group[row_of], scores, len(groups)), sums_by(group[row_of], curvature, len(groups)))
        samples = _resampled(best, *parts, options)
        samples = best + (samples - best) * small_sample_factor(len(groups), len(best))
    standing = _standing(rows, models, debate, group)
    lines, differences = leaderboard(standing, best, samples, (), (), options.level)
    effects = [
        Estimate(f"position:{seat}", float(best[at]), *bounds(samples[:, at], options.level), len(groups))
        for at, seat in enumerate(seats, len(models))
    ]
    return Ratings(
        models=lines,
        effects=tuple(effects),
        differences=differences,
        judgments=len(rows),
        debates=len(debates),
        groups=len(groups),
        options=options,
        notes=tuple(notes),
    )


def _choices(
    rows: list[Ranking], models: tuple[str, ...], seats: tuple[str, ...]
) -> tuple[Floats, Integers, Integers]:
    """The design (choices by teams by parameters, NaN for teams that are already placed), the team that was
    chosen, and the row of each choice."""
    model_at = {name: number for number, name in enumerate(models)}
    seat_at = {name: number for number, name in enumerate(seats, len(models))}
    most = max(len(row.models) for row in rows)
    designs: list[Floats] = []
    chosen: list[int] = []
    row_of: list[int] = []
    for number, row in enumerate(rows):
        teams = np.zeros((most, len(models) + len(seats)))
        for team, (model, seat) in enumerate(zip(row.models, row.seats, strict=True)):
            teams[team, model_at[model]] += 1
            teams[team, seat_at[seat]] += 1
        left = list(range(len(row.models)))
        for team in row.ranking[: len(row.models) - 1]:
            stage = np.full_like(teams, np.nan)
            stage[left] = teams[left]
            designs.append(stage)
            chosen.append(team)
            row_of.append(number)
            left.remove(team)
    return np.stack(designs), np.array(chosen, np.intp), np.array(row_of, np.intp)


def _fit(design: Floats, chosen: Integers, weight: Floats, prior_sd: float) -> tuple[Floats, Floats, Floats]:
    """The estimate, and the gradient and curvature of each choice there (without the prior)."""
    count = int(design.shape[2])
    parameters: Floats = np.zeros(count)
    for _ in range(MAX_STEPS):
        scores, curvature = _derivatives(design, chosen, weight, parameters)
        step = _newton_step(scores, curvature, parameters, prior_sd)
        largest = float(np.abs(step).max())
        parameters += step * min(1.0, 2.0 / max(largest, 1e-300))
        if largest < 1e-8:
            break
    scores, curvature = _derivatives(design, chosen, weight, parameters)
    return parameters, scores, curvature.reshape(len(curvature), -1)


def _derivatives(
    design: Floats, chosen: Integers, weight: Floats, parameters: Floats
) -> tuple[Floats, Floats]:
    """The gradient and the curvature of each choice."""
    absent = np.isnan(design[:, :, 0])
    filled = np.nan_to_num(design)
    odds = np.where(absent, -np.inf, filled @ parameters)
    share = np.exp(odds - odds.max(axis=1, keepdims=True))
    share = share / share.sum(axis=1, keepdims=True)
    mean = (share[:, :, None] * filled).sum(axis=1)
    squares = np.swapaxes(filled * share[:, :, None], 1, 2) @ filled
    scores = weight[:, None] * (filled[np.arange(len(chosen)), chosen] - mean)
    return scores, weight[:, None, None] * (squares - mean[:, :, None] * mean[:, None, :])


def _newton_step(scores: Floats, curvature: Floats, parameters: Floats, prior_sd: float) -> Floats:
    matrix = curvature.sum(axis=0) + np.eye(len(parameters)) * prior_sd**-2
    return cast("Floats", np.linalg.solve(matrix, scores.sum(axis=0) - parameters * prior_sd**-2))


def _resampled(best: Floats, scores: Floats, curvature: Floats, options: RatingOptions) -> Floats:
    count = len(best)
    precision: Floats = np.eye(count) * options.prior_sd**-2
    draws = [drawn.astype(float) for drawn in group_draws(len(scores), options.bootstraps, options.seed)]
    if not draws:
        return np.zeros((0, count))
    drawn = np.stack(draws)
    matrices = (drawn @ curvature).reshape(-1, count, count) + precision
    gradients = drawn @ scores - precision @ best
    return best + np.linalg.solve(matrices, gradients[..., None])[..., 0].astype(float)


def _standing(rows: list[Ranking], models: tuple[str, ...], debate: Integers, group: Integers) -> Standing:
    """The share of opponents that a model was placed above, ties of teams that are left out as halves."""
    above: dict[str, list[float]] = {name: [] for name in models}
    seen: dict[str, tuple[set[int], set[int]]] = {name: (set(), set()) for name in models}
    for number, row in enumerate(rows):
        places = {team: place for place, team in enumerate(row.ranking)}
        for team, model in enumerate(row.models):
            place = places.get(team, len(row.models))
            others = [places.get(other, len(row.models)) for other in range(len(row.models)) if other != team]
            above[model].append(sum((place < o) + 0.5 * (place == o) for o in others) / len(others))
            seen[model][0].add(int(debate[number]))
            seen[model][1].add(int(group[number]))
    return Standing(
        models,
        np.array([float(np.mean(above[name])) for name in models]),
        np.array([len(seen[name][0]) for name in models], np.intp),
        np.array([len(seen[name][1]) for name in models], np.intp),
    )


def _notes(rows: list[Ranking], models: tuple[str, ...], groups: int) -> list[str]:
    numbers = {name: number for number, name in enumerate(models)}
    met = np.zeros((len(models), len(models)), bool)
    for row in rows:
        codes = [numbers[name] for name in row.models]
        met[np.ix_(codes, codes)] = True
    sets = components(met)
    if len(sets) > 1:
        names = "; ".join(", ".join(models[at] for at in members[:4]) for members in sets)
        raise Invalid(f"The models fall into {len(sets)} sets that never met each other ({names}).")
    notes: list[str] = []
    if groups < FEW_GROUPS:
        notes.append(f"Too little data: {groups} groups in all. The intervals are too narrow to rely on.")
    partial = sum(len(row.ranking) < len(row.models) - 1 for row in rows)
    if partial:
        notes.append(f"{partial} of {len(rows)} ballots rank only some of the teams.")
    return notes


def simulate_rankings(
    strengths: Mapping[str, float],
    positions: Mapping[str, float],
    groups: int,
    seed: int = 0,
) -> tuple[Ranking, ...]:
    """Rankings of made-up models: in each group the same models are drawn, and hold every position once."""
    random = np.random.default_rng(seed)
    names, seats = list(strengths), tuple(positions)
    shifts = np.array([positions[seat] for seat in seats])
    rows: list[Ranking] = []
    for group in range(groups):
        team = [names[int(at)] for at in random.choice(len(names), len(seats), replace=False)]
        for turn in range(len(seats)):
            held = tuple(team[(turn + at) % len(seats)] for at in range(len(seats)))
            odds = np.array([strengths[name] for name in held]) + shifts
            # The largest of odds with Gumbel noise is the choice of the model, and so on down.
            order = cast("list[int]", np.argsort(-(odds + random.gumbel(size=len(seats)))).tolist())
            rows.append(
                Ranking(
                    group=f"group {group}", debate=f"group {group} {turn}", judge="judge", models=held,
                    seats=seats, ranking=tuple(order),
                )
            )  # fmt: skip
    return tuple(rows)
