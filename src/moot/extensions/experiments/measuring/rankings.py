"""Ratings from rankings of three or more teams: the Plackett-Luce model with the effect of the position.

A ranking is read as a row of choices: the best of all, then the best of the rest. Each is chosen with odds
by its strength and its position in the format. Teams that a ballot leaves out are below those named, in no
order. Intervals come from leaving out one motion at a time, as those of two sides do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

import msgspec
import numpy as np
from msgspec import Struct

from moot.core.errors import Invalid
from moot.extensions.experiments.measuring.connections import components, unbeaten_and_winless
from moot.extensions.experiments.measuring.judgments import Ranking, counted_as
from moot.extensions.experiments.measuring.leaderboard import Standing, effects_of, leaderboard
from moot.extensions.experiments.measuring.likelihood import most_likely
from moot.extensions.experiments.measuring.motion_jackknife import standard_errors
from moot.extensions.experiments.measuring.ratings import RatingOptions, Ratings, few_motions
from moot.extensions.experiments.measuring.separation import OpenEnds, open_ends
from moot.extensions.experiments.measuring.tables import Floats, Integers, coded


def rate_rankings(data: Iterable[Ranking | Mapping[str, Any]], **options: Any) -> Ratings:
    """Rate models from rankings. Options are those of `RatingOptions` that concern weights, intervals and
    prior. The effects of `Ratings` are those of the positions. Raises `Invalid` where models never met."""
    rows = [row if isinstance(row, Ranking) else msgspec.convert(row, Ranking) for row in data]
    rows = [row for row in rows if row.eligible and row.ranking and len(row.models) > 1]
    if not rows:
        raise Invalid("There is no ranking that counts for ratings.")
    options.setdefault("terms", ("position",))
    return _rate(rows, RatingOptions(**options))


class Choices(Struct, frozen=True, eq=False):
    """The choices of all rankings, the best of all first. A `Likelihood`: parameters are the strengths of the
    models, then the effects of the positions."""

    design: Floats
    """Choices by teams by parameters; NaN for teams that are already placed."""
    chosen: Integers
    """The team that was chosen."""
    weight: Floats

    @property
    def parameters(self) -> int:
        return int(self.design.shape[2])

    @property
    def rows(self) -> int:
        return len(self.chosen)

    def by_unit(self, unit: Integers) -> Iterator[Choices]:
        """The choices of each unit; `unit` is that of each choice."""
        for code in np.unique(unit):
            rows = np.flatnonzero(unit == code)
            yield Choices(self.design[rows], self.chosen[rows], self.weight[rows])

    def derivatives(self, at: Floats) -> tuple[Floats, Floats]:
        filled = np.nan_to_num(self.design)
        share = np.exp(self._log_shares(at))
        mean = (share[:, :, None] * filled).sum(axis=1)
        weighted = filled * (share * self.weight[:, None])[:, :, None]
        count = self.parameters
        squares = weighted.reshape(-1, count).T @ filled.reshape(-1, count)
        gradient = self.weight @ (filled[np.arange(len(self.chosen)), self.chosen] - mean)
        return gradient, squares - (mean.T * self.weight) @ mean

    def logarithm(self, at: Floats) -> float:
        chosen = self._log_shares(at)[np.arange(len(self.chosen)), self.chosen]
        return float(self.weight @ chosen)

    def _log_shares(self, at: Floats) -> Floats:
        odds = np.where(np.isnan(self.design[:, :, 0]), -np.inf, np.nan_to_num(self.design) @ at)
        return odds - np.logaddexp.reduce(odds, axis=1, keepdims=True)


def _rate(rows: list[Ranking], options: RatingOptions) -> Ratings:
    models, _ = coded(name for row in rows for name in row.models)
    seats, _ = coded(name for row in rows for name in row.seats)
    groups, group = coded(row.group for row in rows)
    debates, debate = coded(map(counted_as, rows))
    by_group = options.cluster == "group"
    motions, motion = coded(row.group if by_group else row.motion or row.group for row in rows)
    _check_connected(rows, models)
    weight = np.ones(len(rows))
    if options.debate_weight == "debate":
        weight = 1.0 / np.bincount(debate)[debate]
    choices, row_of = _choices(rows, models, seats, weight)
    best = most_likely(choices, prior_sd=options.prior_sd)
    errors, ends = None, OpenEnds()
    if len(motions) > 1 and options.intervals:
        _, judge = coded(row.judge for row in rows)
        errors = standard_errors(
            choices, choices.by_unit, best, len(models), prior_sd=options.prior_sd, motion=motion[row_of],
            judge=judge[row_of], over=options.over,
        )  # fmt: skip
        ends = _open_ends(choices, rows, models, best, motion[row_of], options.level)
    standing = _standing(rows, models, (debate, group, motion))
    lines, differences = leaderboard(standing, best, errors, ends, options.level)
    positions = [f"position:{seat}" for seat in seats]
    return Ratings(
        models=lines,
        effects=effects_of(positions, best, errors, ends, options.level, len(motions)),
        differences=differences,
        judgments=len(rows),
        debates=len(debates),
        groups=len(groups),
        motions=len(motions),
        options=options,
        notes=tuple(_notes(rows, len(motions), all(row.motion for row in rows) and not by_group)),
    )


def _open_ends(
    choices: Choices,
    rows: list[Ranking],
    models: tuple[str, ...],
    best: Floats,
    motion: Integers,
    level: float,
) -> OpenEnds:
    pairs = np.array(list(_beaten_pairs(rows, models)), np.intp)
    ones = np.ones(len(pairs))
    above, below = unbeaten_and_winless(len(models), pairs[:, 0], pairs[:, 1], ones, ones)
    taken = (np.abs(np.nan_to_num(choices.design)).sum(axis=1) > 0) * choices.weight[:, None]
    by_motion = np.zeros((int(motion.max()) + 1, taken.shape[1]))
    np.add.at(by_motion, motion, taken)
    motions = (by_motion > 0).sum(axis=0).astype(float)
    per_motion = by_motion.sum(axis=0) / np.maximum(motions, 1)
    return open_ends(
        choices, best, models=len(models), above=above, below=below, per_motion=per_motion, motions=motions,
        level=level,
        centred=True,
    )  # fmt: skip


def _beaten_pairs(rows: list[Ranking], models: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """Who was placed above whom."""
    numbers = {name: number for number, name in enumerate(models)}
    for row in rows:
        left = set(range(len(row.models)))
        for team in row.ranking:
            left.discard(team)
            for other in left:
                yield numbers[row.models[team]], numbers[row.models[other]]


def _choices(
    rows: list[Ranking], models: tuple[str, ...], seats: tuple[str, ...], weight: Floats
) -> tuple[Choices, Integers]:
    """The choices, and the row of each."""
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
    rows_at = np.array(row_of, np.intp)
    return Choices(np.stack(designs), np.array(chosen, np.intp), weight[rows_at]), rows_at


def _standing(
    rows: list[Ranking], models: tuple[str, ...], codes: tuple[Integers, Integers, Integers]
) -> Standing:
    """The share of opponents that a model was placed above, ties of teams that are left out as halves.
    `codes` are the debate, group and motion of each row."""
    above: dict[str, list[float]] = {name: [] for name in models}
    seen: dict[str, tuple[set[int], set[int], set[int]]] = {name: (set(), set(), set()) for name in models}
    for number, row in enumerate(rows):
        places = {team: place for place, team in enumerate(row.ranking)}
        for team, model in enumerate(row.models):
            place = places.get(team, len(row.models))
            others = [places.get(other, len(row.models)) for other in range(len(row.models)) if other != team]
            above[model].append(sum((place < o) + 0.5 * (place == o) for o in others) / len(others))
            for kind, code in zip(seen[model], codes, strict=True):
                kind.add(int(code[number]))
    counts = [np.array([len(seen[name][kind]) for name in models], np.intp) for kind in range(3)]
    return Standing(models, np.array([float(np.mean(above[name])) for name in models]), *counts)


def _check_connected(rows: list[Ranking], models: tuple[str, ...]) -> None:
    numbers = {name: number for number, name in enumerate(models)}
    met = np.zeros((len(models), len(models)), bool)
    for row in rows:
        codes = [numbers[name] for name in row.models]
        met[np.ix_(codes, codes)] = True
    sets = components(met)
    if len(sets) > 1:
        names = "; ".join(", ".join(models[at] for at in members[:4]) for members in sets)
        raise Invalid(f"The models fall into {len(sets)} sets that never met each other ({names}).")


def _notes(rows: list[Ranking], motions: int, named: bool) -> list[str]:
    notes = few_motions(motions, named)
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
                    group=f"group {group}", debate=f"group {group} {turn}", motion=f"motion {group}",
                    judge="judge", models=held, seats=seats, ranking=tuple(order),
                )
            )  # fmt: skip
    return tuple(rows)
