"""A debate as it is read afterwards: rounds of speeches, remarks, verdict, costs.

`transcript(debate)` is the value from which every export is made. Reasoning comes along only where it is
asked for, and what is secret (objectives, system prompts) never does.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from msgspec import Struct

from moot.audience import OWNER, Viewer, may_hear
from moot.debate import REPLAYED, Debate, Turn
from moot.terms import Money, Reasoning, Side, Status, Truncation, Usage
from moot.views import outcome
from moot.views.costs import Costs, costs
from moot.views.outcome import Leaning

Flag = Literal[
    "speaking", "truncated", "refusal", "interrupted", "failed", "struck", "over_length", "degraded"
]  # fmt: skip

TRUNCATED: dict[Truncation, str] = {
    "timeout": "Cut off: its time was up.",
    "max_tokens": "Cut off: it reached its limit of tokens.",
    "cap": "Cut off: it went on far too long.",
    "filter": "Cut off by the provider's content filter.",
}
DEGRADED: dict[str, str] = {
    "chain": "The whole debate was sent again: the provider could not go on from its own record.",
    "context_trimmed": "The earliest speeches were left out of what it was sent: the whole was too long.",
    "mended": "The provider's last word on this text differed from its stream, and counts.",
    "utf8": "Broken characters were replaced.",
}
CUT: dict[str, str] = {
    "skip": "Cut short: skipped.",
    "stop": "Cut short: the debate was stopped.",
    "pause": "Cut short by a pause.",
    "judge": "Cut short: the judge was called.",
    "decide": "Cut short: the debate was decided.",
    "abort": "Cut short: the debate was aborted.",
    "crash": "Cut short by a crash.",
    "drain": "Cut short: the program was stopped.",
    "budget": "Cut short: the cost limit was reached.",
}


class Participant(Struct, frozen=True):
    id: str
    name: str
    model: str
    side: Side
    colour: str
    place: int
    persona: str = ""


class Speech(Struct, frozen=True):
    turn: int
    round: int
    speaker: Participant
    phase: str
    title: str
    text: str
    words: int
    usage: Usage
    cost: Money | None
    latency_ms: int
    flags: tuple[Flag, ...]
    notes: tuple[str, ...]
    """The flags in words."""
    started_at: datetime
    reasoning: str = ""

    @property
    def counts(self) -> bool:
        """It was heard; the others were struck, or given again."""
        return "struck" not in self.flags


class Round(Struct, frozen=True):
    number: int
    speeches: tuple[Speech, ...]


class Remark(Struct, frozen=True):
    text: str
    by: str
    to: str | None
    at: datetime
    before: int | None
    """The first turn that started after it; None while it waits for one."""


class SeatScore(Struct, frozen=True):
    seat: Participant
    score: float
    strengths: tuple[str, ...]
    weaknesses: tuple[str, ...]


class Result(Struct, frozen=True):
    """The verdict, with seats in place of ids and its doubts in words."""

    headline: str
    outcome: Literal["win", "too-close", "draw"]
    winner: Participant | None
    by: str
    margin: float
    margin_words: str
    agreement: float
    ballots: int
    flips: int
    doubts: tuple[str, ...]
    scores: tuple[SeatScore, ...]
    leanings: tuple[Leaning, ...]
    reasoning: str
    criteria: dict[str, str]


class JudgeSeat(Struct, frozen=True):
    id: str
    name: str
    model: str


class Transcript(Struct, frozen=True):
    id: str
    motion: str
    title: str
    format: str
    format_title: str
    status: Status
    participants: tuple[Participant, ...]
    judges: tuple[JudgeSeat, ...]
    rounds: tuple[Round, ...]
    remarks: tuple[Remark, ...]
    verdict: Result | None
    ending: str
    costs: Costs
    created_at: datetime
    completed_at: datetime | None
    seconds: float
    """From the start to the end, or to the last event."""


def transcript(debate: Debate, *, reasoning: bool = False, viewer: Viewer = OWNER) -> Transcript:
    participants = {
        seat.id: Participant(
            seat.id, seat.name, seat.model.label, seat.side, seat.colour, place, seat.persona
        )
        for place, seat in enumerate(debate.seats)
    }
    turns = sorted((*debate.turns, *debate.live), key=lambda turn: turn.number)
    speeches = [_speech(debate, turn, participants[turn.seat], reasoning) for turn in turns]
    started = debate.started_at or debate.created_at
    return Transcript(
        id=debate.id,
        motion=debate.motion,
        title=debate.title,
        format=debate.format.name,
        format_title=debate.format.title,
        status=debate.status,
        participants=tuple(participants.values()),
        judges=tuple(JudgeSeat(judge.id, judge.name, judge.model.label) for judge in debate.judges),
        rounds=tuple(
            Round(number, tuple(speech for speech in speeches if speech.round == number))
            for number in sorted({turn.round for turn in turns})
        ),
        remarks=tuple(
            Remark(
                text=remark.text,
                by=remark.by,
                to=remark.to,
                at=remark.at,
                before=next((turn.number for turn in turns if turn.seq > remark.seq), None),
            )
            for remark in debate.remarks
            if may_hear(remark.to, viewer)
        ),
        verdict=_result(debate, participants),
        ending=outcome.ending(debate),
        costs=costs(debate),
        created_at=debate.created_at,
        completed_at=debate.ended_at,
        seconds=((debate.ended_at or debate.updated_at) - started).total_seconds(),
    )


def _speech(debate: Debate, turn: Turn, speaker: Participant, reasoning: bool) -> Speech:
    return Speech(
        turn=turn.number,
        round=turn.round,
        speaker=speaker,
        phase=turn.phase,
        title=speech_title(debate, turn),
        text=turn.text,
        words=turn.words or len(turn.text.split()),
        usage=turn.usage,
        cost=turn.cost,
        latency_ms=turn.latency_ms,
        flags=flags(turn),
        notes=notes(turn),
        started_at=turn.started_at,
        reasoning=thoughts(turn) if reasoning else "",
    )


def speech_title(debate: Debate, turn: Turn) -> str:
    phase = debate.phase(turn.slot)
    return f"{phase.title}: {turn.tone}" if turn.tone in ("question", "answer") else phase.title


def thoughts(turn: Turn) -> str:
    parts = [segment.text for segment in turn.segments if isinstance(segment, Reasoning)]
    return "\n\n".join(parts) if parts else turn.reasoning


def flags(turn: Turn) -> tuple[Flag, ...]:
    given_again = turn.state == "interrupted" and turn.by in REPLAYED
    raised: dict[Flag, bool] = {
        "speaking": turn.state == "live",
        "failed": turn.state == "failed",
        "interrupted": turn.state == "interrupted",
        "struck": turn.struck or given_again,
        "truncated": turn.truncated is not None,
        "refusal": turn.refusal,
        "over_length": turn.over_length,
        "degraded": bool(turn.degraded),
    }
    return tuple(flag for flag, up in raised.items() if up)


def notes(turn: Turn) -> tuple[str, ...]:
    said: list[str] = []
    if turn.state == "failed":
        said.append(f"No speech: {turn.message or turn.by}")
    if turn.state == "interrupted":
        said.append(CUT.get(turn.by, "Cut short."))
    if turn.refusal:
        said.append("The model refused to speak to this.")
    if turn.truncated:
        said.append(TRUNCATED[turn.truncated])
    if turn.over_length:
        said.append("Longer than its word budget.")
    said.extend(DEGRADED.get(mark, f"Given with limits: {mark}") for mark in turn.degraded.split(",") if mark)
    if "struck" in flags(turn):
        said.append("It is given again and does not count.")
    return tuple(said)


def _result(debate: Debate, participants: dict[str, Participant]) -> Result | None:
    verdict = debate.verdict
    if verdict is None:
        return None
    return Result(
        headline=outcome.headline(debate, verdict),
        outcome=verdict.outcome,
        winner=participants[verdict.winner] if verdict.winner else None,
        by=verdict.by,
        margin=verdict.margin,
        margin_words=outcome.margin(debate, verdict),
        agreement=verdict.agreement,
        ballots=len(outcome.ballots(debate)) if verdict.by == "judges" else 0,
        flips=verdict.flips,
        doubts=outcome.doubts(debate, verdict),
        scores=tuple(
            SeatScore(participants[seat], score.score, score.strengths, score.weaknesses)
            for seat, score in verdict.scores.items()
        ),
        leanings=outcome.leanings(debate) if verdict.by == "judges" else (),
        reasoning=verdict.reasoning,
        criteria=dict(verdict.criteria),
    )
