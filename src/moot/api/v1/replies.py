"""The bodies of v1's replies: pure projections of a debate, with nothing secret in them.

Optional members of the contract are left out where they have no value; replies may have further members.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from moot.api.frames import SeenEvent, log_entry
from moot.api.shapes.debates import (
    CreateDebateResponse,
    CreatedEstimate,
    DebateSessionConfig,
    DebateStatusResponse,
    DebateSummary,
    ListDebatesResponse,
    Pagination,
    PollsConfig,
    Sitting,
)
from moot.api.shapes.records import EventPage
from moot.api.shapes.server_replies import EstimateResponse, ModelEstimate
from moot.api.v1 import people_replies, rounds
from moot.api.v1.command_replies import is_pausing
from moot.api.v1.states import STATES
from moot.core.json_types import Timestamp, as_number, choose
from moot.core.setup_table import setup_fields
from moot.core.state import Debate
from moot.core.statuses import FINAL, STOPPED
from moot.core.terms import Money, PollSettings, settings_of
from moot.core.visibility import OBSERVER, Viewer
from moot.rules.cost_estimate import CostEstimate, estimate, opening_of
from moot.store.contract import DebateHead, DebatePage
from moot.views.costs import costs, dollars
from moot.views.headlines import summary_headline, summary_names
from moot.views.outcome import ending, warnings
from moot.views.participants import judge_seat, participant, participants
from moot.views.preview import DebatePreview, cost_forecast
from moot.views.speech_issues import find_issues
from moot.views.summary import StoredSummary
from moot.views.transcript_json import cost_summary
from moot.views.transcript_shapes import DebateJudge, DebateParticipant
from moot.views.verdict_views import first_verdict

_summary = msgspec.json.Decoder(StoredSummary)


def created_reply(debate: Debate) -> CreateDebateResponse:
    """The debate as it was when it was opened, whatever has happened since."""
    judges = _judges(debate)
    return CreateDebateResponse(
        id=debate.id,
        status="initializing",
        topic=debate.motion,
        participants=_participants(debate),
        judge=judges[0] if judges else None,
        judges=judges,
        config=config_reply(debate),
        created_at=Timestamp.of(debate.created_at),
        stream_url=f"/api/v1/debates/{debate.id}/stream",
        format=debate.format.name,
        warnings=tuple(warnings(debate)),
        estimate=_created_estimate(debate),
    )


def _created_estimate(debate: Debate) -> CreatedEstimate | None:
    """None where nothing costs anything."""
    models = [player.model for player in (*debate.seats, *debate.panel) if not player.model.human]
    if all(model.price is not None and model.price.free for model in models):
        return None
    figures = estimate(opening_of(debate))
    return choose(
        CreatedEstimate,
        figures,
        smallest_limit=_amount(figures.smallest_limit.total) if figures.smallest_limit else None,
        holds=str(figures.holds or ""),
        text=cost_forecast(figures, debate.limits.cost_limit),
    )


def config_reply(debate: Debate) -> DebateSessionConfig:
    efforts = {seat.model.effort for seat in debate.seats}
    values = settings_of(debate.limits, debate.setup) | {
        "rounds": debate.rounds_planned or debate.limits.rounds,
        "effort": efforts.pop() if len(efforts) == 1 else None,
    }
    told = (field for field in setup_fields() if field.reply != "no")
    return DebateSessionConfig(**{field.keyword: _told(values[field.name]) for field in told})


def _told(value: Any) -> Any:
    match value:
        case PollSettings(before=before, seconds=seconds):
            return PollsConfig(before=before, seconds=_told(seconds))
        case Money():
            return as_number(value)
        case float():
            return int(value) if value.is_integer() else value
        case _:
            return value


def status_reply(debate: Debate, viewer: Viewer = OBSERVER) -> DebateStatusResponse:
    judges = _judges(debate)
    return DebateStatusResponse(
        id=debate.id,
        status=STATES[debate.status],
        topic=debate.motion,
        current_round=rounds.round_number(debate),
        max_rounds=debate.rounds_planned,
        participants=_participants(debate),
        judge=judges[0] if judges else None,
        judges=judges,
        rounds=rounds.summaries(debate, viewer),
        speaking=people_replies.speakers(debate),
        costs=cost_summary(costs(debate)),
        verdict=first_verdict(debate),
        verdicts=len(debate.verdicts),
        polls=people_replies.poll_replies(debate),
        warnings=tuple(warnings(debate)),
        accidents=_issue_counts(debate),
        created_at=Timestamp.of(debate.created_at),
        updated_at=Timestamp.of(debate.updated_at),
        completed_at=Timestamp.of(debate.ended_at),
        format=debate.format.name,
        config=config_reply(debate),
        stopped=debate.ended in STOPPED,
        pausing=is_pausing(debate),
        paused_for=debate.paused_for,
        ending=ending(debate),
        seq=debate.seq,
    )


def listing_reply(page: DebatePage, limit: int, offset: int) -> ListDebatesResponse:
    return ListDebatesResponse(
        debates=tuple(_listed_debate(head) for head in page.heads),
        pagination=Pagination(
            total=page.total,
            limit=limit,
            offset=offset,
            has_more=offset + len(page.heads) < page.total,
        ),
    )


def event_page_reply(seen: Sequence[SeenEvent], after: int, head: int) -> EventPage:
    """A page of the log after `after`, of a debate whose last event is `head`."""
    last = seen[-1].seq if seen else after
    return EventPage(
        events=tuple(log_entry(event) for event in seen), after=after, next=last, has_more=last < head
    )


def estimate_reply(
    figures: CostEstimate, programme: DebatePreview, limit: Money | None = None
) -> EstimateResponse:
    """US dollars; None where no price is known."""
    return choose(
        EstimateResponse,
        figures,
        currency="USD",
        low_text=dollars(figures.low),
        high_text=dollars(figures.high),
        text=cost_forecast(figures, limit),
        smallest_limit=_amount(figures.smallest_limit.total) if figures.smallest_limit else None,
        holds=str(figures.holds or ""),
        models=tuple(
            choose(ModelEstimate, model, input_tokens=model.input, output_tokens=model.output)
            for model in figures.models
        ),
        order=programme.order,
        warnings=programme.warnings,
    )


def _amount(amount: Money | None) -> Money | None:
    return None if amount is None else as_number(amount)


def _participants(debate: Debate) -> tuple[DebateParticipant, ...]:
    return tuple(map(participant, participants(debate).values()))


def _judges(debate: Debate) -> tuple[DebateJudge, ...]:
    return tuple(map(judge_seat, debate.judges))


def _issue_counts(debate: Debate) -> dict[str, dict[str, int]]:
    """The number of each kind of issue, by participant."""
    issues = find_issues(debate).by_seat
    return {seat: {kind: len(turns) for kind, turns in kinds.items()} for seat, kinds in issues.items()}


def _listed_debate(head: DebateHead) -> DebateSummary:
    summary = _summary.decode(head.summary)
    return choose(
        DebateSummary,
        summary,
        id=head.id,
        topic=head.motion,
        status=STATES[head.status],
        participant_count=len(summary.seats),
        current_round=rounds.current_round(head.status, summary.round),
        max_rounds=summary.rounds,
        total_cost=as_number(Money(summary.cost)),
        created_at=Timestamp.of(head.created_at),
        completed_at=Timestamp.of(head.updated_at) if head.status in FINAL else None,
        format=head.format,
        headline=summary_headline(summary),
        total_cost_text=_cost_text(summary),
        participants=_listed_participants(summary),
        waiting_for=summary.waits_for,
    )


def _listed_participants(summary: StoredSummary) -> tuple[Sitting, ...]:
    """The participants, as far as the summary has them."""
    gaps = ("",) * len(summary.seats)
    sides, colours = summary.sides or gaps, summary.colours or gaps
    rows = zip(summary.seats, summary_names(summary), summary.models, sides, colours, strict=False)
    return tuple(
        Sitting(name=name, shown=shown, model=model, position=side, color=colour)
        for name, shown, model, side, colour in rows
    )


def _cost_text(summary: StoredSummary) -> str:
    if not summary.unpriced:
        return dollars(Money(summary.cost))
    return f"{dollars(Money(summary.cost))} and more" if Money(summary.cost) else dollars(None)
