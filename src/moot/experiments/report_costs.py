"""The sections of a report about reliability and costs."""

from __future__ import annotations

from collections.abc import Iterator

from moot.experiments.rating_report import reliability_table
from moot.experiments.report import ExperimentReport
from moot.experiments.report_blocks import Block, ReportTable, bullets
from moot.experiments.report_text import cost_text, number


def reliability_blocks(report: ExperimentReport) -> Iterator[Block]:
    yield reliability_table(report.reliability).without_empty_columns()
    yield from bullets((f"{each.motion}: {each.headline}" for each in report.failures), "Debates that failed")


def cost_blocks(report: ExperimentReport) -> Iterator[Block]:
    yield ReportTable(
        "Costs of the judges",
        ("judge", "ballots", "cost", "seconds a ballot"),
        tuple(
            (each.judge, f"{each.ballots:,}", cost_text(each.cost), number(each.seconds))
            for each in report.judge_costs
        ),
    )
