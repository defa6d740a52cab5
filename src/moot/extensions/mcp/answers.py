"""The answers of the tools: as data, and as a text that a model can read without knowing the data: pure.

`news(before, after)` is what was said between two positions of the log, complete speeches only.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from moot.core.events import DebateOpened
from moot.core.state import Debate, Turn
from moot.core.statuses import VerdictOutcome
from moot.core.word_count import count_words
from moot.judging.parties import party
from moot.rules.cost_estimate import estimate
from moot.rules.runner_decisions import wants_runner
from moot.views.costs import costs, dollars
from moot.views.outcome import ending, headline, warnings
from moot.views.preview import cost_forecast
from moot.views.transcript import INTERRUPTED_NOTES, TRUNCATED_NOTES
from moot.views.verdict_views import verdict_views

TranscriptForm = Literal["markdown", "json"]
"""The documents that a model reads well: see `core/terms.DocumentName` for all."""
HOW_TO_CONTINUE = {
    "paused": "steer_debate can resume it, have it judged, stop or abort it",
    "error": "steer_debate can have the speech given again (retry), have it judged, or stop it",
}
"""How a debate that waits can be continued."""


# --- shapes -------------------------------------------------------------------------------------------


class ToolAnswer(BaseModel):
    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)


class SeatInfo(ToolAnswer):
    name: str
    side: Literal["for", "against", "neutral"]
    model: str


class StartResult(ToolAnswer):
    id: str
    """For all the other tools."""
    motion: str
    format: str
    rounds: int
    seats: list[SeatInfo]
    judges: list[str]
    """The models that will judge."""
    cost: str
    """What it may come to, before the first word."""
    warnings: list[str]
    """What will weaken the verdict, and why there are fewer rounds than were asked for."""


class NewsItem(ToolAnswer):
    """Something that was said, or happened, since the last look."""

    kind: Literal["speech", "remark", "verdict"]
    who: str
    """The speaker; for a remark, its author."""
    round: int
    text: str
    note: str
    """What befell it: that it was cut short, for instance. Empty as a rule."""


class CurrentSpeaker(ToolAnswer):
    who: str
    words: int
    """So many so far."""


class FollowResult(ToolAnswer):
    id: str
    status: str
    news: list[NewsItem]
    speaking: list[CurrentSpeaker]
    """Who speaks at this moment."""
    next: int
    """Give it as `after` the next time."""
    over: bool
    """Nothing more will come."""
    waits: bool
    """It does not go on by itself: it was paused, it failed, or it waits for somebody."""


class SeatPoints(ToolAnswer):
    who: str
    score: float


class VerdictResult(ToolAnswer):
    id: str
    headline: str
    outcome: VerdictOutcome
    winner: str | None
    margin: str
    agreement: float
    """The share of ballots that name the winner."""
    doubts: list[str]
    """Whatever weakens the verdict. Worth telling along with it."""
    scores: list[SeatPoints]
    reasoning: str
    cost: str


class TranscriptResult(ToolAnswer):
    id: str
    form: TranscriptForm
    transcript: str


class ListedDebate(ToolAnswer):
    id: str
    motion: str
    format: str
    status: str
    created: str


class DebateListResult(ToolAnswer):
    debates: list[ListedDebate]
    total: int


class FormatInfo(ToolAnswer):
    name: str
    title: str
    summary: str
    chairs: list[str]
    """In this order `models` are seated."""
    rounds: int
    most_rounds: int


class FormatListResult(ToolAnswer):
    formats: list[FormatInfo]


class ModelInfo(ToolAnswer):
    name: str
    """As `models` and `judges` take it."""
    usable: bool
    what: str
    """Where it runs; or, where it cannot be used, what to do about it."""


class ModelListResult(ToolAnswer):
    models: list[ModelInfo]
    default: str
    """Speaks where nobody is named."""


class SteerResult(ToolAnswer):
    id: str
    status: str
    done: str


# --- from a debate ------------------------------------------------------------------------------------


def start_result(debate: Debate, cost: str) -> StartResult:
    return StartResult(
        id=debate.id,
        motion=debate.motion,
        format=debate.format.name,
        rounds=debate.rounds_planned,
        seats=[SeatInfo(name=s.name, side=s.side, model=s.model.label) for s in debate.seats],
        judges=[judge.model.label for judge in debate.panel],
        cost=cost,
        warnings=list(warnings(debate)),
    )


def forecast(planned: DebateOpened) -> str:
    """What it will cost, in words, and which part of that is not known."""
    tools = " What tools make necessary comes on top." if planned.setup.tools else ""
    return cost_forecast(estimate(planned), planned.limits.cost_limit) + tools


def follow_result(before: Debate | None, debate: Debate) -> FollowResult:
    return FollowResult(
        id=debate.id,
        status=debate.status,
        news=news(before, debate),
        speaking=[
            CurrentSpeaker(who=debate.seat(turn.seat).name, words=count_words(turn.text))
            for turn in debate.live
        ],
        next=debate.seq,
        over=is_over(debate),
        waits=not debate.final and not wants_runner(debate),
    )


def is_over(debate: Debate) -> bool:
    return debate.final and not debate.being_judged


def news(before: Debate | None, debate: Debate) -> list[NewsItem]:
    """Speeches and remarks in their order, then verdicts."""
    turns, remarks, verdicts = (
        (len(before.turns), len(before.remarks), len(before.verdicts)) if before else (0, 0, 0)
    )
    items = [(turn.seq, _speech(debate, turn)) for turn in debate.turns[turns:] if turn.used_slot]
    items += [
        (remark.seq, NewsItem(kind="remark", who=remark.by, round=debate.round, text=remark.text, note=""))
        for remark in debate.remarks[remarks:]
    ]
    verdict_items = [
        NewsItem(
            kind="verdict",
            who="",
            round=debate.round,
            text=headline(debate, verdict),
            note="debate_verdict tells why",
        )
        for verdict in debate.verdicts[verdicts:]
    ]
    return [*(item for _, item in sorted(items, key=lambda pair: pair[0])), *verdict_items]


def verdict_result(debate: Debate) -> VerdictResult | None:
    """The first verdict, which is the debate's own; None before there is one."""
    judgings = verdict_views(debate)
    if not judgings or debate.verdict is None:
        return None
    result = judgings[0]
    return VerdictResult(
        id=debate.id,
        headline=result.headline,
        outcome=result.outcome,
        winner=party(debate, debate.verdict.winner).name if debate.verdict.winner else None,
        margin=result.margin_words,
        agreement=result.agreement,
        doubts=list(result.doubts),
        scores=[SeatPoints(who=seat.name, score=score.score) for seat, score in result.scored_seats],
        reasoning=result.reasoning,
        cost=dollars(costs(debate).total),
    )


# --- as text ------------------------------------------------------------------------------------------


def no_verdict_text(debate: Debate) -> str:
    if is_over(debate):
        return f"There is no verdict, and none will come. {ending(debate)}".strip()
    if wants_runner(debate):
        return f"There is no verdict yet: it is {status_text(debate.status)}. follow_debate waits for it."
    return f"There is no verdict yet. {_waiting_text(debate)}"


def status_text(status: str) -> str:
    return "in error" if status == "error" else status.replace("_", " ")


def start_text(answer: StartResult) -> str:
    seats = "\n".join(f"- {seat.name} ({seat.side}): {seat.model}" for seat in answer.seats)
    judges = ", ".join(answer.judges) or "nobody"
    warned = "".join(f"{warning}\n" for warning in answer.warnings)
    return (
        f"Debate {answer.id} has begun: {answer.motion}\n{seats}\nJudged by {judges}.\n{answer.cost}.\n"
        f"{warned}See what is said with follow_debate."
    )


def news_text(answer: FollowResult, debate: Debate) -> str:
    parts = [_news_item_text(item) for item in answer.news]
    parts += [f"({speaker.who} is speaking: {speaker.words} words so far.)" for speaker in answer.speaking]
    if answer.over:
        parts.append(f"The debate is over. {ending(debate)}".strip())
    elif answer.waits:
        parts.append(_waiting_text(debate))
    else:
        parts.append(f"It goes on: follow it further with after={answer.next}.")
    return "\n\n".join(parts)


def verdict_text(answer: VerdictResult) -> str:
    scores = ", ".join(f"{points.who} {points.score:g}" for points in answer.scores)
    lines = [f"{answer.headline}.", answer.margin and f"{answer.margin}.", scores and f"Scores: {scores}."]
    lines += [answer.reasoning, *(f"Doubt: {doubt}" for doubt in answer.doubts), f"Cost: {answer.cost}."]
    return "\n".join(line for line in lines if line)


def _waiting_text(debate: Debate) -> str:
    advice, why = HOW_TO_CONTINUE.get(debate.status, ""), ending(debate)
    state = f"It does not go on by itself now: it is {status_text(debate.status)}"
    return " ".join(part for part in (f"{state}{f'; {advice}' if advice else ''}.", why) if part)


def _news_item_text(item: NewsItem) -> str:
    match item.kind:
        case "speech":
            note = f"\n({item.note})" if item.note else ""
            return f"{item.who}, round {item.round}:\n{item.text}{note}"
        case "remark":
            return f"A remark{f' by {item.who}' if item.who else ''}: {item.text}"
        case "verdict":
            return f"Verdict: {item.text} ({item.note})."


def _speech(debate: Debate, turn: Turn) -> NewsItem:
    return NewsItem(
        kind="speech",
        who=debate.seat(turn.seat).name,
        round=turn.round,
        text=turn.text or "(nothing was said)",
        note=_note(turn),
    )


def _note(turn: Turn) -> str:
    if turn.state == "failed":
        return turn.message
    if turn.state == "interrupted":
        return INTERRUPTED_NOTES.get(turn.by, "Cut short.")
    return TRUNCATED_NOTES[turn.truncated] if turn.truncated else ""
