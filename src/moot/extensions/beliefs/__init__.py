"""Private beliefs and the model audience: who debaters, judges and personas think is going to win."""

from __future__ import annotations

from typing import TYPE_CHECKING

from moot.extension import Extension

if TYPE_CHECKING:
    from moot.extension import DebateReport, SideQuestions


def _side_questions() -> SideQuestions:
    from moot.extensions.beliefs.questions import QUESTIONS

    return QUESTIONS


def _report() -> DebateReport:
    from moot.extensions.beliefs.report import REPORT

    return REPORT


EXTENSION = Extension(
    "beliefs",
    "Asks debaters and judges privately who will win, and lets a model audience vote.",
    side_questions=_side_questions,
    report=_report,
    package="moot.extensions.beliefs",
)
