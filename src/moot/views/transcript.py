"""A debate as it is read afterwards: rounds of speeches, remarks, votes, verdicts, costs.

`transcript(debate)` is the value from which every export is made. Reasoning comes along only where it is
asked for, and what is secret (objectives, system prompts, notes, drafts, side questions) never does. A
speaker of a simultaneous round reads the other speeches after their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise
from typing import Literal

from msgspec import Struct

from moot.core.json_types import choose
from moot.core.state import REPLAYED_INTERRUPTIONS, Debate, PointOfInformation, Turn
from moot.core.statuses import Status
from moot.core.terms import Money, Reasoning, Truncation, Usage
from moot.core.visibility import OWNER, Viewer, is_withheld, may_hear, may_read_reasoning
from moot.core.word_count import CLIPPED_MARK, count_words, first_words
from moot.extension import Fact, Reported, loaded
from moot.prompts.first_words import count_first_words, first_words_note
from moot.views import outcome
from moot.views.costs import CostReport, costs
from moot.views.early_end import early_end
from moot.views.participants import ParticipantView, judge_seat, participants
from moot.views.poll_results import PollReport, poll_report
from moot.views.speech_issues import Issues, find_issues, is_cut_off
from moot.views.tool_uses import ToolUse, tool_uses
from moot.views.transcript_shapes import DebateJudge, TranscriptPoint, TranscriptRemark
from moot.views.verdict_views import VerdictView, has_yet_to_judge, verdict_views

SpeechFlag = Literal[
    "speaking", "truncated", "refusal", "interrupted", "failed", "struck", "over_length", "degraded"
]  # fmt: skip

TRUNCATED_NOTES: dict[Truncation, str] = {
    "timeout": "Cut off: its time was up.",
    "max_tokens": "Cut off: it reached its limit of tokens.",
    "cap": "Cut off: it went on far too long.",
    "filter": "Cut off by the provider's content filter.",
}
DEGRADED_NOTES: dict[str, str] = {
    "chain": "The whole debate was sent again: the provider could not go on from its own record.",
    "context_trimmed": "The earliest speeches were left out of what it was sent: the whole was too long.",
    "mended": "The provider's last word on this text differed from its stream, and counts.",
    "utf8": "Broken characters were replaced.",
}
INTERRUPTED_NOTES: dict[str, str] = {
    "skip": "Cut short: skipped.",
    "stop": "Cut short: the debate was stopped.",
    "pause": "Cut short by a pause.",
    "judge": "Cut short: the judge was called.",
    "decide": "Cut short: the debate was decided.",
    "abort": "Cut short: the debate was aborted.",
    "crash": "Cut short by a crash.",
    "drain": "Cut short: the program was stopped.",
    "budget": "Cut short: the cost limit was reached.",
    "unusable": "Cut short: a model of this debate cannot be used.",
    "absent": "Its speaker left it to the stand-in, or was not there in time.",
}
QUOTED_NOTE = "It answers the opponent's words as the client sent them, which differ from the speech before."
ANYONE = "anyone"
"""The name of visitors to a server without tokens."""
THOUGHT_SEPARATOR = "\n\n"
"""Between one thought and the next."""
_WORD = re.compile(r"\w+")
WITHHELD_NOTE = "Given at the same time as your own speech: you can read it when you have given yours."


class SpeechView(Struct, frozen=True):
    turn: int
    round: int
    speaker: ParticipantView
    phase: str
    title: str
    text: str
    words: int
    usage: Usage
    cost: Money | None
    latency_ms: int
    flags: tuple[SpeechFlag, ...]
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
    points: tuple[TranscriptPoint, ...] = ()
    uses: tuple[ToolUse, ...] = ()
    """The tools it was given with."""
    first_words: int = 0
    """The number of words at its start that Moot wrote for a very small model."""

    @property
    def heard(self) -> str:
        """The words that counted."""
        return first_words(self.text, self.clipped).removesuffix(CLIPPED_MARK) if self.clipped else self.text

    @property
    def unheard(self) -> str:
        """What went beyond its budget."""
        return self.text[len(self.heard) :]

    @property
    def parts(self) -> Iterator[str | ToolUse]:
        """The words that counted and the tools between them, in their order."""
        remaining, cut = self.heard, 0
        for use in self.uses:
            words, remaining, cut = remaining[: use.at - cut], remaining[use.at - cut :], use.at
            if words := words.strip("\n"):
                yield words
            yield use
        if words := remaining.lstrip("\n") if cut else remaining:
            yield words

    @property
    def counts(self) -> bool:
        """Whether it counts: it was neither struck nor given again."""
        return "struck" not in self.flags


class Transcript(Struct, frozen=True):
    id: str
    motion: str
    title: str
    format: str
    format_title: str
    status: Status
    participants: tuple[ParticipantView, ...]
    judges: tuple[DebateJudge, ...]
    rounds: dict[int, tuple[SpeechView, ...]]
    """The speeches of each round, by its number."""
    remarks: tuple[TranscriptRemark, ...]
    results: tuple[VerdictView, ...]
    """Every verdict that was reached: the first one counts."""
    audience: PollReport | None
    issues: Issues
    ending: str
    early_end: str
    """Why the speeches ended before the end of the format; empty where they did not."""
    costs: CostReport
    created_at: datetime
    completed_at: datetime | None
    seconds: float
    reports: tuple[Reported, ...] = ()
    """What extensions tell of the debate."""
    facts: tuple[Fact, ...] = ()
    """Figures of extensions."""
    first_words_note: str = ""
    """That Moot wrote the first words of speeches, where it did."""

    @property
    def verdict(self) -> VerdictView | None:
        return self.results[0] if self.results else None

    @property
    def later_verdicts(self) -> tuple[VerdictView, ...]:
        """How it was judged later on."""
        return self.results[1:]

    @property
    def by_vote(self) -> bool:
        """The votes are the verdict, and not only the people's choice beside it."""
        return self.verdict is not None and self.verdict.by == "audience"

    def issue_rows(self) -> Iterator[tuple[ParticipantView, str, tuple[int, ...]]]:
        """What went wrong: with whom, in words, and in which turns."""
        for seat in self.participants:
            for kind, turns in self.issues.by_seat.get(seat.id, {}).items():
                yield seat, self.issues.words(kind, turns), turns

    def speech(self, turn: int) -> SpeechView | None:
        return next((s for speeches in self.rounds.values() for s in speeches if s.turn == turn), None)

    def remarks_before(self, turn: int | None) -> tuple[TranscriptRemark, ...]:
        """Those before this speech; with None, those that wait for one."""
        return tuple(remark for remark in self.remarks if remark.before_turn == turn)

    def seat(self, id: str) -> ParticipantView:
        return next(seat for seat in self.participants if seat.id == id)


def transcript(debate: Debate, *, reasoning: bool = False, viewer: Viewer = OWNER) -> Transcript:
    """With `reasoning`, also what the speakers thought, where this viewer may read it."""
    reasoning = reasoning and may_read_reasoning(debate, viewer)
    seats = participants(debate)
    turns = sorted((*debate.turns, *debate.live), key=lambda turn: turn.number)
    speeches = [_speech(debate, turn, seats, reasoning, viewer) for turn in turns]
    return Transcript(
        id=debate.id,
        motion=debate.motion,
        title=debate.title,
        format=debate.format.name,
        format_title=debate.format.title,
        status=debate.status,
        participants=tuple(seats.values()),
        judges=tuple(judge_seat(judge) for judge in debate.judges),
        rounds={
            number: tuple(speech for speech in speeches if speech.round == number)
            for number in sorted({turn.round for turn in turns})
        },
        remarks=tuple(
            choose(
                TranscriptRemark,
                remark,
                before_turn=next((turn.number for turn in turns if turn.seq > remark.seq), None),
            )
            for remark in debate.remarks
            if remark.question or may_hear(remark.to, viewer)
        ),
        results=verdict_views(debate, viewer),
        audience=None if has_yet_to_judge(debate, viewer) else poll_report(debate),
        issues=find_issues(debate),
        ending=outcome.ending(debate),
        early_end=early_end(debate),
        costs=costs(debate),
        created_at=debate.created_at,
        completed_at=debate.ended_at,
        seconds=seconds_taken(debate),
        reports=loaded().reports(debate, viewer),
        facts=loaded().facts(debate, viewer),
        first_words_note=first_words_note(debate) if any(speech.first_words for speech in speeches) else "",
    )


def seconds_taken(debate: Debate) -> float:
    """From the start to the end, or to the last event."""
    return ((debate.ended_at or debate.updated_at) - (debate.started_at or debate.created_at)).total_seconds()


def _speech(
    debate: Debate, turn: Turn, seats: dict[str, ParticipantView], reasoning: bool, viewer: Viewer
) -> SpeechView:
    hidden = is_withheld(debate, turn.number, viewer)
    return SpeechView(
        turn=turn.number,
        round=turn.round,
        speaker=seats[turn.seat],
        phase=turn.phase,
        title=speech_title(debate, turn),
        text="" if hidden else turn.text,
        words=turn.words or count_words(turn.text),
        usage=turn.usage,
        cost=turn.cost,
        latency_ms=turn.latency_ms,
        flags=speech_flags(turn),
        notes=(*speech_notes(turn), WITHHELD_NOTE) if hidden else speech_notes(turn),
        started_at=turn.started_at,
        reasoning=thoughts(turn) if reasoning and not hidden else "",
        budget=debate.word_budget(turn.slot),
        clipped=turn.clipped,
        by_hand=by_hand(turn),
        speaks_as=speaker_role(debate, turn),
        points=tuple(_point(point, seats) for point in debate.points if point.turn == turn.number),
        uses=() if hidden else tool_uses(turn, thoughts=reasoning),
        first_words=0 if hidden or by_hand(turn) else count_first_words(debate, turn),
    )


def _point(point: PointOfInformation, seats: dict[str, ParticipantView]) -> TranscriptPoint:
    return choose(
        TranscriptPoint,
        point,
        participant=seats[point.seat].name,
        participant_id=point.seat,
        text=point.text if point.accepted else "",
    )


def remark_source(remark: TranscriptRemark) -> str:
    """Who said it: a name, or where there is none the role."""
    return author_name(remark.by) or ("the audience" if remark.question else "the moderator")


def author_name(by: str) -> str:
    """Who did it, where that is a name."""
    return "" if by == ANYONE else by


def by_hand(turn: Turn) -> bool:
    """Whether a person gave the speech: such a call has no token limit. The seat may have a model now."""
    return turn.call is not None and not turn.max_tokens


def speech_title(debate: Debate, turn: Turn) -> str:
    phase = debate.phase(turn.slot)
    if debate.tone(turn) == "continuation":
        return f"{phase.title}, continued"
    return f"{phase.title}: {turn.tone}" if turn.tone in ("question", "answer") else phase.title


def speaker_role(debate: Debate, turn: Turn) -> str:
    """Whose speech it is in the format's own words, where its title does not say so already."""
    phase = debate.phase(turn.slot)
    title_words = {"speaker", "of", "the", *_WORD.findall(phase.title.casefold())}
    return "" if title_words.issuperset(_WORD.findall(phase.speaks_as.casefold())) else phase.speaks_as


def thoughts(turn: Turn) -> str:
    """Those that are whole, and those in which it was cut."""
    parts = [segment.text for segment in turn.shown if isinstance(segment, Reasoning) and segment.text]
    finished = "".join(parts)
    cut = turn.reasoning[len(finished) :] if turn.reasoning.startswith(finished) else ""
    return THOUGHT_SEPARATOR.join([*parts, cut] if cut else parts)


def streamed_thoughts(turn: Turn) -> str:
    """Those of a live speech, in the order in which they came: they only grow."""
    starts: list[int] = []
    last = None
    for run in turn.runs:
        if run.kind == "reasoning":
            if last not in (None, run.index) and 0 < run.start < len(turn.reasoning):
                starts.append(run.start)
            last = run.index
    cuts = [0, *dict.fromkeys(starts), len(turn.reasoning)]
    return THOUGHT_SEPARATOR.join(turn.reasoning[start:end] for start, end in pairwise(cuts))


def speech_flags(turn: Turn) -> tuple[SpeechFlag, ...]:
    given_again = turn.state == "interrupted" and turn.by in REPLAYED_INTERRUPTIONS
    raised: dict[SpeechFlag, bool] = {
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


def speech_notes(turn: Turn) -> tuple[str, ...]:
    lines: list[str] = []
    if turn.state == "failed":
        lines.append(f"No speech: {turn.message or turn.by}")
    if turn.state == "interrupted":
        lines.append(INTERRUPTED_NOTES.get(turn.by, "Cut short."))
    if turn.refusal:
        category = f" (category: {turn.refusal_category})" if turn.refusal_category else ""
        lines.append(f"The model refused to speak to this{category}.")
    if turn.truncated and is_cut_off(turn):
        lines.append(TRUNCATED_NOTES[turn.truncated])
    if turn.clipped:
        lines.append(f"Longer than its word budget: only the first {turn.clipped:,} words count.")
    elif turn.over_length:
        lines.append("Longer than its word budget.")
    lines.extend(
        DEGRADED_NOTES.get(mark, f"Given with limits: {mark}") for mark in turn.degraded.split(",") if mark
    )
    if turn.quoted:
        lines.append(QUOTED_NOTE)
    if "struck" in speech_flags(turn):
        lines.append("It does not count.")
    return tuple(lines)
