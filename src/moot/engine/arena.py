"""`Arena`: open debates, send them commands, follow their events. Server, terminal and library all use it.

    async with Arena.open() as arena:
        async for recorded in arena.debate("This house would ban homework."):
            print(recorded.seq, recorded.event)

A command (`ask`) is decided on the latest state and appended to the log; `follow` reads the log; runners
write it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from decimal import Decimal
from functools import cached_property, partial
from typing import Any, Self, TypeVar

from msgspec.structs import replace

from moot import settings as configuration
from moot.core.choices import Effort, Verbosity
from moot.core.errors import Fenced, Invalid, Refused, StoreError, Unavailable, UnknownDebate
from moot.core.events import DebateOpened, Event, Recorded, StreamedEvent
from moot.core.ids import new_fence, new_id
from moot.core.state import Debate
from moot.core.statuses import Status
from moot.core.terms import Model, ModelPrice, StepSize
from moot.engine.bookings import Bookings, Reservation, bookings_of
from moot.engine.claim_loop import STORE_RETRY_SECONDS
from moot.engine.followers import Followers
from moot.engine.placement import ProcessRole, QueueStats
from moot.engine.resolve_setup import SetupResolver, check_priced, money
from moot.engine.runner import Runner
from moot.engine.text_writer import TextWriter
from moot.engine.user_keys import UserKeys
from moot.judging.recusal import recuse_biased
from moot.models.registry import ProviderRegistry
from moot.providers.contract import Provider
from moot.providers.keys import Secret
from moot.providers.read_pacer import ReadPacer
from moot.providers.scripted import ScriptedProvider
from moot.rules.commands import Command, JudgeAgain, Open, Start, decide
from moot.rules.cost_estimate import smallest_allowance
from moot.rules.debate_setup import JudgeSetup, MakeId, Setup, numbered_id, opening_event
from moot.rules.reserved_costs import NotReserved, check_reserved
from moot.rules.runner_decisions import wants_runner
from moot.settings import Settings
from moot.store.contract import (
    DebateFilter,
    DebateHead,
    DebatePage,
    IdempotencyKey,
    RecordResult,
    Store,
    StoreFigures,
)
from moot.store.memory import MemoryStore
from moot.tools.contract import NoTools, Toolbox
from moot.tools.toolbox import McpToolbox

T = TypeVar("T")


class Arena:
    """Holds debates in this process, or hands them to workers that share its store.

        async with Arena.open() as arena:
            setup = await arena.setup("This house would ban homework.", format="oxford")
            debate_id = (await arena.create(setup, start=True)).debate.id
            async for recorded in arena.watch(debate_id):
                print(recorded.seq, recorded.event)

    Create it with `Arena.open()`, which also closes it.
    """

    def __init__(
        self,
        settings: Settings,
        store: Store,
        providers: ProviderRegistry,
        tools: Toolbox | None = None,
        *,
        run: bool = True,
        plan_only: bool = False,
    ) -> None:
        # The one import that points outwards: the programs know which backends there are.
        from moot.processes.backends import make_bus_and_state, make_placement

        self.settings = settings
        self.store = store
        self.providers = providers
        self.tools = tools or NoTools()
        self._bus, self.ephemeral = make_bus_and_state(settings)
        if settings.cluster.bus is not None:
            providers.share_limits(self.ephemeral)
        store.listen(self._bus.publish)
        self.user_keys = UserKeys(providers, store.listen)
        self.followers = Followers(store, self._bus)
        self._text_writer = writer = TextWriter(store.append_streamed, settings.pace.tick)
        providers.pace_reads(ReadPacer(writer))
        self.lock_folder = None if isinstance(store, MemoryStore) else settings.data
        """The folder in which processes that share the store see each other's locks."""
        self._placement = make_placement(settings, store, self._runner, run=run)
        self._resolver = SetupResolver(settings, providers, needs_keys=not plan_only)
        self.stopping = False
        """The process was told to stop: it still works, and no new clients should be sent to it."""

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        settings: Settings | None = None,
        *,
        store: Store | None = None,
        providers: Mapping[str, Provider] | None = None,
        tools: Toolbox | None = None,
        recover: bool = False,
        run: bool = True,
        wait: bool = False,
        plan_only: bool = False,
    ) -> AsyncGenerator[Self, None]:
        """Open an arena on `store`, or on the store that `settings` name; default: `moot.settings.load()`.

        `providers` add to or replace the built-in ones; `tools` are what the seats may use. With `recover`,
        the arena continues debates that another process left unfinished, now and while it is open. With
        `run=False`, workers on the same store run the debates. With `wait=True`, an unreachable database is
        waited for; otherwise it raises `StoreError`. With `plan_only`, setups are made and priced without the
        keys of their services, which their debates would need.
        """
        from moot.processes.backends import open_store, when_reachable

        settings = settings or configuration.load()
        if store is None:
            open_it = partial(open_store, settings)
            store = await (when_reachable(settings, open_it) if wait else open_it())
        if tools is None and settings.tools:
            tools = McpToolbox(settings.tools, settings.environ)
        arena = cls(
            settings, store, _providers(settings, providers or {}), tools, run=run, plan_only=plan_only
        )
        open_placement = partial(arena._placement.open, recover=recover)
        try:
            await (when_reachable(settings, open_placement) if wait else open_placement())
            yield arena
        finally:
            await arena.close()

    @cached_property
    def bookings(self) -> Bookings:
        """Who keeps the budget of debates that belong to something larger; not loaded for what only reads."""
        return bookings_of(self.store)

    async def close(self) -> None:
        """End the streams, interrupt running turns (they resume later), close the store: in this order."""
        parts = (
            self.followers,
            self._placement,
            self.tools,
            self.user_keys,
            self.providers,
            self._bus,
            self.ephemeral,
            self.store,
        )
        async with AsyncExitStack() as closing:  # closes the others even if one fails
            for part in reversed(parts):
                closing.push_async_callback(part.close)

    # --- opening --------------------------------------------------------------------------------------

    async def setup(self, motion: str, **options: Any) -> Setup:
        """A checked and priced setup with defaults filled in. Options: see `SetupResolver.setup`."""
        return await self._resolver.setup(motion, **options)

    def model(
        self, name: str | Model, *, effort: Effort | None = None, verbosity: Verbosity | None = None
    ) -> Model:
        """A model by its name, `provider/model`, checked and priced."""
        return self._resolver.model(name, effort=effort, verbosity=verbosity)

    def price(self, provider: str, model: str) -> ModelPrice | None:
        """The price of a model; None where it is unknown."""
        return self._resolver.price(provider, model)

    async def create(
        self,
        setup: Setup,
        *,
        owner: str = "",
        once: IdempotencyKey | None = None,
        start: bool = False,
        step: StepSize | None = None,
        naming: MakeId = numbered_id,
        keys: Mapping[str, Secret] | None = None,
        objection: Exception | None = None,
        debate_id: str = "",
        fence: str = "",
    ) -> RecordResult:
        """Open a debate. It waits for `start`, unless `start=True`; with `step` it pauses after one step.

        `keys` are provider keys for this debate only: they stay in memory, and the log holds only the names
        of their providers. An `objection` is raised instead of opening the debate, unless `once` names a
        request that was already carried out: then its result is returned. `debate_id` is an id that was
        reserved before; by default a new one. `fence` is the secret of its fences; by default a random one.
        Raises `Invalid` with everything that is wrong.
        """
        debate_id = debate_id or new_id()
        objection = objection or await self._unknown_tools(setup)
        try:
            key_providers = self.user_keys.add(debate_id, keys or {})
            opened = opening_event(replace(setup, lent=key_providers), naming)
            opened = replace(opened, fence=fence or new_fence())
            result = await self._record(
                debate_id, Open(opened, start, step), owner=owner, once=once, objection=objection
            )
        except BaseException:
            await self.user_keys.remove(debate_id)
            raise
        if result.debate.id != debate_id:
            await self.user_keys.remove(debate_id)
        self._run_if_wanted(result.debate)
        return result

    async def import_debate(
        self,
        events: Sequence[Event],
        *,
        owner: str = "",
        once: IdempotencyKey | None = None,
        objection: Exception | None = None,
    ) -> RecordResult:
        """Store a debate that was held elsewhere so far, with all its events. `objection` as in `create`."""
        fence = new_fence()
        log = [replace(event, fence=fence) if isinstance(event, DebateOpened) else event for event in events]

        def on_head(_no_debate: Debate | None) -> Sequence[Event]:
            if objection is not None:
                raise objection
            return log

        result = await self.store.record(new_id(), on_head, owner=owner, once=once)
        self._run_if_wanted(result.debate)
        return result

    # --- commands -------------------------------------------------------------------------------------

    async def ask(
        self,
        debate_id: str,
        command: Command,
        *,
        once: IdempotencyKey | None = None,
        keys: Mapping[str, Secret] | None = None,
    ) -> RecordResult:
        """Carry out a command and return the new state. Raises `Refused` with the reason and the status;
        `OverBudget` where the debate belongs to a series whose budget does not allow it.

        `keys` replace those that the debate was opened with, if the process that held them is gone.
        """
        added_keys = self.user_keys.add_missing(await self.state(debate_id), keys) if keys else ()
        try:
            result = await self._record_reserved(debate_id, command, once)
        except BaseException:
            if added_keys:
                await self.user_keys.remove(debate_id, *added_keys)
            raise
        if command.needs_runner:
            self._run_if_wanted(result.debate)
        return result

    async def rejudge(
        self,
        debate_id: str,
        judges: Sequence[str | Model | JudgeSetup] = (),
        *,
        criteria: Sequence[str] = (),
        reason: str = "",
        allowance: Decimal | float | str | None = None,
        recuse: bool = True,
        once: IdempotencyKey | None = None,
    ) -> RecordResult:
        """Judge a finished debate again: by the same or other `judges`, by the same or other `criteria`.

        The first verdict stays, and the new one is added. It may cost up to `allowance`; default: what the
        debate's own limit has left. Raises `Invalid` for unknown judges or an allowance that is too small.
        """
        debate = await self.state(debate_id)
        # A judging that a dead process left unfinished is resumed first; then this one is refused.
        if debate.being_judged:
            self.run(debate_id)
        panel = self._resolver.panel(debate, judges, tuple(criteria))
        panel = recuse_biased(panel, debate.seats) if recuse else panel
        limit = money(allowance)
        if limit is not None and not (limit.is_finite() and limit > 0):
            raise Invalid("No such allowance.", {"costLimit": ["Must be greater than 0"]})
        if limit is not None or debate.limits.cost_limit is not None:
            check_priced(panel or debate.panel)
        if limit is not None and limit < (least := smallest_allowance(debate, panel or debate.panel)):
            raise Invalid(
                "The limit is too small.", {"costLimit": [f"Must be at least {least} for these judges"]}
            )
        return await self.ask(debate_id, JudgeAgain(panel, reason, limit), once=once)

    async def start(self, debate_id: str) -> RecordResult:
        """Start a debate that `create` has opened."""
        return await self.ask(debate_id, Start())

    async def delete(self, debate_id: str) -> None:
        """Delete a debate with its log and everything that belongs to it; what it cost stays with its
        series."""
        await self.bookings.settle_deleted(debate_id)
        await self.store.delete(debate_id)

    async def recover(self) -> int:
        """Continue debates that other processes left unfinished; returns how many."""
        return await self._placement.recover()

    async def is_running(self, debate_id: str) -> bool:
        """Whether a live process, this one or another, runs this debate or is about to."""
        return await self._placement.is_running(debate_id, (await self.head(debate_id)).runner)

    @property
    def disconnected(self) -> bool:
        """Whether the shared database is unreachable at present. The arena keeps trying."""
        return self._placement.unreachable

    async def figures(self) -> tuple[StoreFigures, QueueStats | None]:
        """Figures of the store, and of the queue of debates that wait for a worker (None if this process runs
        its debates itself), in one query."""
        return await self._placement.figures()

    @property
    def takeovers(self) -> int:
        """How many debates this process has taken over from processes that were gone."""
        return self._placement.takeovers

    def announce(self, role: ProcessRole, streams: Callable[[], int]) -> None:
        """Register this process as a server or worker, so that others see it, and start its watchdog."""
        self._placement.announce(role, streams)

    def run(self, debate_id: str) -> None:
        """Make sure that a debate with something to do has a runner."""
        self._placement.ensure_running(debate_id)

    # --- reading --------------------------------------------------------------------------------------

    async def state(self, debate_id: str) -> Debate:
        """The debate as it is now. Raises `UnknownDebate`."""
        return await self.store.state(debate_id)

    async def head(self, debate_id: str) -> DebateHead:
        """The row of the debate in the list: status, motion, version. Raises `UnknownDebate`."""
        return await self.store.head(debate_id)

    async def list(
        self,
        *,
        owner: str | None = None,
        statuses: Sequence[Status] = (),
        search: str = "",
        limit: int = 20,
        offset: int = 0,
        **more: Any,
    ) -> DebatePage:
        """One page of the stored debates, newest first. `more` are the other fields of `DebateFilter`."""
        matching = DebateFilter(owner, tuple(statuses), search, **more)
        return await self.store.list(matching, limit=limit, offset=offset)

    async def follow(self, debate_id: str, after: int = 0) -> AsyncGenerator[Recorded, None]:
        """Yield every event after seq `after` while the debate exists and the arena is open."""
        await self.store.head(debate_id)
        async for batch in self.followers.follow(debate_id, after):
            for recorded in batch:
                yield recorded

    async def watch(self, debate_id: str, after: int = 0) -> AsyncGenerator[Recorded, None]:
        """Like `follow`, but end when nothing more happens without a further command."""
        async for batch in self.followers.follow(debate_id, after):
            for recorded in batch:
                yield recorded
            last = batch[-1]
            if not isinstance(last.event, StreamedEvent) and await self._is_at_rest(debate_id, last.seq):
                return

    async def is_last(self, debate_id: str, seq: int) -> bool:
        """Whether `seq` is the last event."""
        head = await self._when_reachable(self.head, debate_id)
        return head is None or head.version == seq

    async def _is_at_rest(self, debate_id: str, seq: int) -> bool:
        """Whether `seq` is the last event and nothing follows without a command."""
        known = self.store.cached_state(debate_id)
        if known is not None and known.seq >= seq and (known.seq > seq or wants_runner(known)):
            return False
        debate = await self._when_reachable(self.state, debate_id)
        return debate is None or (debate.seq == seq and not wants_runner(debate))

    async def _when_reachable(self, read: Callable[[str], Awaitable[T]], debate_id: str) -> T | None:
        """What `read` returns, None for a deleted debate; again while the database cannot be reached."""
        while True:
            try:
                return await read(debate_id)
            except UnknownDebate:
                return None
            except StoreError:
                if self.followers.closed:
                    raise
                await asyncio.sleep(STORE_RETRY_SECONDS)

    # --- all in one -----------------------------------------------------------------------------------

    async def debate(self, motion: str, **options: Any) -> AsyncGenerator[Recorded, None]:
        """Open a debate, start it and yield its events until it ends. Options as in `setup`."""
        setup = await self.setup(motion, **options)
        debate_id = (await self.create(setup)).debate.id
        await self.start(debate_id)
        async for recorded in self.watch(debate_id):
            yield recorded

    # --- internals ------------------------------------------------------------------------------------

    def _run_if_wanted(self, debate: Debate) -> None:
        if wants_runner(debate):
            self._placement.ensure_running(debate.id)

    async def _record_reserved(
        self, debate_id: str, command: Command, once: IdempotencyKey | None
    ) -> RecordResult:
        """Record a command; if it lets a debate of a series go on, with the money for that reserved."""
        reserved: Reservation | None = None
        while True:
            try:
                return await self._record(debate_id, command, once=once, reserved=reserved)
            except NotReserved as missing:
                status = (await self.state(debate_id)).status
                reserved = await self.bookings.reserve(debate_id, status, missing.most)
            except Fenced:
                # The debate was taken over after the money was reserved: decide and reserve again.
                if reserved is None or reserved.epoch is None:
                    raise
                reserved = None
            except (Refused, Invalid):
                if reserved is not None:
                    await self.bookings.settle(debate_id)
                raise

    async def _record(
        self,
        debate_id: str,
        command: Command,
        *,
        owner: str = "",
        once: IdempotencyKey | None = None,
        objection: Exception | None = None,
        reserved: Reservation | None = None,
    ) -> RecordResult:
        def on_head(debate: Debate | None) -> Sequence[Event]:
            if objection is not None:
                raise objection
            if debate is None and not isinstance(command, Open):
                raise UnknownDebate
            decision = decide(debate, command)
            if isinstance(decision, Refused):
                raise decision
            if debate is not None:
                check_reserved(debate, decision, reserved.most if reserved else None)
            return decision

        epoch = reserved.epoch if reserved else None
        return await self.store.record(debate_id, on_head, epoch=epoch, owner=owner, once=once)

    async def _unknown_tools(self, setup: Setup) -> Exception | None:
        """The error with which the toolbox refuses the tools of a setup; None where it has them all."""
        try:
            await self.tools.check(setup.tools)
        except (Invalid, Unavailable) as error:
            return error
        return None

    def _runner(self, debate_id: str, epoch: int) -> Runner:
        return Runner(
            debate_id,
            epoch,
            store=self.store,
            text_writer=self._text_writer,
            followers=self.followers,
            provider=partial(self.user_keys.provider, debate_id),
            pace=self.settings.pace,
            tools=self.tools,
            missing_keys=self.user_keys.missing,
            settle_costs=self.bookings.settle,
        )


def _providers(settings: Settings, own: Mapping[str, Provider]) -> ProviderRegistry:
    def scripted() -> Provider:
        return ScriptedProvider(pace=settings.script_pace, ledger=settings.script_ledger)

    return ProviderRegistry(
        own,
        models=settings.models,
        environ=settings.environ,
        offline=settings.offline,
        preferred=settings.model,
        scripted=scripted if settings.scripted else None,
        services=settings.endpoints,
        keys=settings.keys,
        saved_keys=settings.saved_keys,
        connect_seconds=settings.connect_seconds,
    )
