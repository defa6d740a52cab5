"""Overconfidence and turning points: what private beliefs show over many debates.

`measure_beliefs` compares what debaters gave themselves with how often they won, with intervals by
motions. A debater is overconfident if it expects to win more often than it does; where two meet, their
chances cannot add up to more than 100 %. The turning points are the largest movements of the judge's belief
after one speech.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec import Struct, structs

from moot.extensions.experiments.measuring.estimates import (
    DIFFERENCE,
    FEW_MOTIONS,
    SHARE,
    Estimate,
    mean_estimate,
)
from moot.extensions.experiments.measuring.leg_results import LegResult
from moot.extensions.experiments.measuring.tables import coded

SURE = 0.75
"""A debater that gives itself at least this is counted as sure of winning."""
SHOWN_TURNS = 5
ALL_MODELS = "all"
POINTS = (-100.0, 100.0)


class ModelConfidence(Struct, frozen=True, kw_only=True):
    """What one model believed of itself, over its debates with an answer at the end and a decision."""

    model: str
    debates: int
    opening: Estimate
    closing: Estimate
    """The mean chance that it gave itself at its first and at its last answer."""
    won: Estimate
    """How often it won, by the share of ballots."""
    overconfidence: Estimate
    """Closing less won: positive where it expected too much."""

    def row(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "debates": self.debates,
            **self.opening.columns("opening"),
            **self.closing.columns("closing"),
            **self.won.columns("won"),
            **self.overconfidence.columns("overconfidence"),
        }


class NamedTurn(Struct, frozen=True, kw_only=True):
    """A turning point, and the debate in which it was."""

    debate: str
    motion: str
    turn: int
    speaker: str
    title: str
    toward: str
    """The model that the judge then believed in more."""
    before: float
    after: float

    def row(self) -> dict[str, Any]:
        return structs.asdict(self)


class BeliefMeasures(Struct, frozen=True, kw_only=True):
    """How sure models were of winning and how often they won; `rows()` has one row for each model."""

    debates: int
    """Debates with an answer of both debaters at the end."""
    overall: ModelConfidence
    models: tuple[ModelConfidence, ...]
    both_sure: Estimate
    """The share of debates in which both gave themselves 75 % or more in the end."""
    turning: tuple[NamedTurn, ...]
    audience_lead: Estimate | None
    """The mean lead of the side for the motion in the swing of the model audience, in points."""
    notes: tuple[str, ...] = ()

    def rows(self) -> list[dict[str, Any]]:
        return [each.row() for each in (self.overall, *self.models)]


class _Side(Struct, frozen=True):
    model: str
    motion: str
    opening: float
    closing: float
    won: float


def measure_beliefs(results: Sequence[LegResult]) -> BeliefMeasures | None:
    """None where no debate was held with private beliefs."""
    asked = [result for result in results if result.beliefs is not None and result.judgments]
    if not asked:
        return None
    sides = [side for result in asked for side in _sides(result)]
    closings = [(each, _closings(each)) for each in asked]
    both = [(_unit(each), min(pair) >= SURE) for each, pair in closings if pair]
    leads = [
        (_unit(each), each.beliefs.audience_lead)
        for each in asked
        if each.beliefs and each.beliefs.audience_lead is not None
    ]
    motions = len({side.motion for side in sides})
    few = f"Beliefs: little data, {motions} motions; intervals are wide."
    return BeliefMeasures(
        debates=len(both),
        overall=_confidence(ALL_MODELS, sides),
        models=tuple(
            _confidence(model, [side for side in sides if side.model == model])
            for model in sorted({side.model for side in sides})
        ),
        both_sure=_mean("both sure", [(motion, float(sure)) for motion, sure in both]),
        turning=_turning(asked),
        audience_lead=_mean("model audience", leads, POINTS) if leads else None,
        notes=(few,) if motions < FEW_MOTIONS else (),
    )


def _unit(result: LegResult) -> str:
    return result.motion or result.judgments[0].group


def _sides(result: LegResult) -> list[_Side]:
    row, said, share = result.judgments[0], result.beliefs, result.pro_share
    if said is None or share is None:
        return []
    halves = (
        (row.pro, said.pro_opening, said.pro_closing, share),
        (row.con, said.con_opening, said.con_closing, 1 - share),
    )
    return [
        _Side(model, _unit(result), opening, closing, won)
        for model, opening, closing, won in halves
        if opening is not None and closing is not None
    ]


def _closings(result: LegResult) -> tuple[float, float] | None:
    said = result.beliefs
    if said is None or said.pro_closing is None or said.con_closing is None:
        return None
    return said.pro_closing, said.con_closing


def _confidence(model: str, sides: Sequence[_Side]) -> ModelConfidence:
    def mean(name: str, values: list[float], within: tuple[float, float] = SHARE) -> Estimate:
        return _mean(name, list(zip([side.motion for side in sides], values, strict=True)), within)

    return ModelConfidence(
        model=model,
        debates=len(sides),
        opening=mean("opening", [side.opening for side in sides]),
        closing=mean("closing", [side.closing for side in sides]),
        won=mean("won", [side.won for side in sides]),
        overconfidence=mean("overconfidence", [side.closing - side.won for side in sides], DIFFERENCE),
    )


def _mean(name: str, rows: Sequence[tuple[str, float]], within: tuple[float, float] = SHARE) -> Estimate:
    _, motion = coded(each for each, _ in rows)
    values = np.array([value for _, value in rows], float)
    return mean_estimate(name, motion, values, within)


def _turning(results: Sequence[LegResult]) -> tuple[NamedTurn, ...]:
    found: list[NamedTurn] = []
    for result in results:
        shift = result.beliefs.turning if result.beliefs else None
        if shift is not None:
            row = result.judgments[0]
            found.append(
                NamedTurn(
                    debate=result.debate,
                    motion=result.motion,
                    turn=shift.turn,
                    speaker=shift.speaker,
                    title=shift.title,
                    toward=row.pro if shift.toward == "pro" else row.con,
                    before=shift.before,
                    after=shift.after,
                )
            )
    return tuple(sorted(found, key=lambda each: (each.before - each.after, each.debate))[:SHOWN_TURNS])
