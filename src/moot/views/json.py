"""A transcript as JSON in the shape of the v1 contract, with further members beside the promised ones.

Totals are what is known; the models whose price nobody knows are named beside them, in `unpriced`. A draw, or
a debate too close to call, has "tie" for its winner; `outcome` says which of the two it is. The pieces serve
every reply of v1, so that a debate looks the same wherever it is asked for.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from moot.terms import Money
from moot.views.cleaning import clean_json
from moot.views.costs import Costs
from moot.views.transcript import JudgeSeat, Participant, Result, Round, Speech, Transcript


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
            }
            for remark in page.remarks
        ],
        "verdict": verdict(page),
        "costs": cost_summary(page.costs),
    }
    return clean_json(msgspec.json.format(msgspec.json.encode(shape), indent=2).decode())


def cost_summary(figures: Costs) -> dict[str, Any]:
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


def participant(seat: Participant) -> dict[str, Any]:
    return {
        "id": seat.id,
        "name": seat.name,
        "model": seat.model,
        "position": seat.side,
        "color": seat.colour,
    }


def judge_seat(judge: JudgeSeat) -> dict[str, Any]:
    return {"id": judge.id, "name": judge.name, "model": judge.model}


def _round(part: Round) -> dict[str, Any]:
    """Speeches that were given again stand apart: nobody should count them twice."""
    struck = [_response(speech) for speech in part.speeches if not speech.counts]
    shape: dict[str, Any] = {
        "roundNumber": part.number,
        "responses": [_response(speech) for speech in part.speeches if speech.counts],
    }
    return {**shape, "struck": struck} if struck else shape


def _response(speech: Speech) -> dict[str, Any]:
    response: dict[str, Any] = {
        "participant": speech.speaker.name,
        "participantId": speech.speaker.id,
        "turn": speech.turn,
        "phase": speech.phase,
        "title": speech.title,
        # What a speaker said before it failed was heard by nobody.
        "content": "" if "failed" in speech.flags else speech.text,
        "words": speech.words,
        "tokensUsed": speech.usage.total,
        "estimated": speech.usage.estimated,
        "cost": number(speech.cost),
        "latencyMs": speech.latency_ms,
        "flags": list(speech.flags),
        "notes": list(speech.notes),
        "timestamp": moment(speech.started_at),
    }
    return {**response, "reasoning": speech.reasoning} if speech.reasoning else response


def verdict(page: Transcript) -> dict[str, Any] | None:
    result = page.verdict
    if result is None:
        return None
    return {
        "winner": result.winner.id if result.winner else "tie",
        "scores": _scores(result),
        "reasoning": result.reasoning,
        "criteria": result.criteria,
        "tokensUsed": _judges_tokens(page),
        "outcome": result.outcome,
        "headline": result.headline,
        "by": result.by,
        "margin": result.margin,
        "agreement": result.agreement,
        "flips": result.flips,
        "doubts": list(result.doubts),
    }


def _scores(result: Result) -> dict[str, Any]:
    return {
        score.seat.id: {
            "score": score.score,
            "strengths": list(score.strengths),
            "weaknesses": list(score.weaknesses),
        }
        for score in result.scores
    }


def _judges_tokens(page: Transcript) -> int:
    """All calls are of speakers or judges."""
    spoken = sum(speech.usage.total for part in page.rounds for speech in part.speeches)
    return max(0, page.costs.usage.total - spoken)


def number(amount: Money | None) -> float | None:
    return None if amount is None else float(amount)


def moment(at: datetime | None) -> str | None:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z") if at else None
