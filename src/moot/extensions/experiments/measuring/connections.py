"""Which models can be compared at all: the graph of who met whom, and of who ever won against whom.

Models in different components never met, not even over others: no rating can relate them. Within a component,
if one set of models never lost half a point against the rest, data alone sets no end to their lead; the prior
of the fit does, and the interval is open on that side.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from moot.extensions.experiments.measuring.tables import Booleans, Floats, Integers


def components(met: Booleans) -> list[list[int]]:
    """The sets of models that met each other, also over others; the largest first. `met` is models by
    models."""
    either = met | met.T
    models = len(met)
    links = [set(np.flatnonzero(row).tolist()) for row in either]
    left, found = set(range(models)), list[list[int]]()
    while left:
        members = _reached(links, [min(left)])
        left -= members
        found.append(sorted(members))
    return sorted(found, key=lambda one: (-len(one), one))


def unbeaten_and_winless(
    models: int, first: Integers, second: Integers, weight: Floats, score: Floats
) -> tuple[set[int], set[int]]:
    """The models with no end to their strength above, and those with none below.

    The largest set of models that all took half a point from each other, directly or over others, is the
    reference: above are those that took points from it and lost none, below those that took none.
    """
    beats: list[set[int]] = [set() for _ in range(models)]
    beaten: list[set[int]] = [set() for _ in range(models)]
    winners: list[int] = np.concatenate([first[score > 0], second[score < weight]]).tolist()
    losers: list[int] = np.concatenate([second[score > 0], first[score < weight]]).tolist()
    for winner, loser in zip(winners, losers, strict=True):
        beats[winner].add(loser)
        beaten[loser].add(winner)
    down = [_reached(beats, [model]) for model in range(models)]
    up = [_reached(beaten, [model]) for model in range(models)]
    core = max((down[model] & up[model] for model in range(models)), key=len, default=set[int]())
    if len(core) < 2:
        above = {model for model in range(models) if not up[model] - down[model] and down[model] - up[model]}
        below = {model for model in range(models) if not down[model] - up[model] and up[model] - down[model]}
        return above, below
    inside = next(iter(core))
    outside = set(range(models)) - core
    return outside & up[inside], outside & down[inside]


def _reached(links: list[set[int]], start: Iterable[int]) -> set[int]:
    seen, open_ = set(start), list(start)
    while open_:
        for other in links[open_.pop()] - seen:
            seen.add(other)
            open_.append(other)
    return seen
