"""What is read from a golden log: the summary, and the facts that must never change."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from moot.core.events import Recorded, decode_recorded, encode
from moot.core.evolve import evolve
from moot.core.state import Debate, Turn
from moot.core.visibility import OBSERVER, OWNER, Viewer, visible_event
from moot.views.summary import summarize

HERE = Path(__file__).parent


def log_of(name: str, folder: Path = HERE) -> tuple[Recorded, ...]:
    return tuple(decode_recorded(line) for line in (folder / f"{name}.jsonl").read_bytes().splitlines())


def written(records: Sequence[Recorded]) -> bytes:
    return b"".join(encode(recorded) + b"\n" for recorded in records)


def snapshot(records: Sequence[Recorded]) -> bytes:
    """What the log says to this version of the program."""
    debate: Debate | None = None
    seen: dict[str, int] = {"owner": 0, "observer": 0, "participant": 0}
    for recorded in records:
        debate = evolve(debate, recorded)
        for viewer in (OWNER, OBSERVER, Viewer("participant", debate.seats[0].id)):
            seen[viewer.role] += visible_event(debate, recorded, viewer) is not None
    assert debate is not None
    read = {"summary": summarize(debate), "facts": facts(debate), "seen": seen}
    return msgspec.json.format(msgspec.json.encode(read), indent=1) + b"\n"


def facts(debate: Debate) -> dict[str, Any]:
    return {
        "seq": debate.seq,
        "turning": debate.unstreamed_seq,
        "epoch": debate.epoch,
        "status": debate.status,
        "round": [debate.round, debate.rounds_done, debate.rounds_planned],
        "schedule": [f"{slot.round} {slot.seat} {slot.tone}" for slot in debate.schedule],
        "skipped": debate.skipped,
        "turns": [turn_facts(turn) for turn in debate.turns],
        "remarks": [[remark.number, remark.seq, remark.to, remark.text] for remark in debate.remarks],
        "chains": {seat.id: debate.chained_response_id(seat.id) for seat in debate.seats},
        "calls": debate.calls_made,
        "tallies": debate.tallies,
        "counted": debate.counted,
        "warned": debate.warned,
        "judging": _judging(debate),
        "verdicts": debate.verdicts,
        "ended": [debate.ended, debate.ended_detail, debate.failure],
        "times": [debate.created_at, debate.started_at, debate.stopped_at, debate.ended_at],
    }


def _judging(debate: Debate) -> dict[str, Any] | None:
    judging = debate.judging
    if judging is None:
        return None
    return {name: getattr(judging, name) for name in ("number", "why", "ballots", "spoiled", "lost")}


def turn_facts(turn: Turn) -> dict[str, Any]:
    return {
        "turn": f"{turn.number} slot {turn.slot} seat {turn.seat} {turn.state} {turn.by}".strip(),
        "counts": [turn.used_slot, turn.has_words, turn.struck],
        "text": turn.text,
        "reasoning": turn.reasoning,
        "segments": len(turn.segments),
        "words": turn.words,
        "marks": [turn.truncated, turn.refusal, turn.over_length],
        "attempt": turn.attempt,
        "usage": turn.usage,
        "cost": turn.cost,
    }
