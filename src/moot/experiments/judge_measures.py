"""How far judges can be relied on: agreement, flips and biases of each.

Agreement and flips are computed in `agreement.py`. Biases are effects of the same fit that rates the
models, one for each judge, so that a judge who saw stronger models on one side is not blamed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct, structs

from moot.core.errors import Invalid
from moot.experiments.agreement import JudgeAgreement, flips, judge_agreement, same_side
from moot.experiments.ratings import rate_models
from moot.experiments.resampling import Estimate, share_estimate
from moot.experiments.tables import as_table

BIAS_TERMS = ("side:judge", "order:judge", "length:judge", "family:judge", "self")


class JudgeMeasures(Struct, frozen=True, kw_only=True):
    """One judge. Effects are in log-odds; None where the data does not show them."""

    judge: str
    own: bool
    """Whether it sat on the experiment's own panel; others judged the debates again."""
    judgments: int
    undecided: int
    """Ballots that could not be read."""
    pro_share: Estimate
    """How often the side for the motion won, ties as halves."""
    flips: Estimate
    """How often another result was named in the second reading."""
    same_side: Estimate
    """In groups held with both sides: how often the same side won both times, not the same model."""
    side: Estimate | None
    order: Estimate | None
    length: Estimate | None
    family: Estimate | None

    def row(self) -> dict[str, Any]:
        """The figures as a flat dictionary: `flips`, `flips_low`, `flips_high` and so on."""
        flat: dict[str, Any] = {
            "judge": self.judge,
            "own": self.own,
            "judgments": self.judgments,
            "undecided": self.undecided,
        }
        for name in ("pro_share", "flips", "same_side", "side", "order", "length", "family"):
            found: Estimate | None = getattr(self, name)
            flat[name] = found.value if found else None
            flat[f"{name}_low"] = found.low if found else None
            flat[f"{name}_high"] = found.high if found else None
        return flat


class JudgeReport(Struct, frozen=True, kw_only=True):
    """Agreement and biases of all judges of the data; `rows()` has one row for each judge."""

    agreement: JudgeAgreement
    judges: tuple[JudgeMeasures, ...]
    self_preference: Estimate | None
    """The effect of judging one's own speeches, beyond that of the family."""
    notes: tuple[str, ...] = ()

    def rows(self) -> list[dict[str, Any]]:
        return [judge.row() for judge in self.judges]


def judge_report(data: object) -> JudgeReport:
    """Agreement of the experiment's own panel; flips and biases of every judge of the data."""
    table = as_table(data)
    used = table.where(table.decided)
    if not len(used):
        raise Invalid("There is no judgment that names a winner or a tie.")
    board = rate_models(
        structs.replace(table, eligible=np.ones(len(table), bool), own=np.ones(len(table), bool)),
        terms=BIAS_TERMS
    )  # fmt: skip
    measures: list[JudgeMeasures] = []
    for code in np.unique(table.judge):
        name, own = table.judges[int(code)], used.where(used.judge == code)
        measures.append(
            JudgeMeasures(
                judge=name,
                own=bool(table.own[table.judge == code].any()),
                judgments=len(own),
                undecided=int(((table.judge == code) & ~table.decided).sum()),
                pro_share=share_estimate("pro_share", own.units(), own.score),
                flips=flips(own),
                same_side=same_side(own),
                side=board.effect(f"side:{name}"),
                order=board.effect(f"order:{name}"),
                length=board.effect(f"length:{name}"),
                family=board.effect(f"family:{name}"),
            )
        )
    panel = used.where(used.own) if used.own.any() else used
    return JudgeReport(
        agreement=structs.replace(
            judge_agreement(panel),
            pairs=judge_agreement(used).pairs,
        ),
        judges=tuple(sorted(measures, key=lambda each: not each.own)),
        self_preference=board.effect("self"),
        notes=board.notes,
    )
