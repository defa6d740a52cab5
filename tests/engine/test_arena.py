"""The library as a user sees it, and what happens when a process is not the only one."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from moot.core.errors import Invalid, Refused, StoreError, UnknownDebate
from moot.core.events import CallDelta, DebateEnded, TurnCompleted
from moot.core.state import Debate
from moot.core.terms import Model, Money
from moot.engine.arena import Arena
from moot.providers.scripted import ScriptedProvider
from moot.rules.commands import JudgeAgain, PauseDebate, Start, decide
from moot.rules.debate_setup import SeatSetup
from moot.rules.runner_timings import RunnerTimings
from moot.settings import Settings
from moot.store.contract import IdempotencyKey
from moot.store.memory import MemoryStore
from moot.store.sqlite.store import SqliteStore

MODEL = Model("scripted", "demo")
PACE = RunnerTimings(retry_base=0.001, tick=0.005)


def settings(tmp_path: Path) -> Settings:
    return Settings(data=tmp_path, pace=PACE)


async def test_a_debate_in_eight_lines(tmp_path: Path) -> None:
    speeches: list[str] = []
    async with Arena.open(settings(tmp_path), providers={"scripted": ScriptedProvider()}) as arena:
        async for recorded in arena.debate("Cats make better pets than dogs", model="scripted/demo", turns=4):
            match recorded.event:
                case TurnCompleted(turn=turn):
                    debate = await arena.state(recorded.debate)
                    speeches.append(debate.turns[turn - 1].text)
                case _:
                    pass
    assert len(speeches) == 4


async def test_it_is_all_there_the_next_time(tmp_path: Path) -> None:
    async with Arena.open(settings(tmp_path), providers={"scripted": ScriptedProvider()}) as arena:
        first = [r async for r in arena.debate("Tea beats coffee", model=MODEL, turns=2)]
    async with Arena.open(settings(tmp_path)) as arena:
        page = await arena.list()
        assert [head.motion for head in page.heads] == ["Tea beats coffee"]
        assert [r async for r in arena.watch(page.heads[0].id)] == first


async def test_who_watches_waits_for_a_log_that_is_away_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moot.engine.arena.STORE_RETRY_SECONDS", 0.01)
    store, away = MemoryStore(), [StoreError(), StoreError()]
    read = store.state

    async def state(debate_id: str, upto: int | None = None) -> Debate:
        debate = await read(debate_id, upto)
        if away and debate.final:
            raise away.pop()
        return debate

    store.state = state
    async with Arena.open(
        settings(tmp_path), store=store, providers={"scripted": ScriptedProvider()}
    ) as arena:
        records = [recorded async for recorded in arena.debate("Tea beats coffee", model=MODEL, turns=2)]
    assert any(isinstance(recorded.event, DebateEnded) for recorded in records)
    assert not away


async def test_all_mistakes_are_named_at_once(tmp_path: Path) -> None:
    async with Arena.open(settings(tmp_path), providers={"scripted": ScriptedProvider()}) as arena:
        setup = await arena.setup(
            " ", model=MODEL, format="oxford", rounds=11, intensity=9, cost_limit="0.2", warn_at="0.3"
        )
        with pytest.raises(Invalid) as error:
            await arena.create(setup)
    assert set(error.value.problems) == {"topic", "maxRounds", "intensity", "warnAtCost"}


async def test_a_limit_needs_a_price(tmp_path: Path) -> None:
    async with Arena.open(settings(tmp_path), providers={"mystery": ScriptedProvider()}) as arena:
        setup = await arena.setup("Is it worth it?", model="mystery/model", cost_limit=1)
        with pytest.raises(Invalid, match="price of mystery/model is not known"):
            await arena.create(setup)


async def test_moot_toml_prices_what_nobody_knows(tmp_path: Path) -> None:
    from moot import settings as configuration

    (tmp_path / "moot.toml").write_text('[prices."mystery/model"]\ninput = "2.50"\noutput = 10\n')
    loaded = configuration.load({"MOOT_DATA": str(tmp_path)})
    async with Arena.open(loaded, providers={"mystery": ScriptedProvider()}) as arena:
        price = arena.model("mystery/model").price
    assert price is not None
    assert (price.input[0].per_million, price.output[0].per_million) == (Money("2.50"), Money(10))


async def test_well_known_models_have_a_price(tmp_path: Path) -> None:
    async with Arena.open(settings(tmp_path), providers={"openai": ScriptedProvider()}) as arena:
        assert arena.model("openai/gpt-4o").price is not None
        assert arena.model("openai/no-such-model-at-all").price is None


async def test_a_refusal_tells_the_status(tmp_path: Path) -> None:
    async with Arena.open(settings(tmp_path), providers={"scripted": ScriptedProvider()}) as arena:
        debate = (await arena.create(await arena.setup("Quiet please", model=MODEL))).debate
        with pytest.raises(Refused) as refused:
            await arena.ask(debate.id, PauseDebate())
        assert refused.value.status == "created"
        with pytest.raises(UnknownDebate):
            await arena.ask("deb_nowhere", Start())


async def test_the_same_request_twice_makes_one_debate(tmp_path: Path) -> None:
    once = IdempotencyKey("me", "key-1", "hash")
    async with Arena.open(settings(tmp_path), providers={"scripted": ScriptedProvider()}) as arena:
        setup = await arena.setup("Say it once", model=MODEL)
        outcomes = await asyncio.gather(*(arena.create(setup, once=once) for _ in range(20)))
        assert len({outcome.debate.id for outcome in outcomes}) == 1
        assert (await arena.list()).total == 1


async def test_seats_may_be_set_one_by_one(tmp_path: Path) -> None:
    seats = [SeatSetup(MODEL, "Ada", objective="Win the room."), SeatSetup(MODEL, "Bob"), SeatSetup(MODEL)]
    async with Arena.open(settings(tmp_path), providers={"scripted": ScriptedProvider()}) as arena:
        setup = await arena.setup("Three is company", seats=seats, format="roundtable", rounds=1)
        debate = (await arena.create(setup)).debate
    assert [seat.name for seat in debate.seats] == ["Ada", "Bob", "First voice"]


async def test_a_judging_again_that_a_dead_process_left_is_taken_up(tmp_path: Path) -> None:
    """It had written that the debate is to be judged again, and had not yet taken it."""
    async with Arena.open(settings(tmp_path), providers={"scripted": ScriptedProvider()}) as arena:
        setup = await arena.setup("Judge it twice", model=MODEL, rounds=1)
        debate_id = (await arena.create(setup, start=True)).debate.id
        assert [recorded async for recorded in arena.watch(debate_id)]
        await arena.store.record(debate_id, lambda debate: decide(debate, JudgeAgain()))
    async with Arena.open(
        settings(tmp_path), providers={"scripted": ScriptedProvider()}, recover=True
    ) as arena:
        assert [recorded async for recorded in arena.watch(debate_id)]
        assert len((await arena.state(debate_id)).verdicts) == 2


async def test_a_debate_that_another_process_runs_is_left_alone(tmp_path: Path) -> None:
    async with Arena.open(settings(tmp_path), providers={"scripted": ScriptedProvider(pace=0.01)}) as arena:
        debate_id = (
            await arena.create(await arena.setup("Mine alone, please", model=MODEL, turns=2))
        ).debate.id
        await arena.start(debate_id)
        async for recorded in arena.follow(debate_id):
            if isinstance(recorded.event, CallDelta):
                break
        epoch = (await arena.head(debate_id)).epoch
        other = ScriptedProvider()
        async with Arena.open(settings(tmp_path), providers={"scripted": other}, recover=True) as second:
            # The second process may steer it all the same.
            await second.ask(debate_id, PauseDebate())
            assert [recorded async for recorded in second.watch(debate_id)]
            assert (await second.head(debate_id)).epoch in (epoch, epoch + 1)
        assert other.calls == []
        debate = await arena.state(debate_id)
        assert debate.status == "paused"
        assert [turn.state for turn in debate.turns] == ["completed"]


async def test_requests_as_sent_are_kept_beside_the_log(tmp_path: Path) -> None:
    store = SqliteStore.open(tmp_path / "moot.db")
    provider = ScriptedProvider()
    async with Arena.open(settings(tmp_path), store=store, providers={"scripted": provider}) as arena:
        records = [r async for r in arena.debate("Keep it here", model=MODEL, turns=1, judge="none")]
        digests = [r.event.request for r in records if hasattr(r.event, "request")]
        body = await arena.store.request_body(records[0].debate, digests[0])
    assert body is not None
    assert provider.calls[0].instructions[:40].encode() in body


@pytest.mark.parametrize("options", [{"winning": "user-decides"}, {"auto": False}, {"auto_judge": False}])
async def test_following_ends_where_a_person_is_waited_for(
    tmp_path: Path, options: dict[str, object]
) -> None:
    async with Arena.open(settings(tmp_path), providers={"scripted": ScriptedProvider()}) as arena:
        debating = arena.debate("Your turn now", model=MODEL, turns=2, **options)
        records = [recorded async for recorded in debating]
        assert (await arena.state(records[0].debate)).status == "awaiting_arguments"


async def test_an_arena_closes_everything_even_if_one_provider_cannot_be_closed(tmp_path: Path) -> None:
    class Stuck(ScriptedProvider):
        async def close(self) -> None:
            raise ConnectionResetError

    class Closing(ScriptedProvider):
        closed = False

        async def close(self) -> None:
            self.closed = True

    class ClosingStore(MemoryStore):
        closed = False

        async def close(self) -> None:
            self.closed = True

    store, providers = ClosingStore(), {"first": Closing(), "stuck": Stuck(), "last": Closing()}

    async def open_and_close() -> None:
        async with Arena.open(Settings(data=tmp_path), store=store, providers=providers) as arena:
            for name in providers:
                arena.providers.get(name)

    with pytest.raises(ConnectionResetError):
        await open_and_close()
    assert (providers["first"].closed, providers["last"].closed, store.closed) == (True, True, True)
