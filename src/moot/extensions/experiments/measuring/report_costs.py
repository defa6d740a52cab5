"""The sections of a report about reliability and costs: who cost what, for which purpose, and what in all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from moot.extensions.experiments.measuring.rating_report import reliability_table
from moot.extensions.experiments.measuring.report import ExperimentReport
from moot.extensions.experiments.measuring.report_blocks import Block, bullets
from moot.extensions.experiments.measuring.report_text import NOTHING, cost_text, number
from moot.views.report_blocks import ReportTable
from moot.views.text import plural

ROUNDING = 0.005
"""Of all costs: what is left over below this is not shown as a purpose of its own."""


def reliability_blocks(report: ExperimentReport) -> Iterator[Block]:
    yield reliability_table(report.reliability).without_empty_columns()
    yield from bullets((f"{each.motion}: {each.headline}" for each in report.failures), "Debates that failed")


def cost_blocks(report: ExperimentReport) -> Iterator[Block]:
    held = report.held + report.failed
    if not held:
        return
    total = ("all", "everything", plural(held, "debate"), cost_text(report.cost), _each(report.cost, held))
    yield ReportTable(
        "Costs",
        ("who", "what for", "how much", "cost", "cost of one", "seconds of one"),
        (*_spenders(report), *_rest(report), (*total, number(report.seconds / held))),
        rests_on="US dollars.",
        note="Unknown: the price of a model is not known, or was not when it was asked. Nothing unknown "
        "counts as zero.",
        words=(0, 1),
    )  # fmt: skip


def _spenders(report: ExperimentReport) -> Iterator[tuple[str, ...]]:
    for model in report.reliability:
        cost = None if model.cost is None else model.cost * model.debates
        held = plural(model.debates, "debate")
        yield (model.model, "speeches", held, cost_text(cost), cost_text(model.cost), number(model.seconds))
    for judge in report.judge_costs:
        each, cast = _each(judge.cost, judge.ballots), plural(judge.ballots, "ballot")
        yield (judge.judge, "ballots", cast, cost_text(judge.cost), each, number(judge.seconds))


def _rest(report: ExperimentReport) -> Iterator[tuple[str, ...]]:
    """What was neither speech nor ballot: beliefs, audiences, summaries, attempts that failed."""
    speeches = _sum(None if each.cost is None else each.cost * each.debates for each in report.reliability)
    ballots = _sum(each.cost for each in report.judge_costs)
    if report.cost is None or not speeches or ballots is None:
        return
    rest = report.cost - speeches - ballots
    if rest > ROUNDING * report.cost:
        yield ("all", "everything else", NOTHING, cost_text(rest), NOTHING, NOTHING)


def _each(cost: float | None, count: int) -> str:
    return cost_text(cost / count if cost is not None and count else None)


def _sum(costs: Iterable[float | None]) -> float | None:
    known = list(costs)
    return None if None in known else sum(cost for cost in known if cost is not None)
