"""The section of a report about the judges: the panel, its agreement, its biases, what ratings owe to it."""

from __future__ import annotations

from collections.abc import Iterator

from moot.experiments.judge_measures import JudgeReport
from moot.experiments.rating_report import agreement_table, biases_table, judges_table, shifts_table
from moot.experiments.report import ExperimentReport
from moot.experiments.report_blocks import Block, sentences
from moot.experiments.report_text import estimate_text
from moot.views.text import plural


def judge_blocks(report: ExperimentReport, judges: JudgeReport) -> Iterator[Block]:
    yield from sentences(_agreed(judges))
    yield judges_table(judges)
    yield biases_table(judges).without_empty_columns()
    if judges.agreement.debates:
        yield agreement_table(judges)
    yield shifts_table(report.without_judge)


def _agreed(judges: JudgeReport) -> str:
    agreement = judges.agreement
    if not agreement.debates:
        return "Only one judge decided each debate, so agreement cannot be measured."
    return (
        f"Two judges of a debate name the same result in {estimate_text(agreement.raw, share=True)} of "
        f"{plural(agreement.debates, 'debate')}; Krippendorff's alpha is {estimate_text(agreement.alpha)} "
        "(1: always the same, 0: as by chance)."
    )
