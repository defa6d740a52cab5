"""The JSON document of a transcript: its own members, and one for each extension that tells of the debate."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any, cast

from msgspec import UNSET, Meta, Struct, UnsetType, defstruct

from moot.core.json_types import Nth
from moot.extension import DebateReport, Loaded, loaded
from moot.views.report_blocks import ReportSection
from moot.views.transcript_shapes import (
    CostSummary,
    DebateJudge,
    DebateParticipant,
    ReachedVerdict,
    TranscriptDebate,
    TranscriptRemark,
    TranscriptRound,
    Verdict,
    Votes,
)


class OwnMembers(Struct, frozen=True, rename="camel", kw_only=True):
    debate: TranscriptDebate
    participants: tuple[DebateParticipant, ...]
    judge: DebateJudge | None
    judges: Annotated[tuple[DebateJudge, ...], Meta(description="All of them; `judge` is the first.")]
    rounds: tuple[TranscriptRound, ...]
    remarks: tuple[TranscriptRemark, ...]
    verdict: Verdict | None
    verdicts: tuple[ReachedVerdict, ...]
    audience: Annotated[Votes | None, Meta(description="null where the audience is not asked.")]
    accidents: Annotated[
        dict[str, dict[str, tuple[Nth, ...]]],
        Meta(description="What went wrong in which turns, by participant."),
    ]
    costs: CostSummary


def transcript_type() -> type[OwnMembers]:
    """The whole document. It is made when it is needed first, because what extensions tell of a debate may
    build on the modules beside this one."""
    return _type_with(loaded())


@lru_cache(maxsize=4)
def _type_with(extensions: Loaded) -> type[OwnMembers]:
    told = [_member(extension.name, report) for extension, report in extensions.of(lambda one: one.report)]
    facts = Annotated[
        dict[str, str] | UnsetType, Meta(description="Figures of extensions, where they have any.")
    ]
    made = defstruct(
        "TranscriptResponse",
        [*told, ("facts", facts, UNSET)],
        bases=(OwnMembers,),
        module=__name__,
        frozen=True,
        rename="camel",
        kw_only=True,
    )
    return cast("type[OwnMembers]", made)


def _member(name: str, report: DebateReport) -> tuple[str, Any, Any]:
    shape = report.shape or tuple[ReportSection, ...]
    return name, Annotated[shape | UnsetType, Meta(description=report.description or report.title)], UNSET
