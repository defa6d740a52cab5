"""A transcript as JSON in the shape of the v1 contract, with further members beside the promised ones.

Totals are what is known; the models whose price nobody knows are named beside them, in `unpriced`. A draw, or
a debate too close to call, has "tie" for its winner; `outcome` says which of the two it is. Members without a
value are left out.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
from msgspec import UNSET

from moot.core.terms import Money
from moot.views.beliefs import BeliefReport
from moot.views.costs import CostReport
from moot.views.json_types import Timestamp, as_number, encoder
from moot.views.participants import JudgeView, ParticipantView
from moot.views.poll_results import PollReport
from moot.views.text import clean_json
from moot.views.tool_uses import tools_line
from moot.views.transcript import PointView, RoundView, SpeechView, Transcript
from moot.views.transcript_shapes import (
    BeliefAfterSpeech,
    Beliefs,
    ChoiceChange,
    CostSummary,
    DebateJudge,
    DebateParticipant,
    JudgeBallot,
    JudgeTurningPoint,
    PartyConfidence,
    PollTotals,
    ReachedVerdict,
    Score,
    TokenUsage,
    TranscriptDebate,
    TranscriptPoint,
    TranscriptRemark,
    TranscriptResponse,
    TranscriptRound,
    TranscriptSpeech,
    Verdict,
    Votes,
)
from moot.views.verdict_views import BallotView, RubricRow, SeatScore, VerdictView


def to_json(page: Transcript) -> str:
    document = encoder.encode(transcript_document(page))
    return clean_json(msgspec.json.format(document, indent=2).decode())


def transcript_document(page: Transcript) -> TranscriptResponse:
    return TranscriptResponse(
        debate=TranscriptDebate(
            id=page.id,
            topic=page.motion,
            format=page.format,
            status=page.status,
            created_at=Timestamp.of(page.created_at),
            completed_at=Timestamp.of(page.completed_at),
            duration=round(page.seconds, 3),
            ending=page.ending,
        ),
        participants=tuple(participant(seat) for seat in page.participants),
        judge=judge_seat(page.judges[0]) if page.judges else None,
        judges=tuple(judge_seat(judge) for judge in page.judges),
        rounds=tuple(_round(part) for part in page.rounds),
        remarks=tuple(
            TranscriptRemark(
                text=remark.text,
                by=remark.by,
                to=remark.to,
                at=Timestamp.of(remark.at),
                before_turn=remark.before,
                question=remark.question,
            )
            for remark in page.remarks
        ),
        verdict=verdict(page),
        verdicts=verdicts(page),
        audience=votes(page.audience) if page.audience else None,
        accidents={
            seat: {kind: tuple(turns) for kind, turns in issues.items()}
            for seat, issues in page.issues.by_seat.items()
        },
        costs=cost_summary(page.costs),
        beliefs=_beliefs(page.beliefs) if page.beliefs else UNSET,
        facts={fact.label: fact.text for fact in page.facts} or UNSET,
    )


def _beliefs(report: BeliefReport) -> Beliefs:
    turning = report.turning
    return Beliefs(
        speeches=tuple(
            BeliefAfterSpeech(
                turn=point.turn,
                speaker=point.speaker.id if point.speaker else None,
                before=point.before,
                after=point.after,
                judge=point.judge,
            )
            for point in report.points
        ),
        parties=tuple(
            PartyConfidence(party=party.party, opening=party.opening, closing=party.closing)
            for party in report.parties
        ),
        turning_point=JudgeTurningPoint(
            turn=turning.turn, party=turning.party_id, before=turning.before, after=turning.after
        )
        if turning
        else None,
        account=report.sentences,
        model_audience=votes(report.audience) if report.audience else None,
    )


def cost_summary(figures: CostReport) -> CostSummary:
    return CostSummary(
        total_cost=as_number(figures.total or Money(0)),
        cost_by_model={
            model.model: as_number(model.cost) for model in figures.models if model.cost is not None
        },
        total_tokens=figures.usage.total,
        tokens_by_model={
            model.model: TokenUsage(input_tokens=model.usage.input, output_tokens=model.usage.output)
            for model in figures.models
        },
        estimated=figures.estimated,
        unpriced=tuple(figures.unpriced),
    )


def participant(seat: ParticipantView) -> DebateParticipant:
    return DebateParticipant(
        id=seat.id,
        name=seat.name,
        model=seat.model,
        position=seat.side,
        color=seat.colour,
        team=seat.team,
        person=seat.person,
        stand_in=seat.stand_in,
        left=seat.left,
    )


def judge_seat(judge: JudgeView) -> DebateJudge:
    return DebateJudge(
        id=judge.id, name=judge.name, model=judge.model, person=judge.person, recused=judge.recused
    )


def _round(part: RoundView) -> TranscriptRound:
    """Speeches that were given again are listed apart, so that none is counted twice."""
    return TranscriptRound(
        round_number=part.number,
        responses=tuple(_speech(speech) for speech in part.speeches if speech.counts),
        struck=tuple(_speech(speech) for speech in part.speeches if not speech.counts),
    )


def _speech(speech: SpeechView) -> TranscriptSpeech:
    return TranscriptSpeech(
        participant=speech.speaker.name,
        participant_id=speech.speaker.id,
        turn=speech.turn,
        phase=speech.phase,
        title=speech.title,
        # No one heard what a speaker said before it failed.
        content="" if "failed" in speech.flags else speech.text,
        words=speech.words,
        tokens_used=speech.usage.total,
        estimated=speech.usage.estimated,
        cost=None if speech.cost is None else as_number(speech.cost),
        latency_ms=speech.latency_ms,
        flags=speech.flags,
        notes=(*speech.notes, *tools_line(speech.uses)),
        timestamp=Timestamp.of(speech.started_at),
        budget=speech.budget,
        words_heard=speech.clipped,
        by_hand=speech.by_hand,
        speaks_as=speech.speaks_as,
        points=tuple(_point(point) for point in speech.points),
        reasoning=speech.reasoning,
    )


def _point(point: PointView) -> TranscriptPoint:
    return TranscriptPoint(
        participant=point.by.name, participant_id=point.by.id, accepted=point.accepted, text=point.text
    )


# --- how it was judged --------------------------------------------------------------------------------


def verdict(page: Transcript) -> Verdict | None:
    return Verdict(**_verdict_members(page.verdict)) if page.verdict else None


def verdicts(page: Transcript) -> tuple[ReachedVerdict, ...]:
    """All of them with their ballots; the first is what the debate came to."""
    return tuple(
        ReachedVerdict(
            **_verdict_members(result),
            judging=result.judging,
            judges=tuple(judge_seat(judge) for judge in result.judges),
            ballots=tuple(_ballot(paper) for opinion in result.opinions for paper in opinion.ballots),
        )
        for result in page.results
    )


def _verdict_members(result: VerdictView) -> dict[str, Any]:
    return {
        "winner": result.winner.id if result.winner else "tie",
        "scores": _scores(result.scores),
        "reasoning": result.reasoning,
        "criteria": result.criteria,
        "tokens_used": result.usage.total,
        "outcome": result.outcome,
        "headline": result.headline,
        "by": result.by,
        "margin": result.margin,
        "agreement": result.agreement,
        "flips": result.flips,
        "doubts": result.doubts,
        "cites": result.cites,
        "rubric": _rubric(result.rubric),
        "totals": {seat.id: total for seat, total in result.totals} or None,
        "ranking": tuple(seat.id for seat in result.ranking),
        "last_word": result.last_word.id if result.last_word else None,
    }


def _ballot(paper: BallotView) -> JudgeBallot:
    return JudgeBallot(
        judge=paper.judge.id,
        judge_name=paper.judge.name,
        order=paper.order,
        winner=paper.winner.id if paper.winner else "tie",
        reasoning=paper.reasoning,
        scores=_scores(paper.scores),
        criteria=paper.criteria,
        cites=paper.cites,
        rubric=_rubric(paper.rubric),
        ranking=tuple(seat.id for seat in paper.ranking),
        labels=paper.labels,
        read_first=paper.read_first,
    )


def _scores(scores: tuple[SeatScore, ...]) -> dict[str, Score]:
    return {score.seat.id: Score(score.score, score.strengths, score.weaknesses) for score in scores}


def _rubric(rubric: tuple[RubricRow, ...]) -> dict[str, dict[str, float]] | None:
    """Points by criterion and participant."""
    return {row.name: {seat.id: points for seat, points in row.points} for row in rubric} or None


# --- the audience -------------------------------------------------------------------------------------


def votes(report: PollReport) -> Votes:
    """The audience's votes. While they are sealed: how many were cast in each poll, and nothing else."""
    tally = report.tally
    polls = tuple(
        PollTotals(
            poll=count.poll,
            open=count.open,
            votes=count.votes,
            late=count.late,
            single=count.single if count.by_choice else None,
            by_choice=count.by_choice,
        )
        for count in tally.counts
    )
    if tally.sealed:
        return Votes(sealed=True, rule=tally.rule, choices=tally.choices, polls=polls)
    return Votes(
        sealed=False,
        rule=tally.rule,
        choices=tally.choices,
        polls=polls,
        headline=report.headline,
        pairs=tally.pairs,
        table=tally.table,
        changes=_changes(report),
        leader=tally.leader,
        lead=tally.lead,
        interval=tally.interval,
        account=report.sentences,
        doubts=report.doubts,
    )


def _changes(report: PollReport) -> tuple[ChoiceChange, ...]:
    names = {option.id: option.name for option in report.options}
    return tuple(
        ChoiceChange(
            choice=swing.choice,
            label=names[swing.choice],
            before=swing.before,
            after=swing.after,
            points=swing.points,
            interval=swing.interval,
            persuadable=swing.persuadable,
            won=swing.won,
        )
        for swing in report.tally.changes
    )


# --- times -------------------------------------------------------------------------------------------


def moment(at: datetime | None) -> str | None:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z") if at else None
