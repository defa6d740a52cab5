"""What every store must do to find debates: lists with filters, summaries, those to run, those to delete."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from moot import formats
from moot.core.events import (
    CallCompleted,
    DebateEnded,
    DebateFailed,
    DebateImported,
    DebatePaused,
    DebateStarted,
    Event,
    JudgingStarted,
    SeatLeft,
    TurnCompleted,
    VerdictReached,
)
from moot.core.state import ZERO
from moot.core.terms import FREE, HUMAN, SESSION_FORMAT, DebateVerdict, Judge, Model, Usage
from moot.rules.turn_sessions import response_key, row_key
from moot.store.contract import SUMMARIES_PER_PAGE, UNCLAIMED, ActiveDebate, DebateFilter, Store
from moot.testing.event_factories import SCRIPTED, call_started, delta, seats, turn_started
from moot.testing.store_contract.steps import Clock, always, append_streamed, open_call, open_debate, remark
from moot.views.summary import summary

DRAW = DebateVerdict("draw", None, "hand")


async def fill(store: Store) -> None:
    """d0 ... d8: owners a, b, c in turn; d0-d2 created, d3-d5 running, d6-d8 ended."""
    motions = ("Cats", "Dogs", "Fancy cats")
    for i in range(9):
        await open_debate(store, f"d{i}", owner="abc"[i % 3], motion=motions[i // 3])
    for i in range(3, 9):
        await store.record(f"d{i}", always(DebateStarted()))
    for i in range(6, 9):
        await store.record(f"d{i}", always(DebateEnded(reason="stopped")))


def spoken(turn: int, seat: str, response_id: str | None = None) -> tuple[Event, ...]:
    """A speech that was given, with the id of the provider's response."""
    completed = CallCompleted(turn, "stop", Usage(), ZERO, 0, response_id=response_id)
    return (turn_started(turn, seat), call_started(turn, turn), completed, TurnCompleted(turn, 1))


async def listed(store: Store, limit: int = 20, offset: int = 0, **wanted: Any) -> tuple[str, int]:
    page = await store.list(DebateFilter(**wanted), limit=limit, offset=offset)
    return "".join(head.id[1:] for head in page.heads), page.total


@pytest.mark.asyncio
class ListContract:
    """Heads, lists, summaries, what is under way, what is old, how much there is."""

    # --- lists ----------------------------------------------------------------------------------------------

    async def test_the_head_tells_the_debate_in_brief(self, store: Store, clock: Clock) -> None:
        created = clock.now
        await open_debate(store, owner="me", motion="Owls")
        clock.move(minutes=1)
        outcome = await store.record("d1", always(DebateStarted()))
        head = await store.head("d1")
        assert (head.id, head.owner, head.status, head.motion, head.format) == (
            "d1",
            "me",
            "initializing",
            "Owls",
            "free",
        )
        assert (head.created_at, head.updated_at, head.version) == (created, clock.now, 2)
        assert head.summary == summary(outcome.debate)
        assert (await store.list()).heads == (head,)

    async def test_the_owner_counts_only_at_the_first_event(self, store: Store) -> None:
        await open_debate(store, owner="me")
        await store.record("d1", remark, owner="you")
        assert (await store.head("d1")).owner == "me"

    async def test_lists_are_newest_first_and_paged(self, store: Store) -> None:
        await fill(store)
        assert await listed(store) == ("876543210", 9)
        assert await listed(store, limit=4) == ("8765", 9)
        assert await listed(store, limit=4, offset=6) == ("210", 9)
        assert await listed(store, offset=50) == ("", 9)

    async def test_lists_are_filtered(self, store: Store) -> None:
        await fill(store)
        assert await listed(store, owner="b") == ("741", 3)
        assert await listed(store, owner="nobody") == ("", 0)
        assert await listed(store, statuses=("created",)) == ("210", 3)
        assert await listed(store, statuses=("created", "completed"), limit=4) == ("8762", 6)
        assert await listed(store, statuses=("created", "completed", "initializing")) == ("876543210", 9)
        assert await listed(store, statuses=("created", "created")) == ("210", 3)
        assert await listed(store, owner="c", statuses=("created", "initializing")) == ("52", 2)
        assert await listed(store, search="CAT") == ("876210", 6)
        assert await listed(store, search="cat", limit=2, offset=1) == ("76", 6)
        assert await listed(store, search="cats", owner="a", statuses=("completed", "created")) == ("60", 2)
        assert await listed(store, search="%") == ("", 0)

    async def test_lists_are_filtered_by_format_model_and_day(self, store: Store, clock: Clock) -> None:
        owl, cat = (replace(SCRIPTED, provider="acme", name=name) for name in ("owl", "cat/7b"))
        judge = Judge(id="judge", name="Judge", model=owl)
        await open_debate(store, "d0", owner="a")
        clock.move(days=1)
        await open_debate(store, "d1", owner="b", seats=seats("for", "against", model=cat), judges=())
        clock.move(days=1)
        await open_debate(store, "d2", owner="a", judges=(judge,), format=formats.load("oxford"))
        first, second = clock.now.date() - timedelta(days=2), clock.now.date() - timedelta(days=1)
        assert await listed(store, format="oxford") == ("2", 1)
        assert await listed(store, format="free", owner="a") == ("0", 1)
        assert await listed(store, model="scripted/parrot") == ("20", 2)
        assert await listed(store, model="parrot", limit=1) == ("2", 2)
        assert await listed(store, model="acme/owl", statuses=("created", "completed")) == ("2", 1)
        assert await listed(store, model="cat/7b", since=second) == ("1", 1)
        assert await listed(store, model="acme") == ("", 0)
        assert await listed(store, since=second) == ("21", 2)
        assert await listed(store, until=second, statuses=("created",)) == ("10", 2)
        assert await listed(store, since=first, until=first, owner="a") == ("0", 1)
        assert await listed(store, since=date(1999, 1, 1), until=date(1999, 12, 31)) == ("", 0)
        assert await listed(store, until=date.max) == ("210", 3)

    async def test_a_model_is_found_where_it_sits_now(self, store: Store) -> None:
        person = Model(provider=HUMAN, name="Ada", price=FREE)
        sitting = (replace(seat, model=person, stand_in=SCRIPTED) for seat in seats("for", "against"))
        await open_debate(store, seats=tuple(sitting), judges=())
        assert await listed(store, model=HUMAN) == ("1", 1)
        await store.record("d1", always(SeatLeft(seat="a"), SeatLeft(seat="b")))
        assert await listed(store, model=HUMAN) == ("", 0)
        assert await listed(store, model="parrot") == ("1", 1)
        await store.delete("d1")
        assert await listed(store, model="parrot") == ("", 0)

    async def test_a_session_is_found_by_its_marks_and_by_nothing_when_it_is_gone(self, store: Store) -> None:
        turn_by_turn = replace(formats.load("free"), name=SESSION_FORMAT)
        for debate_id, owner in (("d1", "a"), ("d2", "b"), ("d3", "a")):
            said = (DebateStarted(), *spoken(1, "for", "resp_1"))
            said += spoken(2, "against") if debate_id == "d3" else ()
            await open_debate(store, debate_id, *said, owner=owner, format=turn_by_turn)
        await open_debate(store, "d4")
        assert await store.find_sessions(response_key("resp_1")) == ("d3", "d2", "d1")
        assert await store.find_sessions(response_key("resp_1"), owner="a") == ("d3", "d1")
        assert await store.find_sessions(response_key("turn_d3_2")) == ("d3",)
        assert await store.find_sessions(response_key("turn_d3_2"), owner="b") == ()
        record: dict[str, Any] = {"id": "debate_1", "turn_history": []}
        await store.record("d2", always(DebateImported("elsewhere", record)))
        assert await store.find_sessions(row_key("debate_1")) == ("d2",)
        await store.delete("d2")
        assert await store.find_sessions(row_key("debate_1")) == ()
        assert await store.find_sessions(response_key("resp_1")) == ("d3", "d1")

    async def test_a_search_ignores_case_in_every_script(self, store: Store) -> None:
        await open_debate(store, motion="Größe ist ÜBERALL nötig")
        assert (await store.list(DebateFilter(search="überall NÖTIG"))).total == 1

    async def test_totals_follow_changes_and_deletions(self, store: Store) -> None:
        await fill(store)
        await store.record("d0", always(DebateStarted()))
        await store.delete("d8")
        await store.delete("d4")
        assert await listed(store) == ("7653210", 7)
        assert await listed(store, statuses=("created",)) == ("21", 2)
        assert await listed(store, statuses=("initializing",)) == ("530", 3)
        assert await listed(store, statuses=("completed",)) == ("76", 2)

    async def test_all_summaries_come_in_pages_newest_first(self, store: Store) -> None:
        assert [page async for page in store.summaries()] == []
        await fill(store)
        for i in range(9, 9 + SUMMARIES_PER_PAGE):
            await open_debate(store, f"d{i}", owner="z")

        async def ids(owner: str | None = None) -> list[list[str]]:
            pages = [page async for page in store.summaries(owner=owner)]
            return [[told["id"] for told in msgspec.json.decode(page)] for page in pages]

        pages = await ids()
        assert [len(page) for page in pages] == [SUMMARIES_PER_PAGE, 9]
        assert [debate_id for page in pages for debate_id in page] == [
            f"d{i}" for i in reversed(range(9 + SUMMARIES_PER_PAGE))
        ]
        assert await ids("b") == [["d7", "d4", "d1"]]
        assert await ids("nobody") == []
        newest = (await store.list(limit=1)).heads[0].summary
        assert (await anext(store.summaries())).startswith(b"[" + newest)

    async def test_pulses_tell_version_and_epoch_of_those_that_exist(self, store: Store) -> None:
        await open_call(store, "d1")
        await open_debate(store, "d2")
        await store.claim("d2", "me", seen_epoch=0)
        await append_streamed(store, "d1", [delta("a")], epoch=0)
        pulses = await store.positions(["d1", "d2", "d3"])
        assert {name: (pulse.version, pulse.epoch) for name, pulse in pulses.items()} == {
            "d1": (5, 0),
            "d2": (1, 1),
        }
        assert await store.positions([]) == {}

    # --- keeping house --------------------------------------------------------------------------------------

    async def test_those_under_way_are_found_all_or_since_something_happened(
        self, store: Store, clock: Clock
    ) -> None:
        await open_debate(store, "created")
        await open_call(store, "speaks")
        await open_call(store, "remarked")
        await open_debate(store, "over", DebateStarted(), DebateEnded(reason="aborted"))
        await store.claim("over", "me", seen_epoch=0)
        clock.move(minutes=1)
        then = clock.now
        await store.record("remarked", remark)
        await append_streamed(store, "speaks", [delta("well")], epoch=0)
        head = await store.head("speaks")
        everything = {one.id: one for one in await store.active_debates()}
        assert everything.keys() == {"speaks", "remarked"}
        assert everything["speaks"] == ActiveDebate("speaks", head.version, "", head.updated_at)
        assert [one.id for one in await store.active_debates(then)] == ["remarked"]
        assert [(one.id, one.runner) for one in await store.claimed_debates()] == [("over", "me")]

    async def test_one_that_is_judged_again_is_found_while_nobody_runs_it(self, store: Store) -> None:
        async def held_by() -> list[tuple[str, str]]:
            return [(one.id, one.runner) for one in await store.claimed_debates()]

        judged = (JudgingStarted(1, "judged"), VerdictReached(DRAW, 1), DebateEnded(reason="judged"))
        await open_debate(store, "d1", DebateStarted(), *judged)
        assert await held_by() == []
        await store.record("d1", always(JudgingStarted(2, "judged")))
        assert await held_by() == [("d1", UNCLAIMED)]
        epoch = await store.claim("d1", "me", seen_epoch=0)
        await store.record("d1", remark, epoch=epoch)
        assert await held_by() == [("d1", "me")]
        await store.claim("d1", "", seen_epoch=epoch, epoch=epoch)
        assert await held_by() == [("d1", UNCLAIMED)]
        await store.claim("d1", "you", seen_epoch=epoch, epoch=epoch + 1)
        await store.record("d1", always(VerdictReached(DRAW, 2)), epoch=epoch + 1)
        await store.claim("d1", "", seen_epoch=epoch + 1, epoch=epoch + 1)
        assert await held_by() == []

    async def test_what_has_ended_long_ago_is_found_oldest_first(self, store: Store, clock: Clock) -> None:
        ends: dict[str, tuple[Event, ...]] = {
            "failed": (DebateStarted(), DebateFailed("internal", "it went wrong")),
            "completed": (DebateStarted(), DebateEnded(reason="judged")),
            "aborted": (DebateStarted(), DebateEnded(reason="aborted")),
            "waiting": (),
            "running": (DebateStarted(),),
            "paused": (DebateStarted(), DebatePaused()),
        }
        for debate_id, events in ends.items():
            await open_debate(store, debate_id, *events)
            clock.move(days=1)
        assert await store.ended_before(clock.now) == ("failed", "completed", "aborted")
        assert await store.ended_before(clock.now, limit=2) == ("failed", "completed")
        assert await store.ended_before(clock.now - timedelta(days=5)) == ("failed",)
        assert await store.ended_before(clock.now - timedelta(days=6)) == ()
        assert await store.ended_before(clock.now, limit=0) == ()

    async def test_whatever_happens_after_the_end_makes_a_debate_younger(
        self, store: Store, clock: Clock
    ) -> None:
        for debate_id in ("d1", "d2", "d3"):
            await open_call(store, debate_id)
            await store.record(debate_id, always(DebateEnded(reason="stopped")))
        clock.move(days=40)
        await store.record("d1", remark)
        await append_streamed(store, "d2", [delta("one word more")], epoch=0)
        before = clock.now - timedelta(days=30)
        assert await store.ended_before(before) == ("d3",)
        await store.delete("d3")
        assert await store.ended_before(before) == ()
        assert await store.ended_before(clock.now + timedelta(seconds=1)) == ("d2", "d1")

    async def test_the_size_grows_with_what_is_said_and_shrinks_with_what_is_deleted(
        self, store: Store
    ) -> None:
        await open_call(store, "d1")
        before = await store.size()
        await open_call(store, "d2")
        await store.record("d2", remark, bodies={"digest": bytes(range(256)) * 200})
        for _ in range(20):
            await append_streamed(store, "d2", [delta("word " * 2000)], epoch=0)
        grown = await store.size()
        assert grown - before > 200_000
        await store.delete("d2")
        assert await store.size() - before < 50_000

    async def test_what_a_store_holds_is_counted(self, store: Store) -> None:
        assert (await store.figures()).statuses == {}
        await open_debate(store, "waiting")
        for debate_id in ("d1", "d2", "d3"):
            await open_call(store, debate_id)
        for debate_id, runner in (("d1", "me"), ("d2", "me"), ("d3", "you")):
            await store.claim(debate_id, runner, seen_epoch=0)
        await open_debate(store, "over", DebateStarted(), DebateEnded(reason="judged"))
        told = await store.figures()
        assert told.statuses == {"created": 1, (await store.head("d1")).status: 3, "completed": 1}
        assert told.runners == {"me": 2, "you": 1}
        assert told.bytes == await store.size()
        await store.delete("d3")
        assert (await store.figures()).runners == {"me": 2}
