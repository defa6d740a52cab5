"""A transcript as JSON in the shape of the v1 contract, with further members beside the promised ones.

Amounts nobody knows are null. A draw, or a debate too close to call, has "tie" for its winner; `outcome` says
which of the two it is.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from moot.terms import Money
from moot.views.cleaning import clean_json
from moot.views.costs import Costs
from moot.views.transcript import JudgeSeat, Participant, Result, Speech, Transcript


def to_json(page: Transcript) -> str:
    shape: dict[str, Any] = {
        "debate": {
            "id": page.id,
            "topic": page.motion,
            "format": page.format,
            "status": page.status,
            "createdAt": _moment(page.created_at),
            "completedAt": _moment(page.completed_at),
            "duration": round(page.seconds, 3),
            "ending": page.ending,
        },
        "participants": [_participant(seat) for seat in page.participants],
        "judge": _judge(page.judges[0]) if page.judges else None,
        "judges": [_judge(judge) for judge in page.judges],
        "rounds": [
            {"roundNumber": part.number, "responses": [_response(speech) for speech in part.speeches]}
            for part in page.rounds
        ],
        "remarks": [
            {
                "text": remark.text,
                "by": remark.by,
                "to": remark.to,
                "at": _moment(remark.at),
                "beforeTurn": remark.before,
            }
            for remark in page.remarks
        ],
        "verdict": _verdict(page.verdict) if page.verdict else None,
        "costs": cost_summary(page.costs),
    }
    return clean_json(msgspec.json.format(msgspec.json.encode(shape), indent=2).decode())


def cost_summary(figures: Costs) -> dict[str, Any]:
    return {
        "totalCost": _number(figures.total),
        "costByModel": {model.model: _number(model.cost) for model in figures.models},
        "totalTokens": figures.usage.total,
        "tokensByModel": {
            model.model: {"inputTokens": model.usage.input, "outputTokens": model.usage.output}
            for model in figures.models
        },
        "estimated": figures.estimated,
        "unpriced": list(figures.unpriced),
    }


def _participant(seat: Participant) -> dict[str, Any]:
    return {
        "id": seat.id,
        "name": seat.name,
        "model": seat.model,
        "position": seat.side,
        "color": seat.colour,
    }


def _judge(judge: JudgeSeat) -> dict[str, Any]:
    return {"id": judge.id, "name": judge.name, "model": judge.model}


def _response(speech: Speech) -> dict[str, Any]:
    response: dict[str, Any] = {
        "participant": speech.speaker.name,
        "participantId": speech.speaker.id,
        "turn": speech.turn,
        "phase": speech.phase,
        "title": speech.title,
        "content": speech.text,
        "words": speech.words,
        "tokensUsed": speech.usage.total,
        "estimated": speech.usage.estimated,
        "cost": _number(speech.cost),
        "latencyMs": speech.latency_ms,
        "flags": list(speech.flags),
        "notes": list(speech.notes),
        "timestamp": _moment(speech.started_at),
    }
    return {**response, "reasoning": speech.reasoning} if speech.reasoning else response


def _verdict(result: Result) -> dict[str, Any]:
    return {
        "winner": result.winner.id if result.winner else "tie",
        "outcome": result.outcome,
        "headline": result.headline,
        "by": result.by,
        "scores": {
            score.seat.id: {
                "score": score.score,
                "strengths": list(score.strengths),
                "weaknesses": list(score.weaknesses),
            }
            for score in result.scores
        },
        "margin": result.margin,
        "agreement": result.agreement,
        "flips": result.flips,
        "doubts": list(result.doubts),
        "reasoning": result.reasoning,
        "criteria": result.criteria,
    }


def _number(amount: Money | None) -> float | None:
    return None if amount is None else float(amount)


def _moment(at: datetime | None) -> str | None:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z") if at else None
