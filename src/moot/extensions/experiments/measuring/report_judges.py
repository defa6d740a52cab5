"""The section of a report about the judges: the panel, its agreement, its biases, what ratings owe to it."""

from __future__ import annotations

from collections.abc import Iterator

from moot.extensions.experiments.measuring.judge_measures import JudgeReport
from moot.extensions.experiments.measuring.judge_tables import (
    biases_table,
    by_judge_table,
    checks_table,
    judges_table,
    shifts_table,
)
from moot.extensions.experiments.measuring.rating_report import agreement_table
from moot.extensions.experiments.measuring.report import ExperimentReport
from moot.extensions.experiments.measuring.report_blocks import Block, sentences
from moot.extensions.experiments.measuring.report_text import estimate_text
from moot.views.report_blocks import Bullet, Bullets
from moot.views.text import plural


def judge_blocks(report: ExperimentReport, judges: JudgeReport) -> Iterator[Block]:
    yield from sentences(_agreed(judges))
    yield judges_table(judges)
    yield biases_table(judges)
    yield checks_table(judges.checks)
    if judges.checks and not any(check.found for check in judges.checks):
        yield from sentences(
            f"None of {plural(len(judges.checks), 'test')} for compromised judges found a fault (going by "
            "label, place, length, family or side, tossing a coin, being bribed, unreadable ballots)."
        )
    yield from _addressed(report)
    if judges.agreement.debates:
        yield agreement_table(judges)
    yield by_judge_table(report.by_judge)
    yield shifts_table(report.without_judge)
    yield shifts_table(report.without_motion, "motion")


def _addressed(report: ExperimentReport) -> Iterator[Block]:
    found = report.addressed
    if found.debates:
        said = (
            f"{plural(found.sentences, 'sentence')} in {plural(found.debates, 'debate')} of {found.held:,} "
            f"address the judge. The first, by {found.model}: “{found.quotation}”"
        )
        yield Bullets((Bullet(said, found.debate, found.speech),))


def _agreed(judges: JudgeReport) -> str:
    agreement = judges.agreement
    if not agreement.debates:
        return "Only one judge decided each debate, so agreement cannot be measured."
    return (
        f"Two judges of a debate name the same result in {estimate_text(agreement.raw, share=True)} of "
        f"{plural(agreement.debates, 'debate')}; Krippendorff's alpha is {estimate_text(agreement.alpha)} "
        "(1: always the same, 0: as by chance)."
    )
