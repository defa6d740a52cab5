"""Whether a model delivers at all, and what it costs: an axis of its own, never mixed into strength.

A model that refuses half of its debates may still win most of the others. Here refusals, blank speeches,
speeches for the wrong side, timeouts and other failures are counted by debate, beside cost and time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
from msgspec import Struct, structs

from moot.extensions.experiments.measuring.estimates import share_estimate
from moot.extensions.experiments.measuring.judgments import SCORES, Judgment, SpeechIssue
from moot.extensions.experiments.measuring.tables import coded


class ModelReliability(Struct, frozen=True, kw_only=True):
    """What happened in the debates of one model. An amount is None where it is not known of every debate."""

    model: str
    debates: int
    with_issues: int
    issue_share: float
    low: float
    high: float
    """The 95 % interval of the share of debates with an issue, by motions; 0 to 1 where there is only one."""
    refusals: int
    blanks: int
    wrong_sides: int
    timeouts: int
    failures: int
    """Speeches with each issue."""
    words: float | None
    """Of a debate."""
    cost: float | None
    """US dollars a debate."""
    seconds: float | None
    """Of the calls of a debate."""
    wins: float
    """Debates won, counted by the share of judgments for the model."""
    wins_per_dollar: float | None

    def row(self) -> dict[str, Any]:
        return structs.asdict(self)


class _DebateSide(Struct):
    model: str
    motion: str
    issues: tuple[SpeechIssue, ...]
    words: int | None
    cost: float | None
    seconds: float | None
    scores: list[float]


def model_reliability(rows: Iterable[Judgment]) -> tuple[ModelReliability, ...]:
    """Issues, cost, time and wins per dollar of each model, by name."""
    sides: dict[tuple[str, str], _DebateSide] = {}
    for row in rows:
        halves = (
            ("pro", row.pro, row.pro_issues, row.pro_words, row.pro_cost, row.pro_seconds),
            ("con", row.con, row.con_issues, row.con_words, row.con_cost, row.con_seconds),
        )
        for side, model, issues, words, cost, seconds in halves:
            new = _DebateSide(model, row.motion or row.group, issues, words, cost, seconds, [])
            held = sides.setdefault((row.debate, side), new)
            if row.winner != "none":
                score = SCORES[row.winner]
                held.scores.append(score if side == "pro" else 1 - score)
    models: dict[str, list[_DebateSide]] = {}
    for held in sides.values():
        models.setdefault(held.model, []).append(held)
    return tuple(_measured(model, models[model]) for model in sorted(models))


def _measured(model: str, held: list[_DebateSide]) -> ModelReliability:
    issues: Counter[SpeechIssue] = Counter(issue for one in held for issue in one.issues)
    troubled = sum(bool(one.issues) for one in held)
    motion = coded(one.motion for one in held)[1]
    share = share_estimate("issues", motion, np.array([float(bool(one.issues)) for one in held]))
    wins = sum(sum(one.scores) / len(one.scores) for one in held if one.scores)
    cost = _mean([one.cost for one in held])
    return ModelReliability(
        model=model,
        debates=len(held),
        with_issues=troubled,
        issue_share=troubled / len(held),
        low=0.0 if share.low is None else share.low,
        high=1.0 if share.high is None else share.high,
        refusals=issues["refusal"],
        blanks=issues["blank"],
        wrong_sides=issues["wrong_side"],
        timeouts=issues["timeout"],
        failures=issues["failure"],
        words=_mean([one.words for one in held]),
        cost=cost,
        seconds=_mean([one.seconds for one in held]),
        wins=wins,
        wins_per_dollar=wins / (cost * len(held)) if cost else None,
    )


def _mean(values: list[float | None] | list[int | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if len(known) == len(values) and known else None
