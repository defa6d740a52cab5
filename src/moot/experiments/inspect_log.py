"""Debates as a log of Inspect (inspect_ai), whose viewer opens it: `inspect view --log-dir FOLDER`.

A sample is a debate: its input is the motion, its messages are the speeches, its scores the verdict and the
ballots of each judge (1: for the motion, 0: against it, 0.5: neither), its events the calls for the speeches
and the ballots. A `.eval` file is a ZIP archive of JSON, so samples are written one by one; only their
summaries stay in memory. Nothing of inspect_ai is needed to write it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import msgspec

from moot.core.errors import Invalid
from moot.core.state import Debate, Turn
from moot.core.terms import Usage
from moot.experiments.definition import ExperimentDefinition
from moot.experiments.judgments import SCORES, Judgment
from moot.experiments.leg_results import LegResult
from moot.judging.parties import parties

Json = dict[str, Any]
LOG_VERSION = 2
"""Of Inspect's format."""
SIDE_SCORES = {"for": 1.0, "against": 0.0}


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

    def add(self, result: LegResult, debate: Debate | None) -> None:
        """Add one debate; without its log, the sample has scores and no speeches."""
        made = sample(result, debate)
        self._write(f"samples/{made['id']}_epoch_1.json", made)
        self._summaries.append(_summary(made))
        for name, score in made["scores"].items():
            if isinstance(score["value"], float):
                self._values.setdefault(name, []).append(score["value"])
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


def sample(result: LegResult, debate: Debate | None) -> Json:
    """One debate as Inspect's EvalSample."""
    speeches = [] if debate is None else sorted(debate.turns, key=lambda turn: turn.number)
    spoken = [turn for turn in speeches if not turn.struck]
    motion: Json = {"id": f"{result.debate}-motion", "role": "user", "content": result.motion}
    scores = {"verdict": _verdict(result, debate), **_judge_scores(result.judgments)}
    made: Json = {
        "id": result.debate,
        "epoch": 1,
        "input": result.motion,
        "target": "",
        "messages": [motion],
        "output": {"model": "", "choices": [], "completion": ""},
        "scores": scores,
        "metadata": {"status": result.status, "headline": result.headline, "cost": result.cost},
        "events": [],
        "total_time": result.seconds,
    }
    if debate is not None:
        made["messages"] += [_message(debate, turn) for turn in spoken]
        made["events"] = [
            *(_speech_event(debate, turn, motion) for turn in spoken),
            *(_ballot_event(debate, row) for row in result.judgments),
        ]
        made["model_usage"] = {model: _usage(tally.usage) for model, tally in debate.tallies.items()}
        made["started_at"], made["completed_at"] = _time(debate.created_at), _time(debate.updated_at)
        made["metadata"] |= {
            "format": debate.format.name,
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


def _judge_scores(rows: Iterable[Judgment]) -> dict[str, Json]:
    """For each judge, the mean of its ballots of the debate."""
    values: dict[str, list[float]] = {}
    for row in rows:
        if row.winner != "none":
            values.setdefault(row.judge, []).append(SCORES[row.winner])
    return {judge: {"value": sum(each) / len(each)} for judge, each in values.items()}


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


def _ballot_event(debate: Debate, row: Judgment) -> Json:
    return {
        **_base_event(debate, f"{debate.id}-ballot-{row.judging}-{row.judge}-{row.order}", debate.updated_at),
        "event": "score",
        "scorer": row.judge,
        "intermediate": True,
        "score": {
            "value": SCORES.get(row.winner, "none"),
            "answer": row.winner,
            "metadata": {"margin": row.margin, "order": row.order, "judging": row.judging},
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
