"""The examples of the OpenAPI document: replies and events about the sample debate of the start page.

The log of the sample debate is folded, and the code that answers requests makes the replies, v1's dialect the
events. What did not happen in it, such as a pause or a vote, is given to it first, as a command or an event.
Only replies that are not about a debate are written here. Bodies have their examples in their classes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from functools import cache
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from moot import __version__
from moot.api.auth import ANYONE
from moot.api.command_table import COMMANDS, CommandContext
from moot.api.frames import SeenEvent
from moot.api.page_view.view_frames import ViewFrames
from moot.api.shapes import server_replies as server
from moot.api.shapes.debates import TicketResponse
from moot.api.shapes.page_view import FramesResponse
from moot.api.shapes.seats_and_polls import InvitationsResponse
from moot.api.shapes.stream_events import EVENTS
from moot.api.v1 import people_bodies, people_replies, replies
from moot.api.v1.stream_frames import V1Frames
from moot.core.errors import Invalid, Refused
from moot.core.events import (
    BudgetWarned,
    CallCompleted,
    CallFailed,
    Event,
    PollClosed,
    PollOpened,
    Recorded,
    VoteCast,
)
from moot.core.evolve import evolve
from moot.core.json_types import encoder
from moot.core.state import Debate
from moot.core.terms import Money, PollName, PollSettings, Usage
from moot.core.visibility import OBSERVER
from moot.extension import loaded
from moot.models.catalogue import CATALOGUE, DEFAULT
from moot.models.installs import InstallStatus
from moot.rules.commands import Command, decide
from moot.rules.participation import KeepDraft, TakeSeat
from moot.store.contract import AccessToken, DebatePage, StoredInvitation, head_of
from moot.views.summary import summary
from moot.views.transcript import transcript
from moot.views.transcript_json import transcript_document
from moot.web.routes.admin import token_reply
from moot.web.routes.install_routes import install_preview, install_reply
from moot.web.sample_debate import sample_log

DEBATE = "deb_01HZ9X8K7M3QR5TNVWXYZ12345"
SECRET = "moot_3q2-7wAAR3Zh1cJq0mYt8b5xkWw2nTqLx9uDf6AaBbC"  # noqa: S105
TICKET = "R3Zh1cJq0mYt8b5xkWw2nTqLx9uDf6Aa"
VOTES: dict[PollName, tuple[str, ...]] = {
    "before": ("for", "against", "against", "undecided", "undecided"),
    "after": ("for", "for", "against", "for", "undecided"),
}
ERRORS = {"participants": ["Minimum 2 participants required"], "maxRounds": ["Must be between 1 and 10"]}
"""Of a debate that cannot be opened."""


def keyless(provider: str, model: str) -> dict[str, Any]:
    """A debate that any server can hold."""
    choice = {"provider": provider, "modelId": model}
    return {
        "topic": "Homework should be abolished",
        "format": "oxford",
        "participants": [
            {"name": "Ada", "position": "for", "model": choice},
            {"name": "Ben", "position": "against", "model": choice},
        ],
        "judge": {"name": "The judge", "model": choice},
        "config": {"maxRounds": 2},
    }


@cache
def reply_examples() -> dict[str, Any]:
    """By the name of their schema."""
    debates = [seen.after for seen in _sample()]
    made = (*_debate_replies(debates), *_command_replies(debates), *_server_replies())
    return {type(reply).__name__: _as_sent(reply) for reply in made}


@cache
def event_examples() -> dict[str, Any]:
    """By the name of the event, the first of its kind."""
    speaking = _speaking([seen.after for seen in _sample()])
    fault = CallFailed(
        call=speaking.live[0].call or 0,
        kind="overloaded",
        severity="transient",
        message="The provider is overloaded.",
        usage=Usage(),
        cost=Money(0),
        retry_in_ms=1000,
    )
    warned = BudgetWarned(threshold=Money("3.00"), spent=Money("3.01"))
    dialect = V1Frames()
    frames = [
        frame for seen in (*_sample(), *_then(speaking, warned, fault)) for frame in dialect.frames(seen)
    ]
    return {name: _as_sent(next(frame.data for frame in frames if frame.event == name)) for name in EVENTS}


def _as_sent(reply: Any) -> Any:
    return msgspec.json.decode(encoder.encode(reply))


# --- the sample debate, and what could have happened in it ----------------------------------------------


@cache
def _sample() -> tuple[SeenEvent, ...]:
    return tuple(_fold(None, (_as_told(recorded) for recorded in sample_log())))


def _as_told(recorded: Recorded) -> Recorded:
    """The sample debate has another id, and cost nothing."""
    event = recorded.event
    if isinstance(event, CallCompleted):
        event = replace(event, cost=Money("0.0042"))
    return replace(recorded, debate=DEBATE, event=event)


def _fold(debate: Debate | None, records: Iterable[Recorded]) -> Iterator[SeenEvent]:
    for recorded in records:
        before, debate = debate, evolve(debate, recorded)
        yield SeenEvent(recorded.seq, recorded.at, recorded.event, before, debate)


def _then(debate: Debate, *events: Event) -> Iterator[SeenEvent]:
    """The events, each a second after the one before."""
    return _fold(
        debate,
        (
            Recorded(debate.id, debate.seq + nth, debate.updated_at + timedelta(seconds=nth), 1, event)
            for nth, event in enumerate(events, 1)
        ),
    )


def _given(debate: Debate, *commands: Command) -> Debate | None:
    """The debate after the commands; None where it takes one of them not."""
    for command in commands:
        try:
            decision = decide(debate, command)
        except Invalid:
            return None
        if isinstance(decision, Refused):
            return None
        debate = [debate, *(seen.after for seen in _then(debate, *decision))][-1]
    return debate


def _speaking(debates: Sequence[Debate]) -> Debate:
    """Near the end of the first speech of the second round."""
    return next(
        debate for debate in reversed(debates) if [turn.number for turn in debate.live if turn.call] == [4]
    )


def _voted(debate: Debate) -> Debate:
    """The debate with votes of its audience before and after it."""
    events: list[Event] = []
    for poll, choices in VOTES.items():
        votes = (VoteCast(poll, f"voter-{nth}", choice) for nth, choice in enumerate(choices))
        events += [PollOpened(poll), *votes, PollClosed(poll)]
    asked = replace(debate, setup=replace(debate.setup, polls=PollSettings()))
    return [seen.after for seen in _then(asked, *events)][-1]


# --- replies --------------------------------------------------------------------------------------------


def _debate_replies(debates: Sequence[Debate]) -> Iterator[Struct]:
    speaking, final = _speaking(debates), debates[-1]
    seat = final.seats[1].id
    invitation = StoredInvitation(DEBATE, "zoe", "", "participant", final.created_at, seat=seat)
    yield replies.created_reply(debates[0])
    yield replies.listing_reply(DebatePage((head_of(speaking, summary(speaking)),), 1), limit=20, offset=0)
    yield replies.status_reply(speaking)
    yield transcript_document(transcript(final))
    yield replies.event_page_reply(_sample()[1:2], after=1, head=final.seq)
    yield people_replies.verdicts_reply(final, OBSERVER)
    yield people_replies.poll_totals(_voted(final))
    yield people_replies.seat_reply(_with_person(speaking, seat), seat, speaking.updated_at)
    yield people_replies.invitation_reply(invitation, SECRET)
    yield InvitationsResponse(invitations=(people_replies.invitation_reply(invitation),))
    yield TicketResponse(
        debate_id=DEBATE,
        ticket=TICKET,
        expires_in=60,
        stream_url=f"/api/v1/debates/{DEBATE}/stream?ticket={TICKET}",
    )
    yield from _frames()
    for _, added in loaded().of(lambda extension: extension.http):
        if added.sample_replies:
            yield from added.sample_replies(final)


def _with_person(debate: Debate, seat: str) -> Debate:
    draft = "Rules that are clear cost less than"
    return _given(debate, TakeSeat(seat), KeepDraft(seat, draft)) or debate


def _frames() -> Iterator[FramesResponse]:
    """A page that begins and ends in the middle of a speech."""
    dialect = ViewFrames(OBSERVER)
    for seen in _sample():
        for frame in dialect.frames(seen):
            if frame.data["ops"][0][0] == "add":
                seq = frame.data["seq"]
                yield FramesResponse(frames=(frame.data,), after=seq - 1, next=seq, has_more=True)
                return


def _command_replies(debates: Sequence[Debate]) -> Iterator[Struct]:
    """The first command for each kind of reply, given while somebody speaks or where it is taken first."""
    speaking = _speaking(debates)
    for row in {row.reply_type: row for row in reversed(COMMANDS)}.values():
        body = row.body.model_validate(row.body.example)
        taken = (
            _given(debate, row.to_command(body, CommandContext(ANYONE))) for debate in (speaking, *debates)
        )
        yield row.reply(next((debate for debate in taken if debate), speaking))


def _server_replies() -> Iterator[Struct]:
    small = CATALOGUE[DEFAULT]
    install = install_reply(
        InstallStatus(small, "installing", small.size // 5, small.size, label=f"local/{small.name}"),
        operator=True,
    )
    token = token_reply(AccessToken("zoe", "", "viewer", "zoe", _sample()[0].at))
    key = server.KeyStatus(
        provider="openai",
        title="OpenAI",
        set=True,
        source="environment",
        variable="OPENAI_API_KEY",
        variable_set=True,
        saved=False,
        needed=True,
        host="api.openai.com",
        test=None,
    )
    provider = server.OfferedProvider(
        name="anthropic",
        title="Anthropic",
        ready=False,
        local=False,
        key_name="ANTHROPIC_API_KEY",
        why=None,
        missing="Set ANTHROPIC_API_KEY.",
        models=("claude-haiku-5-5",),
    )
    yield install
    yield server.InstallsResponse(models=(install,), operator=True)
    yield install_preview(people_bodies.NewInstall.example["source"], small, installed=False)
    yield server.ProvidersResponse(
        providers=(provider,), default=f"local/{DEFAULT}", token=False, operator=True, version=__version__
    )
    yield replace(token, token=SECRET)
    yield server.TokensResponse(tokens=(token,), needed=True)
    yield key
    yield server.KeysResponse(keys=(key,), editable=True, reason=None)
    yield server.KeyTestResponse(
        provider="openai",
        ok=False,
        message="OpenAI rejected OPENAI_API_KEY (401).",
        fix="Check that the key is complete and belongs to this service.",
    )
    yield server.HealthResponse(status="ok", store="ok")
    yield server.ServicesResponse(status="healthy", services={"groq": "unconfigured", "langgraph": "up"})
