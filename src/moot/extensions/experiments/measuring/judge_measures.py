"""How far judges can be relied on: agreement, flips and biases of each.

Agreement and flips are computed in `agreement.py`. Biases are effects of the same fit that rates the
models, one for each judge, so that a judge who saw stronger models on one side is not blamed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec import Struct, structs

from moot.core.errors import Invalid
from moot.extensions.experiments.measuring.agreement import JudgeAgreement, flips, judge_agreement, same_side
from moot.extensions.experiments.measuring.covariates import covariates
from moot.extensions.experiments.measuring.estimates import Estimate, share_estimate
from moot.extensions.experiments.measuring.judge_checks import JudgeCheck, check_judges
from moot.extensions.experiments.measuring.ratings import rate_models
from moot.extensions.experiments.measuring.tables import JudgmentTable, as_table

EFFECTS = ("side", "primacy", "label", "order", "length", "family", "self", "address")
"""Of two that cannot be told apart, the first is estimated."""
FIELDS = {"self": "self_preference"}
UNKNOWN = Estimate("", None, None, None, 0)
FIGURES = ("pro_share", "flips", "same_side", *EFFECTS)


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
    side: Estimate | None = None
    """Of arguing for the motion; motions that favour a side are part of it."""
    primacy: Estimate | None = None
    """Of being read first."""
    label: Estimate | None = None
    """Of having the label that is listed first."""
    order: Estimate | None = None
    """Of being shown first, where neither labels nor who was read first are recorded."""
    length: Estimate | None = None
    """Of twice as many words."""
    family: Estimate | None = None
    """Of being made by the maker of the judge, compared with the other judges."""
    self_preference: Estimate | None = None
    """Of being the model that judges, beyond its family."""
    address: Estimate | None = None
    """Of addressing the judge."""

    def row(self) -> dict[str, Any]:
        """The figures as a flat dictionary: `flips`, `flips_low`, `flips_high` and so on."""
        flat: dict[str, Any] = {
            "judge": self.judge,
            "own": self.own,
            "judgments": self.judgments,
            "undecided": self.undecided,
        }
        for name in FIGURES:
            found: Estimate | None = getattr(self, FIELDS.get(name, name))
            flat |= (found or UNKNOWN).columns(name)
        return flat


class JudgeReport(Struct, frozen=True, kw_only=True):
    """Agreement and biases of all judges of the data; `rows()` has one row for each judge."""

    agreement: JudgeAgreement
    judges: tuple[JudgeMeasures, ...]
    checks: tuple[JudgeCheck, ...] = ()
    """The tests for compromised judges."""
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
        terms=tuple(f"{each}:judge" for each in EFFECTS),
    )  # fmt: skip
    effects = {
        name: {each: board.effect(f"{each}:{name}") for each in EFFECTS}
        for name in (table.judges[int(code)] for code in np.unique(table.judge))
    }
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
                **{FIELDS.get(each, each): estimate for each, estimate in effects[name].items()},
            )
        )
    return JudgeReport(
        agreement=structs.replace(judge_agreement(used.of_panel()), pairs=judge_agreement(used).pairs),
        judges=tuple(sorted(measures, key=lambda each: not each.own)),
        checks=check_judges(table, effects),
        notes=design_notes(used, measures),
    )


# --- what this design cannot tell ---------------------------------------------------------------------


def design_notes(table: JudgmentTable, judges: Sequence[JudgeMeasures]) -> tuple[str, ...]:
    """For each effect that no judge shows: why, and which design would show it."""
    notes: list[str] = []
    if all(judge.flips.value is None for judge in judges):
        notes.append("No judge read a debate twice, so flips in the second reading are not known.")
    if all(judge.primacy is None for judge in judges):
        notes.append(_no_primacy(table))
    if all(judge.label is None and judge.order is None for judge in judges):
        notes.append("No debate was read with both labelings, so a bias for a label cannot be measured.")
    if all(judge.length is None for judge in judges):
        notes.append("The lengths of the speeches are not known, so a bias for longer ones cannot be seen.")
    if all(judge.family is None for judge in judges):
        notes.append(_no_family(table))
    if all(judge.self_preference is None for judge in judges):
        notes.append(_no_self_preference(table))
    if len(judges) < 3:
        notes.append(
            "Whether a judge leans to a side cannot be told from motions that favour one: that takes three "
            "judges or more."
        )
    return tuple(notes)


def _no_primacy(table: JudgmentTable) -> str:
    if not table.read_first.any():
        return "Whose speeches a judge read first is not recorded, so primacy cannot be measured."
    if len(np.unique(table.read_first)) == 1:
        return (
            "All judges read by time and every round was in turn, so primacy cannot be told from side: set "
            'reading = "by-side" in the options.'
        )
    return (
        "The side that was read first was always the same one, or had the same label, so primacy cannot be "
        'told from side and label: set reading = "by-side" in the options.'
    )


def _no_family(table: JudgmentTable) -> str:
    found = covariates(table, ("family",)).columns
    if not found.any():
        return (
            "No judge judged a model of its own maker against another's, so a bias for the own family cannot "
            "be measured (or the makers are not known)."
        )
    return (
        "Whether judges favour their own family cannot be told from the strength of its models: that takes "
        "judges of other makers on the same debates."
    )


def _no_self_preference(table: JudgmentTable) -> str:
    if not covariates(table, ("self",)).columns.any():
        return "No model judged itself, so self-preference cannot be measured."
    return (
        "Whether a model favours itself cannot be told from its family or its strength: that takes other "
        "models of its maker, and judges of other makers."
    )
