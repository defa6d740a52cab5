"""Experiments as the server shows them: progress from what is stored, and the report, computed once.

A report of a large experiment takes seconds to compute, so it is kept until another debate is over. While an
experiment runs, a report is used for ten seconds in any case, and for twenty times as long as it took to
compute: a page that asks every two seconds must not keep the machine busy. Without the extra `experiments`
there is progress only.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.util import find_spec
from time import monotonic
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct, structs

from moot import __version__
from moot.api.shapes.experiments import (
    AgreementFigures,
    BeliefFigures,
    ConfidenceFigures,
    DebateToRead,
    ExperimentResponse,
    ExperimentSummary,
    FailureReason,
    JudgeFault,
    JudgeFigures,
    MatchupResult,
    MeasuredFigure,
    PeopleFigures,
    ProtocolFigures,
    RatedModel,
    ReliabilityBin,
    ReliabilityFigures,
    ReportBlock,
    ReportItem,
    ReportSection,
)
from moot.core.errors import Invalid, Unavailable
from moot.core.json_types import Timestamp
from moot.extensions.experiments.measuring.definition import ExperimentDefinition, from_json
from moot.extensions.experiments.progress import ExperimentProgress, stored_progress
from moot.extensions.experiments.runner import ExperimentRunner
from moot.extensions.experiments.store import StoredExperiment
from moot.extensions.experiments.tables import EXPERIMENTS
from moot.installation import install_command
from moot.web.app_context import AppContext

if TYPE_CHECKING:
    from moot.extensions.experiments.measuring.report import ExperimentReport
    from moot.extensions.experiments.measuring.report_blocks import Section

REUSED_SECONDS = 10
REUSED_TIMES = 20


class KeptReport(Struct, frozen=True):
    stored: StoredExperiment
    progress: ExperimentProgress
    report: ExperimentReport
    reused_until: float
    """While the experiment runs."""


class ExperimentReports:
    def __init__(self, context: AppContext) -> None:
        self._arena = context.arena
        self._kept: dict[str, KeptReport] = {}
        self._making = defaultdict[str, asyncio.Lock](asyncio.Lock)

    async def summary(self, stored: StoredExperiment) -> ExperimentSummary:
        definition = from_json(stored.definition)
        return ExperimentSummary(**_members(stored, definition, await self._progress(definition)))

    async def response(self, stored: StoredExperiment) -> ExperimentResponse:
        definition = from_json(stored.definition)
        try:
            report, progress = await self._measured(stored, definition)
        except Unavailable as error:
            progress = await self._progress(definition)
            members = _members(stored, definition, progress)
            return ExperimentResponse(
                **members, measured_at=None, leaderboard=(), matchups=(), agreement=None, judges=(),
                reliability=(), closest=(), notes=(str(error),), failures=_failures(progress),
            )  # fmt: skip
        judges = report.judges
        return ExperimentResponse(
            **_members(stored, definition, progress),
            measured_at=Timestamp.of(report.made_at),
            leaderboard=_as(tuple[RatedModel, ...], report.ratings.models if report.ratings else ()),
            matchups=_as(tuple[MatchupResult, ...], report.matchups),
            agreement=_as(AgreementFigures, judges.agreement) if judges else None,
            judges=_as(tuple[JudgeFigures, ...], judges.judges if judges else ()),
            faults=_as(
                tuple[JudgeFault, ...], [each for each in judges.checks if each.found] if judges else ()
            ),
            reliability=_as(tuple[ReliabilityFigures, ...], report.reliability),
            closest=_as(tuple[DebateToRead, ...], report.closest),
            notes=report.notes,
            failures=_failures(progress),
            beliefs=_belief_figures(report),
            people=_people_figures(report),
            protocols=_protocol_figures(report),
            sections=await asyncio.to_thread(_sections, report),
        )

    async def report(self, stored: StoredExperiment) -> ExperimentReport:
        """Raises Unavailable where the extra is not installed."""
        report, _ = await self._measured(stored, from_json(stored.definition))
        return report

    async def _measured(
        self, stored: StoredExperiment, definition: ExperimentDefinition
    ) -> tuple[ExperimentReport, ExperimentProgress]:
        if find_spec("numpy") is None:
            command = install_command("experiments")
            raise Unavailable(f"Ratings need numpy, which is not installed here: {command}")
        async with self._making[stored.name]:
            progress = await self._progress(definition)
            kept = self._kept.get(stored.name)
            if kept is None or not _still_good(kept, stored, progress):
                started = monotonic()
                report = await ExperimentRunner(self._arena, definition).report(__version__)
                reused = max(REUSED_SECONDS, REUSED_TIMES * (monotonic() - started))
                kept = self._kept[stored.name] = KeptReport(stored, progress, report, monotonic() + reused)
            return kept.report, progress

    async def _progress(self, definition: ExperimentDefinition) -> ExperimentProgress:
        try:
            return await ExperimentRunner(self._arena, definition).stored_progress()
        except Invalid:  # its format is not on this machine, so the number of planned debates is not known
            return await stored_progress(self._arena.store.tables(EXPERIMENTS), definition)


def _belief_figures(report: ExperimentReport) -> BeliefFigures | None:
    from moot.extensions.experiments.measuring.report_beliefs import belief_sentences, turning_text

    measures = report.beliefs
    if measures is None:
        return None
    return BeliefFigures(
        models=_as(tuple[ConfidenceFigures, ...], measures.models),
        sentences=belief_sentences(measures),
        turning=tuple(map(turning_text, measures.turning)),
    )


def _people_figures(report: ExperimentReport) -> PeopleFigures | None:
    from moot.extensions.experiments.measuring.report_beliefs import people_sentence

    found = report.people
    if found is None:
        return None
    judges = {each.name: _as(MeasuredFigure, each) for each in found.judges}
    return PeopleFigures(judges=judges, sentence=people_sentence(found))


def _protocol_figures(report: ExperimentReport) -> tuple[ProtocolFigures, ...]:
    rows = report.truth.protocols if report.truth else ()
    return tuple(
        ProtocolFigures(
            protocol=row.protocol,
            asked=row.asked,
            answered=row.answered,
            confidence=row.confidence,
            cost=row.cost,
            accuracy=_as(MeasuredFigure, row.score.accuracy) if row.score else None,
            brier=_as(MeasuredFigure, row.score.brier) if row.score else None,
            log_score=_as(MeasuredFigure, row.score.log_score) if row.score else None,
            against_naive=_as(MeasuredFigure | None, row.against_naive),
            against_consultancy=_as(MeasuredFigure | None, row.against_consultancy),
            bins=_as(tuple[ReliabilityBin, ...], row.score.bins if row.score else ()),
        )
        for row in rows
    )


def _sections(report: ExperimentReport) -> tuple[ReportSection, ...]:
    from moot.extensions.experiments.measuring.report_document import report_document

    return tuple(
        ReportSection(title=section.title, blocks=tuple(_blocks(section)))
        for section in report_document(report).sections
    )


def _blocks(section: Section) -> Iterator[ReportBlock]:
    """Without the figures, whose numbers stand in the tables, and without the definition."""
    from moot.views.report_blocks import Bullets, ReportTable, Sentences

    for block in section.blocks:
        match block:
            case Sentences(texts=texts):
                yield ReportBlock(kind="sentences", texts=texts)
            case Bullets(title=title, items=items):
                yield ReportBlock(kind="bullets", title=title, items=_as(tuple[ReportItem, ...], items))
            case ReportTable():
                yield ReportBlock(kind="table", **structs.asdict(block))
            case _:
                pass


def _still_good(kept: KeptReport, stored: StoredExperiment, progress: ExperimentProgress) -> bool:
    if stored.created_at != kept.stored.created_at:
        return False
    if _made_from(stored, progress) == _made_from(kept.stored, kept.progress):
        return True
    return stored.standing(datetime.now(UTC)) == "running" and monotonic() < kept.reused_until


def _made_from(stored: StoredExperiment, progress: ExperimentProgress) -> tuple[object, ...]:
    """What a report depends on. Another judging of the same debates changes `updated_at` alone."""
    held = progress.planned, progress.finished, progress.failed, progress.spent
    return stored.updated_at, *held


def _members(
    stored: StoredExperiment, definition: ExperimentDefinition, progress: ExperimentProgress
) -> dict[str, Any]:
    """The members of an `ExperimentSummary`."""
    return {
        "name": stored.name,
        "state": stored.standing(datetime.now(UTC)),
        "planned": progress.planned,
        "held": progress.finished,
        "failed": progress.failed,
        "running": progress.running,
        "cost": float(progress.spent),
        "cost_text": progress.spent_text,
        "budget": None if definition.budget is None else float(definition.budget),
        "models": definition.models,
        "motions": len(definition.motions),
        "format": definition.format,
        "questions": len(definition.questions),
        "created_at": Timestamp.of(stored.created_at),
        "updated_at": Timestamp.of(stored.updated_at),
    }


MOST_FAILURES = 10


def _failures(progress: ExperimentProgress) -> tuple[FailureReason, ...]:
    pairs = zip(progress.failures, progress.failed_debates, strict=True)
    return tuple(FailureReason(reason=reason, debate=debate) for reason, debate in pairs)[:MOST_FAILURES]


def _as(shape: Any, value: Any) -> Any:
    """The value in the shape of a reply, by the names of its members."""
    return msgspec.convert(value, shape, from_attributes=True)
