"""Who meets whom, on which motion: round robin and Swiss. Adaptive pairing is in `adaptive_pairing.py`.

A unit is a `Matchup`: two models on one motion, held twice with the sides swapped, so sides are always
balanced. Its repeats have seeds of their own and belong to the same group. The same arguments and seed give
the same matchups. A matchup depends on its own models and motion alone, not on the others: a plan for one
model or motion more contains the earlier plan.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import combinations

from msgspec import Struct

from moot.core.errors import Invalid
from moot.extensions.experiments.measuring.judgments import SCORES, Judgment

MAX_DEBATES = 200_000
"""Of one experiment: more cannot be planned in a moment, nor held in a lifetime."""
SEEDS_APART = 10_000
"""Between the seeds of two repeats."""
SEARCH_LIMIT = 20_000
"""Steps of the search for a Swiss round without a pair that has met before; then such pairs are allowed."""


class Matchup(Struct, frozen=True):
    """Two models on one motion: two debates."""

    motion: str
    first: str
    second: str
    repeat: int = 1

    @property
    def group(self) -> str:
        """The name by which its judgments are grouped, with those of its repeats."""
        return f"{self.motion} | {self.first} | {self.second}"

    @property
    def name(self) -> str:
        """Its own name, the same whenever the plan is made."""
        return f"{self.group} | {self.repeat}" if self.repeat > 1 else self.group

    def debates(self) -> tuple[tuple[str, str], tuple[str, str]]:
        """(pro, con) of both debates."""
        return (self.first, self.second), (self.second, self.first)


def matchup(motion: str, one: str, other: str, repeat: int = 1) -> Matchup:
    """With the two models in alphabetical order, so that each matchup has one name."""
    first, second = sorted((one, other))
    return Matchup(motion, first, second, repeat)


def round_robin(
    models: Sequence[str],
    motions: Sequence[str],
    *,
    motions_per_pair: int | None = None,
    repeats: int = 1,
    seed: int = 0,
) -> tuple[Matchup, ...]:
    """Every pair on every motion, or on so many motions of its own.

    They come in layers: after each layer every pair has met equally often, so that an experiment that is cut
    short is still balanced.

    >>> [(unit.motion, unit.first, unit.second) for unit in round_robin(["b", "a"], ["m"])]
    [('m', 'a', 'b')]
    """
    check_models_and_motions(models, motions)
    layers: list[tuple[int, str, Matchup]] = []
    for one, other in combinations(sorted(models), 2):
        own = sorted(motions, key=lambda motion: draw(seed, one, other, motion))
        chosen = own if motions_per_pair is None else own[:motions_per_pair]
        units = [matchup(motion, one, other, repeat) for repeat in range(1, repeats + 1) for motion in chosen]
        layers += [(layer, draw(seed, unit.name), unit) for layer, unit in enumerate(units)]
    return tuple(unit for _, _, unit in sorted(layers, key=lambda entry: entry[:2]))


def swiss_round(
    models: Sequence[str], motions: Sequence[str], results: Iterable[Judgment] = (), *, seed: int = 0
) -> tuple[Matchup, ...]:
    """The next round: models with the same number of points meet, if they have not met before.

    With an odd number of models, the one with the fewest points of those that met most often has no opponent
    in this round.
    """
    check_models_and_motions(models, motions)
    rows = list(results)
    points, met = _points(rows), _met(rows)
    rounds: Counter[str] = Counter(model for pair in met.elements() for model in pair)
    order = sorted(models, key=lambda model: (-points[model], draw(seed, len(rows), model)))
    if len(order) % 2:
        most = max(rounds[model] for model in order)
        resting = [model for model in order if rounds[model] == most][-1]
        order.remove(resting)
    pairs = _paired(order, met)
    return tuple(next_motion(motions, rows, one, other, seed=seed) for one, other in pairs)


def next_motion(
    motions: Sequence[str], rows: Sequence[Judgment], one: str, other: str, *, seed: int = 0
) -> Matchup:
    """The matchup of two models on the motion that they, then all models, have debated least."""
    pair = {one, other}
    used = Counter(motion for motion, *_ in {(row.motion, row.group, row.repeat) for row in rows})
    own = Counter(
        motion
        for motion, *_ in {(row.motion, row.group, row.repeat) for row in rows if {row.pro, row.con} == pair}
    )
    motion = min(motions, key=lambda motion: (own[motion], used[motion], draw(seed, one, other, motion)))
    return matchup(motion, one, other, own[motion] + 1)


def repeat_seed(seed: int, repeat: int) -> int:
    """The seed of one repeat; the first has that of the experiment."""
    return seed + SEEDS_APART * (repeat - 1)


def draw(seed: int, *names: object) -> str:
    """A number that looks random, made from the seed and the names alone."""
    return blake2b("\x1f".join(map(str, (seed, *names))).encode(), digest_size=8).hexdigest()


def check_models_and_motions(models: Sequence[str], motions: Sequence[str]) -> None:
    """Raise `Invalid` for fewer than two models, no motion, or a name that comes twice."""
    if len(models) < 2:
        raise Invalid("At least two models are needed.")
    if not motions:
        raise Invalid("At least one motion is needed.")
    twice = [name for names in (models, motions) for name, count in Counter(names).items() if count > 1]
    if twice:
        raise Invalid(f"{twice[0]!r} is named more than once.")


def _points(rows: Iterable[Judgment]) -> Counter[str]:
    """For each matchup, the share of its judgments that a model won."""
    won: Counter[tuple[str, int, str]] = Counter()
    judged: Counter[tuple[str, int, str]] = Counter()
    for row in rows:
        if row.winner != "none":
            score = SCORES[row.winner]
            for model, share in ((row.pro, score), (row.con, 1 - score)):
                won[row.group, row.repeat, model] += share  # pyright: ignore[reportArgumentType]
                judged[row.group, row.repeat, model] += 1
    points: Counter[str] = Counter()
    for (group, repeat, model), share in won.items():
        points[model] += round(share / judged[group, repeat, model], 6)  # pyright: ignore[reportArgumentType]
    return points


def _met(rows: Iterable[Judgment]) -> Counter[tuple[str, str]]:
    matchups = {(row.group, row.repeat, min(row.pro, row.con), max(row.pro, row.con)) for row in rows}
    return Counter((one, other) for *_, one, other in matchups)


def _paired(order: Sequence[str], met: Counter[tuple[str, str]]) -> list[tuple[str, str]]:
    """Pairs from the top; first without any that has met, then with those that met once, and so on."""
    for allowed in range(max(met.values(), default=0) + 1):
        budget = iter(range(SEARCH_LIMIT))
        pairs = _search(list(order), met, allowed, budget)
        if pairs is not None:
            return pairs
    return list(zip(order[0::2], order[1::2], strict=True))


def _search(
    left: list[str], met: Counter[tuple[str, str]], allowed: int, budget: Iterator[int]
) -> list[tuple[str, str]] | None:
    if not left:
        return []
    one, *others = left
    for other in others:
        if next(budget, None) is None:
            return None
        if met[min(one, other), max(one, other)] <= allowed:
            rest = _search([name for name in others if name != other], met, allowed, budget)
            if rest is not None:
                return [(one, other), *rest]
    return None
