"""The debates of a server: commands go by REST, the log is followed.

Events are kept, so that none is fetched twice. The state is folded here, from the same events and by the same
rules as on the server.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Any

from msgspec import UNSET

from moot import formats
from moot.api.command_table import all_commands
from moot.api.v1.states import STATES
from moot.cli.commands.debate import DEFAULT_FORMAT, DebateCliOptions
from moot.cli.remote_shapes import (
    INDISTINCT_STATUSES,
    FormatSeating,
    by_option,
    config_of,
    debaters,
    head_from_listing,
    judges_of,
    local_seating,
    parse_dollars,
    refuse_local_options,
    seating_on_server,
    tally_from_reply,
    translate_api_errors,
)
from moot.client import AsyncClient, Invitation, JudgeConfig, Record
from moot.core.errors import Invalid, Refused, UnknownDebate
from moot.core.events import CallDelta, Recorded, SegmentCompleted
from moot.core.evolve import evolve
from moot.core.state import Debate
from moot.core.statuses import Status
from moot.core.terms import InvitationRole
from moot.rules import commands as cmd
from moot.rules import participation
from moot.rules.runner_decisions import wants_runner
from moot.store.contract import DebateHead, DebatePage, RecordResult, head_of
from moot.views.poll_results import PollReport, report_from_tally
from moot.views.summary import summary

MAX_EVENTS = 1000
MAX_LISTED = 100


class KnownLog:
    """The events of one debate that were fetched so far, without those that we may not see."""

    def __init__(self, debate_id: str) -> None:
        self.id = debate_id
        self.records: list[Recorded] = []
        self.seq = 0
        self.debate: Debate | None = None

    def add(self, record: Record) -> Recorded | None:
        """Add an event unless it is known already: a stream and a page may both bring it."""
        recorded = Recorded(self.id, record.seq, record.at, 0, record.event) if record.event else None
        if record.seq <= self.seq:
            return recorded
        self.seq = record.seq
        if recorded is not None:
            self.records.append(recorded)
            self.debate = evolve(self.debate, recorded)
        return recorded


def _request_of(command: cmd.Command) -> tuple[str, dict[str, Any]]:
    """The path and the members of a command whose body has the same fields as it.

    Raises LookupError for one that cannot be sent to a server.
    """
    buttons = {type(button.command): row for row in all_commands() for button in row.buttons}
    seats = {type(row.seat_button[1]("")): row for row in all_commands() if row.seat_button}
    row = {**buttons, **seats}[type(command)]
    values = {name: (field, getattr(command, name)) for name, field in row.body.model_fields.items()}
    members = {name: value for name, (field, value) in values.items() if field.is_required() or value}
    return row.path.format(seat=getattr(command, "seat", "")), members


class RemoteSource:
    """Use `RemoteSource.open`."""

    def __init__(self, client: AsyncClient) -> None:
        self.client = client
        self._logs: dict[str, KnownLog] = {}

    @classmethod
    @asynccontextmanager
    async def open(cls, server: str) -> AsyncGenerator[RemoteSource]:
        async with AsyncClient(server) as client:
            yield cls(client)

    # --- giving commands ------------------------------------------------------------------------------

    async def start_debate(self, motion: str, options: DebateCliOptions) -> tuple[str, str]:
        """The id of the debate, and what to say below its heading. Raises Invalid."""
        refuse_local_options(options)
        format = options.format or DEFAULT_FORMAT
        seating = await self._seating(format)
        models = options.models_for(len(seating.chairs))
        default = "" if all(models) and options.speaker else await self._default_model()
        judge, *others = judges_of(options, default)
        try:
            with translate_api_errors():
                created = await self.client.create(
                    motion,
                    format=format,
                    participants=tuple(debaters(options, seating, [model or default for model in models])),
                    judge=judge,
                    judges=others,
                    config=config_of(options, seating),
                )
        except Invalid as error:
            raise by_option(error) from error
        return created.id, ""

    async def _seating(self, name: str) -> FormatSeating:
        """As the format is known here; else as the server knows it."""
        if name in formats.names():
            return local_seating(name)
        with translate_api_errors():
            offered: list[dict[str, Any]] = (await self.client.formats())["formats"]
        return seating_on_server(name, offered)

    async def _default_model(self) -> str:
        with translate_api_errors():
            models = await self.client.models()
        if not models.default:
            raise Invalid("This server has no model of its own accord: name one with --model provider/model.")
        return models.default

    async def ask(self, debate_id: str, command: cmd.Command) -> RecordResult:
        with translate_api_errors():
            await self._ask(debate_id, command)
        return RecordResult(await self.state(debate_id), ())

    async def _ask(self, id: str, command: cmd.Command) -> None:
        client = self.client
        match command:
            case cmd.NextRound():
                await client.rounds(id)
            case cmd.SkipTurn():
                speech = None if command.slot is None else command.slot + 1
                await client.skip(id, turn=command.turn, speech=speech)
            case cmd.AddRemark(question=True):
                await client.ask(id, command.text, to=command.to or "")
            case cmd.AddRemark():
                await client.inject(id, command.text, to=command.to or "")
            case cmd.DecideWinner():
                await client.decide(id, command.winner or "tie", command.reason)
            case cmd.Start():
                raise Refused("A server begins its debates by itself.", "created")
            case participation.KeepDraft():
                await client.draft(id, command.seat, command.text, live=command.live)
            case participation.SubmitBallot(ballot):
                await client.cast_ballot(
                    id,
                    ballot.winner or "tie",
                    ballot.reasoning,
                    cites=ballot.cites,
                    judge=ballot.judge,
                    ranking=ballot.ranking,
                )
            case participation.CastVote():
                await client.vote(id, command.choice, poll=command.poll)
            case _:
                path, members = _request_of(command)
                await client.command(id, *path.split("/"), **members)

    async def rejudge(
        self,
        debate_id: str,
        judges: Sequence[str] = (),
        *,
        criteria: Sequence[str] = (),
        reason: str = "",
        allowance: str | None = None,
    ) -> RecordResult:
        debate = await self.state(debate_id)
        named = judges or (tuple(judge.model.label for judge in debate.panel) if criteria else ())
        wanted_criteria = tuple(criteria) or UNSET
        with translate_api_errors():
            await self.client.rejudge(
                debate_id,
                [JudgeConfig(model, evaluation_criteria=wanted_criteria) for model in named],
                reason=reason,
                cost_limit=None if allowance is None else parse_dollars(allowance),
            )
        return RecordResult(await self.state(debate_id), ())

    async def poll_results(self, debate_id: str) -> PollReport | None:
        """The server counts the votes: its log shows no single vote."""
        debate = await self.state(debate_id)
        with translate_api_errors():
            totals = await self.client.polls(debate_id)
        return (
            None if totals.rule is None else report_from_tally(debate, tally_from_reply(totals.rule, totals))
        )

    async def draft(self, debate_id: str, seat: str) -> str:
        with translate_api_errors():
            return (await self.client.seat(debate_id, seat)).draft

    async def document(self, debate_id: str, name: str, *, reasoning: bool = False) -> bytes:
        """As the server renders it: it knows more of the debate than its log tells us."""
        with translate_api_errors():
            return await self.client.document(debate_id, name, reasoning=reasoning)

    async def delete(self, debate_id: str) -> None:
        with translate_api_errors():
            await self.client.delete(debate_id)

    async def is_running(self, debate_id: str) -> bool:
        """A server runs its debates."""
        return True

    async def is_last(self, debate_id: str, seq: int) -> bool:
        return (await self.state(debate_id)).seq == seq

    @property
    def disconnected(self) -> bool:
        return self.client.disconnected

    def run(self, debate_id: str) -> None:
        """Nothing to do: the server runs its debates."""

    # --- reading --------------------------------------------------------------------------------------

    async def state(self, debate_id: str) -> Debate:
        log = await self._up_to_date(debate_id)
        if log.debate is None:
            raise UnknownDebate
        return log.debate

    async def head(self, debate_id: str) -> DebateHead:
        debate = await self.state(debate_id)
        return head_of(debate, summary(debate))

    async def list(
        self, *, statuses: Sequence[Status] = (), search: str = "", limit: int = 20, offset: int = 0
    ) -> DebatePage:
        if any(status in INDISTINCT_STATUSES for status in statuses):
            raise Invalid(f"A server does not tell debates that are {statuses[0]} from others.")
        state = STATES[statuses[0]] if statuses else ""
        with translate_api_errors():
            page = await self.client.list(
                status=state, search=search, limit=min(limit, MAX_LISTED), offset=offset
            )
        return DebatePage(tuple(head_from_listing(one) for one in page.debates), page.pagination.total)

    async def follow(self, debate_id: str, after: int = 0) -> AsyncGenerator[Recorded, None]:
        """Yield every event after `after`: first those known here, then those that the server sends."""
        log = self._logs.setdefault(debate_id, KnownLog(debate_id))
        known, seq = tuple(log.records), log.seq
        for recorded in known:
            if recorded.seq > after:
                yield recorded
        with translate_api_errors():
            async with aclosing(self.client.log(debate_id, after=seq)) as coming:
                async for record in coming:
                    recorded = log.add(record)
                    if recorded is not None and recorded.seq > after:
                        yield recorded

    async def watch(self, debate_id: str, after: int = 0) -> AsyncGenerator[Recorded, None]:
        """Like `follow`, but ends where nothing more happens until someone gives a command."""
        debate: Debate | None = None
        async with aclosing(self.follow(debate_id)) as records:
            async for recorded in records:
                debate = evolve(debate, recorded)
                if recorded.seq <= after:
                    continue
                yield recorded
                if isinstance(recorded.event, CallDelta | SegmentCompleted) or wants_runner(debate):
                    continue
                if await self.is_last(debate_id, recorded.seq):
                    return

    async def _up_to_date(self, debate_id: str) -> KnownLog:
        log = self._logs.setdefault(debate_id, KnownLog(debate_id))
        more = True
        with translate_api_errors():
            while more:
                page = await self.client.events(debate_id, after=log.seq, limit=MAX_EVENTS)
                for record in page.records:
                    log.add(record)
                more = page.has_more
        return log

    # --- invitations ----------------------------------------------------------------------------------

    async def invite(
        self,
        debate_id: str,
        role: InvitationRole,
        *,
        seat: str | None,
        judge: str | None,
        name: str,
        days: float | None,
        many: bool,
    ) -> Invitation:
        with translate_api_errors():
            return await self.client.invite(
                debate_id, role, seat=seat or "", judge=judge or "", name=name, days=days, many=many
            )

    async def invitations(self, debate_id: str) -> Sequence[Invitation]:
        with translate_api_errors():
            return await self.client.invitations(debate_id)

    async def uninvite(self, debate_id: str, name: str) -> None:
        with translate_api_errors():
            await self.client.uninvite(debate_id, name)

    async def join(self, debate_id: str, name: str) -> str:
        """Return a token of one's own, for a visitor who came by a link for many."""
        with translate_api_errors():
            return (await self.client.join(debate_id, name)).token
