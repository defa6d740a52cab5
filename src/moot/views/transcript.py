"""A debate as it is read afterwards: rounds of speeches, remarks, votes, verdicts, costs.

`transcript(debate)` is the value from which every export is made. Reasoning comes along only where it is
asked for, and what is secret (objectives, system prompts, notes, drafts, whatever was asked aside) never
does. Whoever speaks at the same time as others reads them after their own speech.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from moot.core.state import REPLAYED, Debate, Point, Turn
from moot.core.terms import Money, Reasoning, Status, Truncation, Usage
from moot.core.visibility import OWNER, Viewer, may_hear, may_read_reasoning, veiled
from moot.core.word_count import CLIPPED, count, first_words
from moot.views import outcome
from moot.views.costs import Costs, costs
from moot.views.participants import JudgeSeat, Participant, judge_seat, participants
from moot.views.poll_results import Polled, polled
from moot.views.speech_issues import IN_WORDS, Accidents, accidents
from moot.views.tool_uses import Use, uses
from moot.views.verdict_views import Result, results

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
    "absent": "Its speaker left it to the stand-in, or was not there in time.",
}
ANYONE = "anyone"
"""So those are called who come to a server without tokens."""
BETWEEN = "\n\n"
"""Between one thought and the next."""
_WORD = re.compile(r"\w+")
VEILED = "Given at the same time as your own speech: you can read it when you have given yours."


class Offer(Struct, frozen=True):
    """A point of information. The words of one that was declined stay with whoever offered it."""

    by: Participant
    accepted: bool
    text: str


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
    budget: int = 0
    """The words it was allowed."""
    clipped: int = 0
    """Of its words only so many were heard; 0: all of them."""
    by_hand: bool = False
    """A person gave it."""
    speaks_as: str = ""
    """Prime Minister, 2A: where the title does not say it."""
    points: tuple[Offer, ...] = ()
    uses: tuple[Use, ...] = ()
    """The tools it was given with."""

    @property
    def heard(self) -> str:
        """The words that counted."""
        return first_words(self.text, self.clipped).removesuffix(CLIPPED) if self.clipped else self.text

    @property
    def unheard(self) -> str:
        """What went beyond its budget."""
        return self.text[len(self.heard) :]

    @property
    def told(self) -> Iterator[str | Use]:
        """The words that counted and the tools between them, in their order."""
        rest, cut = self.heard, 0
        for use in self.uses:
            words, rest, cut = rest[: use.at - cut], rest[use.at - cut :], use.at
            if words := words.strip("\n"):
                yield words
            yield use
        if words := rest.lstrip("\n") if cut else rest:
            yield words

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
    question: bool = False
    to_name: str = ""

    @property
    def author(self) -> str:
        return known(self.by)


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
    results: tuple[Result, ...]
    """Every verdict that was reached: the first one counts."""
    audience: Polled | None
    accidents: Accidents
    ending: str
    costs: Costs
    created_at: datetime
    completed_at: datetime | None
    seconds: float
    """From the start to the end, or to the last event."""

    @property
    def verdict(self) -> Result | None:
        return self.results[0] if self.results else None

    @property
    def again(self) -> tuple[Result, ...]:
        """How it was judged later on."""
        return self.results[1:]

    @property
    def by_vote(self) -> bool:
        """The votes are the verdict, and not only the people's choice beside it."""
        return self.verdict is not None and self.verdict.by == "audience"

    def mishaps(self) -> Iterator[tuple[Participant, str, tuple[int, ...]]]:
        """What went wrong: with whom, in words, and in which turns."""
        for seat in self.participants:
            for kind, turns in self.accidents.by_seat.get(seat.id, {}).items():
                yield seat, IN_WORDS[kind], turns

    def speech(self, turn: int) -> Speech | None:
        return next((s for part in self.rounds for s in part.speeches if s.turn == turn), None)


def transcript(debate: Debate, *, reasoning: bool = False, viewer: Viewer = OWNER) -> Transcript:
    """With `reasoning`, also what the speakers thought, where this viewer may read it."""
    reasoning = reasoning and may_read_reasoning(debate, viewer)
    seats = participants(debate)
    turns = sorted((*debate.turns, *debate.live), key=lambda turn: turn.number)
    speeches = [_speech(debate, turn, seats, reasoning, viewer) for turn in turns]
    started = debate.started_at or debate.created_at
    return Transcript(
        id=debate.id,
        motion=debate.motion,
        title=debate.title,
        format=debate.format.name,
        format_title=debate.format.title,
        status=debate.status,
        participants=tuple(seats.values()),
        judges=tuple(judge_seat(judge) for judge in debate.judges),
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
                question=remark.question,
                to_name=seats[remark.to].name if remark.to else "",
            )
            for remark in debate.remarks
            if remark.question or may_hear(remark.to, viewer)
        ),
        results=_results(debate, viewer),
        audience=None if _has_yet_to_judge(debate, viewer) else polled(debate),
        accidents=accidents(debate),
        ending=outcome.ending(debate),
        costs=costs(debate),
        created_at=debate.created_at,
        completed_at=debate.ended_at,
        seconds=((debate.ended_at or debate.updated_at) - started).total_seconds(),
    )


def _results(debate: Debate, viewer: Viewer) -> tuple[Result, ...]:
    """Whoever has yet to judge does not read over the others' shoulders."""
    found = results(debate)
    if not _has_yet_to_judge(debate, viewer):
        return found
    return tuple(replace(result, opinions=()) for result in found)


def _has_yet_to_judge(debate: Debate, viewer: Viewer) -> bool:
    return viewer.role == "judge" and debate.being_judged


def _speech(
    debate: Debate, turn: Turn, seats: dict[str, Participant], reasoning: bool, viewer: Viewer
) -> Speech:
    hidden = veiled(debate, turn.number, viewer)
    return Speech(
        turn=turn.number,
        round=turn.round,
        speaker=seats[turn.seat],
        phase=turn.phase,
        title=speech_title(debate, turn),
        text="" if hidden else turn.text,
        words=turn.words or count(turn.text),
        usage=turn.usage,
        cost=turn.cost,
        latency_ms=turn.latency_ms,
        flags=flags(turn),
        notes=(*notes(turn), VEILED) if hidden else notes(turn),
        started_at=turn.started_at,
        reasoning=thoughts(turn) if reasoning and not hidden else "",
        budget=debate.budget(turn.slot),
        clipped=turn.clipped,
        by_hand=by_hand(turn),
        speaks_as=role(debate, turn),
        points=tuple(_offer(point, seats) for point in debate.points if point.turn == turn.number),
        uses=() if hidden else uses(turn, thoughts=reasoning),
    )


def _offer(point: Point, seats: dict[str, Participant]) -> Offer:
    return Offer(seats[point.seat], point.accepted, point.text if point.accepted else "")


def known(by: str) -> str:
    """Who did it, where that is a name."""
    return "" if by == ANYONE else by


def by_hand(turn: Turn) -> bool:
    """Whoever sits there now: a person speaks by a call that has no tokens."""
    return turn.call is not None and not turn.max_tokens


def speech_title(debate: Debate, turn: Turn) -> str:
    phase = debate.phase(turn.slot)
    if debate.tone(turn) == "continuation":
        return f"{phase.title}, continued"
    return f"{phase.title}: {turn.tone}" if turn.tone in ("question", "answer") else phase.title


def role(debate: Debate, turn: Turn) -> str:
    """Whose speech it is in the format's own words, where its title does not say so already."""
    phase = debate.phase(turn.slot)
    said = {"speaker", "of", "the", *_WORD.findall(phase.title.casefold())}
    return "" if said.issuperset(_WORD.findall(phase.speaks_as.casefold())) else phase.speaks_as


def thoughts(turn: Turn) -> str:
    """Those that are whole, and those in which it was cut."""
    parts = [segment.text for segment in turn.shown if isinstance(segment, Reasoning)]
    whole = "".join(parts)
    cut = turn.reasoning[len(whole) :] if turn.reasoning.startswith(whole) else ""
    return BETWEEN.join([*parts, cut] if cut else parts)


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
    if turn.clipped:
        said.append(f"Longer than its word budget: only the first {turn.clipped:,} words count.")
    elif turn.over_length:
        said.append("Longer than its word budget.")
    said.extend(DEGRADED.get(mark, f"Given with limits: {mark}") for mark in turn.degraded.split(",") if mark)
    if "struck" in flags(turn):
        said.append("It is given again and does not count.")
    return tuple(said)
