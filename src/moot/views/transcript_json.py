"""A transcript as JSON in the shape of the v1 contract, with further members beside the promised ones.

Totals are what is known; the models whose price nobody knows are named beside them, in `unpriced`. A draw, or
a debate too close to call, has "tie" for its winner; `outcome` says which of the two it is. Members without a
value are left out.
"""

from __future__ import annotations

from datetime import datetime

import msgspec
from msgspec import UNSET

from moot.core.json_types import as_number, choose, encoder
from moot.core.terms import Money
from moot.views.costs import CostReport
from moot.views.participants import participant
from moot.views.poll_results import PollReport
from moot.views.text import clean_json
from moot.views.tool_uses import tools_line
from moot.views.transcript import SpeechView, Transcript
from moot.views.transcript_document import OwnMembers, transcript_type
from moot.views.transcript_shapes import (
    CostSummary,
    ReachedVerdict,
    TokenUsage,
    TranscriptDebate,
    TranscriptRound,
    TranscriptSpeech,
    Verdict,
    Votes,
)


def to_json(page: Transcript) -> str:
    document = encoder.encode(transcript_document(page))
    return clean_json(msgspec.json.format(document, indent=2).decode())


def transcript_document(page: Transcript) -> OwnMembers:
    told = {report.name: report.members for report in page.reports if report.members is not None}
    told |= {"facts": {fact.label: fact.text for fact in page.facts}} if page.facts else {}
    return transcript_type()(
        debate=choose(
            TranscriptDebate,
            page,
            topic=page.motion,
            duration=round(page.seconds, 3),
            early_end=page.early_end or UNSET,
        ),
        participants=tuple(map(participant, page.participants)),
        judge=page.judges[0] if page.judges else None,
        judges=page.judges,
        rounds=tuple(_round(*one) for one in page.rounds.items()),
        remarks=page.remarks,
        verdict=choose(Verdict, page.verdict) if page.verdict else None,
        verdicts=tuple(choose(ReachedVerdict, result) for result in page.results),
        audience=votes(page.audience) if page.audience else None,
        accidents={
            seat: {kind: tuple(turns) for kind, turns in issues.items()}
            for seat, issues in page.issues.by_seat.items()
        },
        costs=cost_summary(page.costs),
        **told,
    )


def cost_summary(figures: CostReport) -> CostSummary:
    known = {model: usage.known_cost for model, usage in figures.models.items()}
    return CostSummary(
        total_cost=as_number(figures.total or Money(0)),
        cost_by_model={model: as_number(cost) for model, cost in known.items() if cost is not None},
        total_tokens=figures.usage.total,
        tokens_by_model={
            model: TokenUsage(input_tokens=used.usage.input, output_tokens=used.usage.output)
            for model, used in figures.models.items()
        },
        estimated=figures.estimated,
        unpriced=figures.unpriced,
    )


def _round(number: int, speeches: tuple[SpeechView, ...]) -> TranscriptRound:
    """Speeches that were given again are listed apart, so that none is counted twice."""
    return TranscriptRound(
        round_number=number,
        responses=tuple(_speech(speech) for speech in speeches if speech.counts),
        struck=tuple(_speech(speech) for speech in speeches if not speech.counts),
    )


def _speech(speech: SpeechView) -> TranscriptSpeech:
    return choose(
        TranscriptSpeech,
        speech,
        participant=speech.speaker.name,
        participant_id=speech.speaker.id,
        # No one heard what a speaker said before it failed.
        content="" if "failed" in speech.flags else speech.text,
        tokens_used=speech.usage.total,
        estimated=speech.usage.estimated,
        notes=(*speech.notes, *tools_line(speech.uses)),
    )


# --- the audience -------------------------------------------------------------------------------------


def votes(report: PollReport) -> Votes:
    """The audience's votes. While they are sealed: how many were cast in each poll, and nothing else."""
    tally = report.tally
    if tally.sealed:
        return Votes(sealed=True, rule=tally.rule, choices=tally.choices, polls=tally.counts)
    return choose(
        Votes,
        tally,
        polls=tally.counts,
        headline=report.headline,
        account=report.sentences,
        doubts=report.doubts,
    )


# --- times -------------------------------------------------------------------------------------------


def moment(at: datetime | None) -> str | None:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z") if at else None
