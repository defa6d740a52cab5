"""A transcript as JSON in the shape of the v1 contract, with further members beside the promised ones.

Totals are what is known; the models whose price nobody knows are named beside them, in `unpriced`. A draw, or
a debate too close to call, has "tie" for its winner; `outcome` says which of the two it is. The pieces serve
every reply of v1, so that a debate looks the same wherever it is asked for. Further members are there where
they have something to say.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from moot.core.terms import Money
from moot.judging.audience_votes import ChoiceSwing, ConfidenceInterval, PollResult
from moot.views.costs import CostReport
from moot.views.participants import JudgeView, ParticipantView
from moot.views.poll_results import PollReport
from moot.views.text import clean_json
from moot.views.tool_uses import tools_line
from moot.views.transcript import PointView, RoundView, SpeechView, Transcript
from moot.views.verdict_views import BallotView, RubricRow, SeatScore, VerdictView


def to_json(page: Transcript) -> str:
    shape: dict[str, Any] = {
        "debate": {
            "id": page.id,
            "topic": page.motion,
            "format": page.format,
            "status": page.status,
            "createdAt": moment(page.created_at),
            "completedAt": moment(page.completed_at),
            "duration": round(page.seconds, 3),
            "ending": page.ending,
        },
        "participants": [participant(seat) for seat in page.participants],
        "judge": judge_seat(page.judges[0]) if page.judges else None,
        "judges": [judge_seat(judge) for judge in page.judges],
        "rounds": [_round(part) for part in page.rounds],
        "remarks": [
            {
                "text": remark.text,
                "by": remark.by,
                "to": remark.to,
                "at": moment(remark.at),
                "beforeTurn": remark.before,
                "question": remark.question,
            }
            for remark in page.remarks
        ],
        "verdict": verdict(page),
        "verdicts": verdicts(page),
        "audience": polls(page.audience) if page.audience else None,
        "accidents": {seat: dict(issues) for seat, issues in page.issues.by_seat.items()},
        "costs": cost_summary(page.costs),
    }
    return clean_json(msgspec.json.format(msgspec.json.encode(shape), indent=2).decode())


def cost_summary(figures: CostReport) -> dict[str, Any]:
    return {
        "totalCost": number(figures.total) or 0.0,
        "costByModel": {
            model.model: number(model.cost) for model in figures.models if model.cost is not None
        },
        "totalTokens": figures.usage.total,
        "tokensByModel": {
            model.model: {"inputTokens": model.usage.input, "outputTokens": model.usage.output}
            for model in figures.models
        },
        "estimated": figures.estimated,
        "unpriced": list(figures.unpriced),
    }


def participant(seat: ParticipantView) -> dict[str, Any]:
    shape = {
        "id": seat.id,
        "name": seat.name,
        "model": seat.model,
        "position": seat.side,
        "color": seat.colour,
    }
    more = {"team": seat.team, "person": seat.person, "standIn": seat.stand_in, "left": seat.left}
    return {**shape, **_said(more)}


def judge_seat(judge: JudgeView) -> dict[str, Any]:
    shape = {"id": judge.id, "name": judge.name, "model": judge.model}
    return {**shape, **_said({"person": judge.person, "recused": judge.recused})}


def _said(members: dict[str, Any]) -> dict[str, Any]:
    """Return the members that are not empty."""
    return {name: value for name, value in members.items() if value}


def _round(part: RoundView) -> dict[str, Any]:
    """Speeches that were given again are listed apart, so that none is counted twice."""
    struck = [_response(speech) for speech in part.speeches if not speech.counts]
    shape: dict[str, Any] = {
        "roundNumber": part.number,
        "responses": [_response(speech) for speech in part.speeches if speech.counts],
    }
    return {**shape, "struck": struck} if struck else shape


def _response(speech: SpeechView) -> dict[str, Any]:
    response: dict[str, Any] = {
        "participant": speech.speaker.name,
        "participantId": speech.speaker.id,
        "turn": speech.turn,
        "phase": speech.phase,
        "title": speech.title,
        # No one heard what a speaker said before it failed.
        "content": "" if "failed" in speech.flags else speech.text,
        "words": speech.words,
        "tokensUsed": speech.usage.total,
        "estimated": speech.usage.estimated,
        "cost": number(speech.cost),
        "latencyMs": speech.latency_ms,
        "flags": list(speech.flags),
        "notes": [*speech.notes, *tools_line(speech.uses)],
        "timestamp": moment(speech.started_at),
        "budget": speech.budget,
    }
    more = {
        "wordsHeard": speech.clipped,
        "byHand": speech.by_hand,
        "speaksAs": speech.speaks_as,
        "points": [_offer(point) for point in speech.points],
        "reasoning": speech.reasoning,
    }
    return {**response, **_said(more)}


def _offer(point: PointView) -> dict[str, Any]:
    """A point of information; a declined one has no text."""
    shape = {"participant": point.by.name, "participantId": point.by.id, "accepted": point.accepted}
    return {**shape, **_said({"text": point.text})}


# --- how it was judged --------------------------------------------------------------------------------


def verdict(page: Transcript) -> dict[str, Any] | None:
    return _verdict(page.verdict) if page.verdict else None


def verdicts(page: Transcript) -> list[dict[str, Any]]:
    """All of them with their ballots; the first is what the debate came to."""
    return [
        {
            "judging": result.judging,
            **_verdict(result),
            "judges": [judge_seat(judge) for judge in result.judges],
            "ballots": [_ballot(paper) for opinion in result.opinions for paper in opinion.ballots],
        }
        for result in page.results
    ]


def _verdict(result: VerdictView) -> dict[str, Any]:
    shape = {
        "winner": result.winner.id if result.winner else "tie",
        "scores": _scores(result.scores),
        "reasoning": result.reasoning,
        "criteria": result.criteria,
        "tokensUsed": result.usage.total,
        "outcome": result.outcome,
        "headline": result.headline,
        "by": result.by,
        "margin": result.margin,
        "agreement": result.agreement,
        "flips": result.flips,
        "doubts": list(result.doubts),
    }
    more = {
        "cites": list(result.cites),
        "rubric": _rubric(result.rubric),
        "totals": {seat.id: total for seat, total in result.totals},
        "ranking": [seat.id for seat in result.ranking],
        "lastWord": result.last_word.id if result.last_word else None,
    }
    return {**shape, **_said(more)}


def _ballot(paper: BallotView) -> dict[str, Any]:
    shape = {
        "judge": paper.judge.id,
        "judgeName": paper.judge.name,
        "order": paper.order,
        "winner": paper.winner.id if paper.winner else "tie",
        "reasoning": paper.reasoning,
        "scores": _scores(paper.scores),
        "criteria": paper.criteria,
        "cites": list(paper.cites),
    }
    more = {"rubric": _rubric(paper.rubric), "ranking": [seat.id for seat in paper.ranking]}
    return {**shape, **_said(more)}


def _scores(scores: tuple[SeatScore, ...]) -> dict[str, Any]:
    return {
        score.seat.id: {
            "score": score.score,
            "strengths": list(score.strengths),
            "weaknesses": list(score.weaknesses),
        }
        for score in scores
    }


def _rubric(rubric: tuple[RubricRow, ...]) -> dict[str, dict[str, float]]:
    """Points by criterion and participant."""
    return {row.name: {seat.id: points for seat, points in row.points} for row in rubric}


# --- the audience -------------------------------------------------------------------------------------


def polls(report: PollReport) -> dict[str, Any]:
    """The audience's votes. While they are sealed: how many were cast in each poll, and nothing else."""
    tally = report.tally
    shape: dict[str, Any] = {
        "sealed": tally.sealed,
        "rule": tally.rule,
        "choices": list(tally.choices),
        "polls": [_poll(count) for count in tally.counts],
    }
    if tally.sealed:
        return shape
    names = {option.id: option.name for option in report.options}
    return {
        **shape,
        "headline": report.headline,
        "pairs": tally.pairs,
        "table": [list(row) for row in tally.table],
        "changes": [_change(change, names[change.choice]) for change in tally.changes],
        "leader": tally.leader,
        "lead": tally.lead,
        "interval": _interval(tally.interval),
        "account": list(report.sentences),
        "doubts": list(report.doubts),
    }


def _poll(count: PollResult) -> dict[str, Any]:
    shape: dict[str, Any] = {"poll": count.poll, "open": count.open, "votes": count.votes, "late": count.late}
    return {**shape, "single": count.single, "byChoice": count.by_choice} if count.by_choice else shape


def _change(change: ChoiceSwing, label: str) -> dict[str, Any]:
    return {
        "choice": change.choice,
        "label": label,
        "before": change.before,
        "after": change.after,
        "points": change.points,
        "interval": _interval(change.interval),
        "persuadable": change.persuadable,
        "won": change.won,
    }


def _interval(interval: ConfidenceInterval | None) -> dict[str, float] | None:
    return {"low": interval.low, "high": interval.high} if interval else None


# --- figures ------------------------------------------------------------------------------------------


def number(amount: Money | None) -> float | None:
    return None if amount is None else float(amount)


def moment(at: datetime | None) -> str | None:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z") if at else None
