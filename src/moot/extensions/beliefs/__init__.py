"""Private beliefs and the model audience: who debaters, judges and personas think is going to win."""

from __future__ import annotations

from typing import TYPE_CHECKING

from moot.extension import Extension, PageModule

if TYPE_CHECKING:
    from moot.core.setup_field import SetupField
    from moot.extension import DebateReport, SideQuestions


def _side_questions() -> SideQuestions:
    from moot.extensions.beliefs.questions import QUESTIONS

    return QUESTIONS


def _report() -> DebateReport:
    from moot.extensions.beliefs.report import REPORT

    return REPORT


def _settings() -> tuple[SetupField, ...]:
    from moot.extensions.beliefs.settings import BeliefSettings

    return tuple(BeliefSettings.fields())


EXTENSION = Extension(
    "beliefs",
    "Asks debaters and judges privately who will win, and lets a model audience vote.",
    side_questions=_side_questions,
    report=_report,
    settings=_settings,
    page=(PageModule("report.js", "report"),),
    package=__name__,
)
