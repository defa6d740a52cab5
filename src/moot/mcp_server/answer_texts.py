"""A debate as those are told of it who hold it through a tool: pure.

`news(before, after)` is what was said between two points of the log, whole speeches only; `in_words` puts an
answer into a text that a model can read without knowing its shape.
"""

from __future__ import annotations

from moot.core.events import DebateOpened
from moot.core.state import Debate, Turn
from moot.core.word_count import count_words
from moot.engine.placement import wants_runner
from moot.judging.parties import party
from moot.mcp_server.results import (
    CurrentSpeaker,
    FollowResult,
    NewsItem,
    SeatInfo,
    SeatPoints,
    StartResult,
    VerdictResult,
)
from moot.rules.cost_estimate import estimate
from moot.views.costs import costs, dollars
from moot.views.outcome import ending, headline
from moot.views.transcript import INTERRUPTED_NOTES, TRUNCATED_NOTES
from moot.views.verdict_views import verdict_views

HOW_TO_CONTINUE = {
    "paused": "steer_debate can resume it, have it judged, stop or abort it",
    "error": "steer_debate can have the speech given again (retry), have it judged, or stop it",
}
"""What helps a debate on that does not go on by itself."""


def start_result(debate: Debate, cost: str) -> StartResult:
    return StartResult(
        id=debate.id,
        motion=debate.motion,
        format=debate.format.name,
        rounds=debate.rounds_planned,
        seats=[SeatInfo(name=s.name, side=s.side, model=s.model.label) for s in debate.seats],
        judges=[judge.model.label for judge in debate.panel],
        cost=cost,
    )


def cost_forecast(planned: DebateOpened) -> str:
    """What it may cost, in words, and what cannot be told of that."""
    figures = estimate(planned)
    limit = "" if planned.limits.cost is None else f", and never more than {dollars(planned.limits.cost)}"
    unknown = f"; nobody knows the price of {', '.join(figures.unpriced)}" if figures.unpriced else ""
    tools = "; what tools make necessary comes on top" if planned.manner.tools else ""
    if figures.low is None or figures.high is None:
        return f"It may cost anything{limit}{unknown}{tools}"
    if not figures.high:
        return f"It costs nothing{unknown}{tools}"
    span = (
        dollars(figures.low)
        if figures.low == figures.high
        else f"{dollars(figures.low)} to {dollars(figures.high)}"
    )
    return f"It may cost {span}{limit}{unknown}{tools}"


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
    """In the order in which they came."""
    turns, remarks, verdicts = (
        (len(before.turns), len(before.remarks), len(before.verdicts)) if before else (0, 0, 0)
    )
    pieces = [(turn.seq, _speech(debate, turn)) for turn in debate.turns[turns:] if turn.used_slot]
    pieces += [
        (remark.seq, NewsItem(kind="remark", who=remark.by, round=debate.round, text=remark.text, note=""))
        for remark in debate.remarks[remarks:]
    ]
    items = [piece for _, piece in sorted(pieces, key=lambda pair: pair[0])]
    items += [
        NewsItem(
            kind="verdict",
            who="",
            round=debate.round,
            text=headline(debate, verdict),
            note="debate_verdict tells why",
        )
        for verdict in debate.verdicts[verdicts:]
    ]
    return items


def verdict_result(debate: Debate) -> VerdictResult | None:
    """The verdict that counts; None before there is one."""
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
        scores=[SeatPoints(who=one.seat.name, score=one.score) for one in result.scores],
        reasoning=result.reasoning,
        cost=dollars(costs(debate).total),
    )


# --- in words -----------------------------------------------------------------------------------------


def no_verdict_text(debate: Debate) -> str:
    if is_over(debate):
        return f"There is no verdict, and none will come. {ending(debate)}".strip()
    if wants_runner(debate):
        return f"There is no verdict yet: it is {status_text(debate.status)}. follow_debate waits for it."
    return f"There is no verdict yet. {_at_rest(debate)}"


def status_text(status: str) -> str:
    return "in error" if status == "error" else status.replace("_", " ")


def start_text(answer: StartResult) -> str:
    seats = "\n".join(f"- {seat.name} ({seat.side}): {seat.model}" for seat in answer.seats)
    judges = ", ".join(answer.judges) or "nobody"
    return (
        f"Debate {answer.id} has begun: {answer.motion}\n{seats}\nJudged by {judges}.\n{answer.cost}.\n"
        f"See what is said with follow_debate."
    )


def news_text(answer: FollowResult, debate: Debate) -> str:
    parts = [_in_words(piece) for piece in answer.news]
    parts += [f"({one.who} is speaking: {one.words} words so far.)" for one in answer.speaking]
    if answer.over:
        parts.append(f"The debate is over. {ending(debate)}".strip())
    elif answer.waits:
        parts.append(_at_rest(debate))
    else:
        parts.append(f"It goes on: follow it further with after={answer.next}.")
    return "\n\n".join(parts)


def verdict_text(answer: VerdictResult) -> str:
    scores = ", ".join(f"{one.who} {one.score:g}" for one in answer.scores)
    lines = [f"{answer.headline}.", answer.margin and f"{answer.margin}.", scores and f"Scores: {scores}."]
    lines += [answer.reasoning, *(f"Doubt: {doubt}" for doubt in answer.doubts), f"Cost: {answer.cost}."]
    return "\n".join(line for line in lines if line)


def _at_rest(debate: Debate) -> str:
    advice, why = HOW_TO_CONTINUE.get(debate.status, ""), ending(debate)
    state = f"It does not go on by itself now: it is {status_text(debate.status)}"
    return " ".join(part for part in (f"{state}{f'; {advice}' if advice else ''}.", why) if part)


def _in_words(piece: NewsItem) -> str:
    match piece.kind:
        case "speech":
            note = f"\n({piece.note})" if piece.note else ""
            return f"{piece.who}, round {piece.round}:\n{piece.text}{note}"
        case "remark":
            return f"A remark{f' by {piece.who}' if piece.who else ''}: {piece.text}"
        case "verdict":
            return f"Verdict: {piece.text} ({piece.note})."


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
