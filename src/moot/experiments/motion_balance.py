"""Which side of a motion is easier, as far as experiments have shown.

In an experiment every matchup is held with the sides swapped, so the strength of the models cancels out: what
is left is the motion. A debate counts for the side that most of its ballots name.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec import Struct

from moot.experiments.planned_debates import planned_debate
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
    counts: dict[str, list[int]] = {}
    for leg, share in shares:
        try:
            motion = planned_debate(leg).motion
        except msgspec.MsgspecError:  # a leg that is no debate of two sides on a motion
            continue
        pro, con, ties = counts.setdefault(motion, [0, 0, 0])
        counts[motion] = [pro + (share > 0.5), con + (share < 0.5), ties + (share == 0.5)]
    return {motion: _balance(*each) for motion, each in counts.items() if each[0] + each[1]}


def _balance(pro: int, con: int, ties: int) -> MotionBalance:
    interval = wilson_interval(pro, pro + con)
    return MotionBalance(
        pro, con, ties, interval.low if interval else 0.0, interval.high if interval else 1.0
    )


def balance_text(balance: MotionBalance) -> str:
    """For wins 7 of 10 (40 to 89 %)."""
    return (
        f"for wins {balance.pro_wins} of {balance.decided} "
        f"({100 * balance.low:.0f} to {100 * balance.high:.0f} %)"
    )
