"""Debates as a log of Inspect (inspect_ai), whose viewer opens it: `inspect view --log-dir FOLDER`.

A sample is a debate: its input is the motion, its messages are the speeches, its scores the verdict and the
ballots of each judge (1: for the motion, 0: against it, 0.5: neither), its events the calls for the speeches
and the ballots. Of a question the target is the letter of the right choice, and each judge is scored by its
answer: C, I, or P where both are equally probable. A `.eval` file is a ZIP archive of JSON, so samples are
written one by one; only their summaries stay in memory. Nothing of inspect_ai is needed to write it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from string import ascii_uppercase
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import msgspec

from moot.core.errors import Invalid
from moot.core.state import Debate, Turn
from moot.core.terms import Usage
from moot.extensions.experiments.measuring.ballot_rows import BallotRow
from moot.extensions.experiments.measuring.definition import ExperimentDefinition
from moot.extensions.experiments.measuring.judge_answers import AnswerRow
from moot.extensions.experiments.measuring.judgments import SCORES
from moot.extensions.experiments.measuring.leg_results import LegResult
from moot.judging.parties import parties

Json = dict[str, Any]
LOG_VERSION = 2
"""Of Inspect's format."""
SIDE_SCORES = {"for": 1.0, "against": 0.0}
GRADES = {"C": 1.0, "P": 0.5, "I": 0.0}
"""What Inspect calls right, partly right and wrong, and how it counts them."""


class InspectLog:
    """Writes one `.eval` file: `add` for each debate, then `close`."""

    def __init__(
        self, path: Path, name: str, version: str, definition: ExperimentDefinition | None = None
    ) -> None:
        try:
            self._archive = ZipFile(path, "w", ZIP_DEFLATED)
        except OSError as error:
            raise Invalid(f"{path} cannot be written: {error.strerror}.") from None
        self._name, self._version, self._definition = name, version, definition
        self._summaries: list[Json] = []
        self._usage: dict[str, Usage] = {}
        self._values: dict[str, list[float]] = {}
        self._times: list[datetime] = []

    def add(
        self,
        result: LegResult,
        debate: Debate | None,
        *,
        ballots: Sequence[BallotRow] = (),
        answers: Sequence[AnswerRow] = (),
        metadata: Mapping[str, Any] = {},
    ) -> None:
        """Without its log, a debate has scores and no speeches. `metadata`: group, protocol, repeat and the
        like."""
        made = sample(result, debate, ballots, answers, metadata)
        self._write(f"samples/{made['id']}_epoch_1.json", made)
        self._summaries.append(_summary(made))
        for name, score in made["scores"].items():
            value = GRADES.get(score["value"], score["value"])
            if isinstance(value, float):
                self._values.setdefault(name, []).append(value)
        if debate is not None:
            self._times += [debate.created_at, debate.updated_at]
            for model, tally in debate.tallies.items():
                self._usage[model] = self._usage.get(model, Usage()) + tally.usage

    def close(self) -> None:
        started = min(self._times).isoformat() if self._times else "1970-01-01T00:00:00+00:00"
        spec = self._spec(started)
        plan: Json = {"name": "debate", "steps": [], "config": {}}
        self._write("_journal/start.json", {"version": LOG_VERSION, "eval": spec, "plan": plan})
        self._write("_journal/summaries/1.json", self._summaries)
        self._write("summaries.json", self._summaries)
        self._write(
            "header.json",
            {
                "version": LOG_VERSION,
                "status": "success",
                "eval": spec,
                "plan": plan,
                "results": {
                    "total_samples": len(self._summaries),
                    "completed_samples": len(self._summaries),
                    "scores": [_mean_score(*each) for each in self._values.items()],
                },
                "stats": {
                    "started_at": started,
                    "completed_at": max(self._times).isoformat() if self._times else "",
                    "model_usage": {model: _usage(usage) for model, usage in self._usage.items()},
                },
            },
        )
        self._archive.close()

    def _spec(self, created: str) -> Json:
        definition = self._definition
        ids = [summary["id"] for summary in self._summaries]
        return {
            "eval_id": self._name,
            "run_id": self._name,
            "created": created,
            "task": self._name,
            "task_id": self._name,
            "dataset": {"name": "motions", "samples": len(ids), "sample_ids": ids},
            "model": "none/none",
            "config": {},
            "packages": {"moot": self._version},
            "metadata": msgspec.to_builtins(definition) if definition else {},
        }

    def _write(self, name: str, value: Any) -> None:
        self._archive.writestr(name, msgspec.json.encode(value))


def sample(
    result: LegResult,
    debate: Debate | None,
    ballots: Sequence[BallotRow],
    answers: Sequence[AnswerRow],
    metadata: Mapping[str, Any],
) -> Json:
    """One debate as Inspect's EvalSample."""
    speeches = [] if debate is None else sorted(debate.turns, key=lambda turn: turn.number)
    spoken = [turn for turn in speeches if not turn.struck]
    motion: Json = {"id": f"{result.debate}-motion", "role": "user", "content": result.motion}
    scores = {"verdict": _verdict(result, debate), **_judge_scores(ballots)}
    if answers:
        scores = _answer_scores(answers, ballots)
    made: Json = {
        "id": result.debate,
        "epoch": 1,
        "input": result.motion,
        "target": "",
        "messages": [motion],
        "output": {"model": "", "choices": [], "completion": ""},
        "scores": scores,
        "metadata": {
            **metadata,
            "status": result.status,
            "headline": result.headline,
            "cost": result.cost,
        },
        "events": [],
        "total_time": result.seconds,
    }
    if answers:
        made["target"] = ascii_uppercase[answers[0].answer]
        made["choices"] = list(answers[0].choices)
    if debate is not None:
        made["messages"] += [_message(debate, turn) for turn in spoken]
        made["events"] = [
            *(_speech_event(debate, turn, motion) for turn in spoken),
            *(_ballot_event(debate, row) for row in ballots),
        ]
        made["model_usage"] = {model: _usage(tally.usage) for model, tally in debate.tallies.items()}
        made["started_at"], made["completed_at"] = _time(debate.created_at), _time(debate.updated_at)
        made["metadata"] |= {
            "seats": {seat.name: {"model": seat.model.label, "side": seat.side} for seat in debate.seats},
        }
    if result.status == "error":
        made["error"] = {"message": result.headline, "traceback": "", "traceback_ansi": ""}
    return made


def _verdict(result: LegResult, debate: Debate | None) -> Json:
    verdict = debate.verdict if debate is not None else None
    if debate is None or verdict is None:
        return {"value": "none", "answer": "", "explanation": result.headline}
    winner = next((team for team in parties(debate) if team.id == verdict.winner), None)
    side = winner.seats[0].side if winner else ""
    value: float | str = SIDE_SCORES.get(side, winner.name) if winner else 0.5
    return {
        "value": value,
        "answer": winner.seats[0].model.label if winner else verdict.outcome,
        "explanation": result.headline,
        "metadata": {"margin": verdict.margin, "agreement": verdict.agreement, "flips": verdict.flips},
    }


def _judge_scores(rows: Iterable[BallotRow]) -> dict[str, Json]:
    """For each judge, the mean of its ballots of the debate, with the reasons."""
    ballots: dict[str, list[BallotRow]] = {}
    for row in rows:
        if row.winner != "none":
            ballots.setdefault(row.judge, []).append(row)
    return {
        judge: {
            "value": sum(SCORES[row.winner] for row in given) / len(given),
            "answer": ", ".join(row.winner for row in given),
            "explanation": _explanation(given),
        }
        for judge, given in ballots.items()
    }


def _answer_scores(answers: Iterable[AnswerRow], ballots: Sequence[BallotRow]) -> dict[str, Json]:
    """For each judge, or for the model that answered by itself, whether its answer is right."""
    scores: dict[str, Json] = {}
    for answer in answers:
        grade = "C" if answer.right == 1 else "P" if answer.right else "I"
        best = max(answer.probabilities)
        given = [
            ascii_uppercase[place] for place, chance in enumerate(answer.probabilities) if chance == best
        ]
        scores[answer.judge] = {
            "value": grade,
            "answer": given[0] if len(given) == 1 else "",
            "explanation": _explanation([row for row in ballots if row.judge == answer.judge]),
            "metadata": {"probabilities": answer.probabilities, "protocol": answer.protocol},
        }
    return scores


def _explanation(ballots: Iterable[BallotRow]) -> str:
    return "\n\n".join(dict.fromkeys(row.reason for row in ballots if row.reason))


def _message(debate: Debate, turn: Turn) -> Json:
    seat = debate.seat(turn.seat)
    return {
        "id": f"{debate.id}-{turn.number}",
        "role": "assistant",
        "model": seat.model.label,
        "content": f"**{seat.name}** ({seat.side}), {turn.phase}\n\n{turn.text}",
        "metadata": {"side": seat.side, "round": turn.round, "words": turn.words, "state": turn.state},
    }


def _speech_event(debate: Debate, turn: Turn, motion: Json) -> Json:
    message = _message(debate, turn)
    return {
        **_base_event(debate, f"{debate.id}-call-{turn.number}", turn.started_at),
        "event": "model",
        "model": message["model"],
        "role": debate.seat(turn.seat).side,
        "input": [motion],
        "tools": [],
        "tool_choice": "none",
        "config": {},
        "output": {
            "model": message["model"],
            "choices": [{"message": message, "stop_reason": "stop"}],
            "usage": _usage(turn.usage),
            "time": turn.latency_ms / 1000,
        },
        "completed": _time(turn.ended_at or turn.started_at),
    }


def _ballot_event(debate: Debate, row: BallotRow) -> Json:
    return {
        **_base_event(debate, f"{debate.id}-ballot-{row.judging}-{row.judge}-{row.order}", debate.updated_at),
        "event": "score",
        "scorer": row.judge,
        "intermediate": True,
        "score": {
            "value": SCORES.get(row.winner, "none"),
            "answer": row.winner,
            "explanation": row.reason,
            "metadata": {
                "margin": row.margin,
                "order": row.order,
                "judging": row.judging,
                "cites": row.cites,
                "criteria": row.criteria,
                "pro_points": row.pro_points,
                "con_points": row.con_points,
            },
        },
    }


def _base_event(debate: Debate, uuid: str, at: datetime) -> Json:
    start = (at - debate.created_at).total_seconds()
    return {"uuid": uuid, "timestamp": _time(at), "working_start": start}


def _summary(made: Mapping[str, Any]) -> Json:
    names = (
        "id",
        "epoch",
        "input",
        "target",
        "metadata",
        "scores",
        "started_at",
        "completed_at",
        "total_time",
    )
    summary = {name: made[name] for name in names if name in made}
    error = made.get("error")
    summary |= {"completed": True, "message_count": len(made["messages"])}
    return summary | ({"error": error["message"]} if error else {})


def _mean_score(name: str, values: list[float]) -> Json:
    mean = sum(values) / len(values)
    return {
        "name": name,
        "scorer": name,
        "scored_samples": len(values),
        "metrics": {"mean": {"name": "mean", "value": mean, "params": {}}},
    }


def _usage(usage: Usage) -> Json:
    """Inspect counts cached tokens apart from `input_tokens`; ours are included."""
    return {
        "input_tokens": max(0, usage.input - usage.cached - usage.cache_write),
        "output_tokens": usage.output,
        "total_tokens": usage.total,
        "input_tokens_cache_read": usage.cached,
        "input_tokens_cache_write": usage.cache_write,
        "reasoning_tokens": usage.reasoning,
    }


def _time(at: datetime) -> str:
    return at.isoformat()
