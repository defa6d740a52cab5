"""The debates of a server, as the terminal needs them: asked by REST, followed by the native log.

What is known of a debate's log is kept, so that nothing is fetched twice: the state is folded here, from the
same events and by the same rules as on the server.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager

import msgspec

from moot import commands as cmd
from moot.client import ApiError, AsyncClient, Record
from moot.client.shapes import Summary as Listed
from moot.debate import Debate
from moot.errors import Invalid, MootError, Refused, Unavailable, UnknownDebate
from moot.events import CallDelta, Recorded, SegmentCompleted
from moot.evolve import evolve
from moot.placement.inprocess import wants_runner
from moot.store.contract import Head, Outcome, Page
from moot.terms import Status
from moot.views.summary import Summary, summary
from moot.wire.v1.states import STATES

AT_ONCE = 1000
MOST_LISTED = 100
ALIKE: tuple[Status, ...] = ("created", "aborted")
"""States of ours that v1 does not tell from others."""
NATIVE: dict[str, Status] = {state: status for status, state in STATES.items() if status not in ALIKE}


class Minutes:
    """What is known here of the log of one debate. What we may not see is left out."""

    def __init__(self, debate_id: str) -> None:
        self.id = debate_id
        self.records: list[Recorded] = []
        self.seq = 0
        self.debate: Debate | None = None

    def take(self, record: Record) -> Recorded | None:
        """Note it down, unless it is known already: a stream and a page may both bring it."""
        recorded = Recorded(self.id, record.seq, record.at, 0, record.event) if record.event else None
        if record.seq <= self.seq:
            return recorded
        self.seq = record.seq
        if recorded is not None:
            self.records.append(recorded)
            self.debate = evolve(self.debate, recorded)
        return recorded


class Remote:
    """Use `Remote.open`."""

    def __init__(self, client: AsyncClient) -> None:
        self.client = client
        self._minutes: dict[str, Minutes] = {}

    @classmethod
    @asynccontextmanager
    async def open(cls, server: str) -> AsyncGenerator[Remote]:
        async with AsyncClient(server) as client:
            yield cls(client)

    # --- asking ---------------------------------------------------------------------------------------

    async def ask(self, debate_id: str, command: cmd.Command) -> Outcome:
        with in_our_words():
            await self._ask(debate_id, command)
        return Outcome(await self.state(debate_id), ())

    async def _ask(self, id: str, command: cmd.Command) -> None:
        client = self.client
        match command:
            case cmd.Pause():
                await client.pause(id, now=command.now)
            case cmd.Resume():
                await client.resume(id)
            case cmd.NextRound():
                await client.rounds(id, "next_round")
            case cmd.SkipToJudge():
                await client.rounds(id, "skip_to_judge")
            case cmd.SkipTurn():
                await client.skip(id)
            case cmd.Inject():
                await client.inject(id, command.text, to=command.to or "")
            case cmd.JudgeNow():
                await client.judge(id, command.reason)
            case cmd.Decide():
                await client.decide(id, command.winner or "tie", command.reason)
            case cmd.Retry():
                await client.retry(id)
            case cmd.Stop():
                await client.stop(id, command.reason)
            case cmd.Abort():
                await client.abort(id, command.reason)
            case cmd.Open() | cmd.Start():
                raise Refused("A server begins its debates by itself.", "created")
            case _:
                raise Refused("A server cannot be asked for that yet.", "unknown")

    async def delete(self, debate_id: str) -> None:
        with in_our_words():
            await self.client.delete(debate_id)

    async def is_running(self, debate_id: str) -> bool:
        """A server looks after its debates."""
        return True

    def run(self, debate_id: str) -> None:
        """The server does so by itself."""

    # --- looking --------------------------------------------------------------------------------------

    async def state(self, debate_id: str) -> Debate:
        minutes = await self._up_to_date(debate_id)
        if minutes.debate is None:
            raise UnknownDebate
        return minutes.debate

    async def head(self, debate_id: str) -> Head:
        debate = await self.state(debate_id)
        return _head(debate, summary(debate))

    async def list(
        self, *, statuses: Sequence[Status] = (), search: str = "", limit: int = 20, offset: int = 0
    ) -> Page:
        if search:
            raise Invalid("--search looks only at the debates that are here, not at those of a server.")
        if any(status in ALIKE for status in statuses):
            raise Invalid(f"A server does not tell debates that are {statuses[0]} from others.")
        state = STATES[statuses[0]] if statuses else ""
        with in_our_words():
            page = await self.client.list(status=state, limit=min(limit, MOST_LISTED), offset=offset)
        return Page(tuple(_listed(one) for one in page.debates), page.pagination.total)

    async def follow(self, debate_id: str, after: int = 0) -> AsyncGenerator[Recorded, None]:
        """Every event after `after`, as it comes: first what is known here, then what the server tells."""
        minutes = self._minutes.setdefault(debate_id, Minutes(debate_id))
        known, seq = tuple(minutes.records), minutes.seq
        for recorded in known:
            if recorded.seq > after:
                yield recorded
        with in_our_words():
            async with aclosing(self.client.log(debate_id, after=seq)) as coming:
                async for record in coming:
                    recorded = minutes.take(record)
                    if recorded is not None and recorded.seq > after:
                        yield recorded

    async def watch(self, debate_id: str, after: int = 0) -> AsyncGenerator[Recorded, None]:
        """Like `follow`, but ends where nothing more will happen unless somebody asks for something."""
        debate: Debate | None = None
        async with aclosing(self.follow(debate_id)) as records:
            async for recorded in records:
                debate = evolve(debate, recorded)
                if recorded.seq <= after:
                    continue
                yield recorded
                if isinstance(recorded.event, CallDelta | SegmentCompleted) or wants_runner(debate):
                    continue
                if (await self.state(debate_id)).seq == recorded.seq:
                    return

    async def _up_to_date(self, debate_id: str) -> Minutes:
        minutes = self._minutes.setdefault(debate_id, Minutes(debate_id))
        more = True
        with in_our_words():
            while more:
                page = await self.client.events(debate_id, after=minutes.seq, limit=AT_ONCE)
                for record in page.records:
                    minutes.take(record)
                more = page.has_more
        return minutes


# --- in our words -------------------------------------------------------------------------------------


@contextmanager
def in_our_words() -> Generator[None]:
    """What a server refuses, as if it had been refused here."""
    try:
        yield
    except ApiError as error:
        raise ours(error) from error


def ours(error: ApiError) -> MootError:
    problem = error.problem
    match problem.status:
        case 401:
            return Unavailable(_sentence(problem.detail), "Put a token of this server into MOOT_TOKEN.")
        case 404:
            return UnknownDebate("There is no such debate on this server.")
        case 409 if problem.current_status:
            state = problem.current_status
            return Refused(_sentence(problem.detail), NATIVE.get(state, state))
        case 422 | 400:
            return Invalid(_sentence(problem.detail), problem.errors)
        case 429 | 503:
            wait = f"Try again in {error.retry_after:.0f} seconds." if error.retry_after else ""
            return Unavailable(_sentence(problem.detail), wait)
        case _:
            found = f"The server's log has it as {problem.request_id}." if problem.request_id else ""
            return Unavailable(_sentence(problem.detail or problem.title), found)


def _sentence(words: str) -> str:
    return words if words.endswith((".", "!", "?")) else f"{words}."


def _head(debate: Debate, shown: bytes) -> Head:
    return Head(
        id=debate.id,
        owner="",
        status=debate.status,
        motion=debate.motion,
        format=debate.format.name,
        version=debate.seq,
        epoch=debate.epoch,
        runner="",
        created_at=debate.created_at,
        updated_at=debate.updated_at,
        summary=shown,
    )


def _listed(one: Listed) -> Head:
    status = NATIVE.get(one.status, "completed")
    shown = Summary(
        id=one.id,
        motion=one.topic,
        format=one.format,
        status=status,
        seats=(),
        models=(),
        round=one.current_round,
        rounds=one.max_rounds,
        turns=0,
        cost=format(one.total_cost, "f"),
        unpriced=one.unpriced,
        winner=one.winner,
        outcome=one.outcome,
    )
    return Head(
        id=one.id,
        owner="",
        status=status,
        motion=one.topic,
        format=one.format,
        version=0,
        epoch=0,
        runner="",
        created_at=one.created_at,
        updated_at=one.completed_at or one.created_at,
        summary=msgspec.json.encode(shown),
    )
