"""Which side of a motion is easier, as far as experiments have shown.

In an experiment every matchup is held with the sides swapped, so the strength of the models cancels out: what
is left is the motion. A debate counts for the side that most of its ballots name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec
from msgspec import Struct

from moot.extensions.experiments.measuring.planned_debates import planned_debate
from moot.views.statistics_tables import wilson_interval


class MotionBalance(Struct, frozen=True):
    """How often the side for a motion won."""

    pro_wins: int
    con_wins: int
    ties: int
    low: float
    high: float
    """The 95 % interval of the share of decided debates that the side for the motion won (Wilson)."""

    @property
    def decided(self) -> int:
        return self.pro_wins + self.con_wins


def motion_balances(shares: Iterable[tuple[str, float]]) -> dict[str, MotionBalance]:
    """By motion, from legs of experiments and the share of ballots for the side of the motion in each.

    Motions without a decided debate are left out."""
    by_motion: dict[str, list[float]] = {}
    for leg, share in shares:
        try:
            by_motion.setdefault(planned_debate(leg).motion, []).append(share)
        except msgspec.MsgspecError:  # a leg that is no debate of two sides on a motion
            continue
    found = {motion: balance_of_shares(each) for motion, each in by_motion.items()}
    return {motion: balance for motion, balance in found.items() if balance is not None}


def balance_of_shares(shares: Iterable[float]) -> MotionBalance | None:
    """From the share of ballots for the side of the motion in each debate; None where all are ties."""
    counted = Counter("pro" if share > 0.5 else "con" if share < 0.5 else "tie" for share in shares)
    interval = wilson_interval(counted["pro"], counted["pro"] + counted["con"])
    if interval is None:
        return None
    return MotionBalance(counted["pro"], counted["con"], counted["tie"], interval.low, interval.high)


def balance_text(balance: MotionBalance) -> str:
    """For wins 7 of 10 (40 to 89 %)."""
    return (
        f"for wins {balance.pro_wins} of {balance.decided} "
        f"({100 * balance.low:.0f} to {100 * balance.high:.0f} %)"
    )
