"""How often each model won against each other one, with intervals by motion."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from msgspec import Struct

from moot.extensions.experiments.measuring.estimates import share_estimate
from moot.extensions.experiments.measuring.judgments import SCORES, Judgment, counted_as
from moot.extensions.experiments.measuring.tables import coded


class MatchupShare(Struct, frozen=True):
    """How two models did against each other."""

    first: str
    second: str
    share: float
    """Of the debates that were decided, the share of `first`; a judge's tie counts half."""
    debates: int
    low: float | None = None
    high: float | None = None
    """The 95 % interval of the share, by motion."""
    motions: int = 0


def matchup_shares(rows: Iterable[Judgment]) -> tuple[MatchupShare, ...]:
    """Each debate counts once, shared by its ballots; intervals are by motion."""
    scores = defaultdict[tuple[str, str], dict[tuple[str, str], list[float]]](dict)
    for row in rows:
        if row.winner == "none":
            continue
        score = SCORES[row.winner]
        pair = (row.pro, row.con) if row.pro <= row.con else (row.con, row.pro)
        debate = (row.motion or row.group, counted_as(row))
        scores[pair].setdefault(debate, []).append(score if row.pro <= row.con else 1 - score)
    return tuple(_matchup(pair, held) for pair, held in sorted(scores.items()))


def _matchup(pair: tuple[str, str], held: Mapping[tuple[str, str], Sequence[float]]) -> MatchupShare:
    motions, motion = coded(each for each, _ in held)
    shares = np.array([sum(each) / len(each) for each in held.values()])
    found = share_estimate("won", motion, shares)
    return MatchupShare(
        *pair, float(shares.mean()), len(held), low=found.low, high=found.high, motions=len(motions)
    )
