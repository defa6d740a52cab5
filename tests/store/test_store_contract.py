"""What every store must do. A new one joins by a line in `conftest.STORES`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from moot import formats
from moot.core.errors import Fenced, Invalid, KeyReused, Refused, UnknownDebate
from moot.core.events import (
    CallFailed,
    DebateEnded,
    DebateFailed,
    DebateImported,
    DebatePaused,
    DebateStarted,
    Event,
    JudgingStarted,
    Recorded,
    RemarkInjected,
    SeatLeft,
    SegmentCompleted,
    VerdictReached,
)
from moot.core.evolve import fold
from moot.core.state import Debate
from moot.core.terms import FREE, HUMAN, DebateVerdict, Judge, Model, Seat, Text, Usage
from moot.rules.imported_speeches import ImportedSpeech, imported_events
from moot.rules.turn_sessions import FORMAT, response_key, row_key
from moot.store import contract
from moot.store.contract import (
    SUMMARIES_PER_PAGE,
    UNCLAIMED,
    AccessToken,
    ActiveDebate,
    DebateFilter,
    DecideOnHead,
    IdempotencyKey,
    RecordResult,
    Store,
    StoredInvitation,
    digest,
    new_secret,
)
from moot.views.summary import summary
from tests.store.conftest import Clock
from tests.support.event_factories import SCRIPTED, call_started, delta, opened, seats, turn_started
from tests.support.streamed import append_streamed

DRAW = DebateVerdict("draw", None, "hand")


def always(*events: Event) -> DecideOnHead:
    return lambda debate: events


def remark(debate: Debate | None) -> Sequence[Event]:
    """An event that depends on the head: numbered by what is there."""
    assert debate
    return [RemarkInjected(remark=len(debate.remarks) + 1, text="hear, hear")]


def refuse(debate: Debate | None) -> Sequence[Event]:
    raise Refused("not now", "paused")


async def open_debate(
    store: Store, debate_id: str = "d1", *more: Event, owner: str = "", **changes: Any
) -> RecordResult:
    return await store.record(debate_id, always(opened(**changes), *more), owner=owner)


async def open_call(store: Store, debate_id: str = "d1") -> RecordResult:
    return await open_debate(store, debate_id, DebateStarted(), turn_started(), call_started())


def call_ended() -> CallFailed:
    return CallFailed(call=1, kind="cut", severity="permanent", message="", usage=Usage(), cost=None)


# --- the log ------------------------------------------------------------------------------------------


async def test_seq_is_dense_from_one(store: Store) -> None:
    await open_call(store)
    for _ in range(3):
        await store.record("d1", remark)
        await append_streamed(store, "d1", [delta("a"), delta("b")], epoch=0)
    records = await store.read("d1")
    assert [recorded.seq for recorded in records] == list(range(1, 14))
    assert {recorded.debate for recorded in records} == {"d1"}


async def test_the_state_is_the_fold_of_what_is_read(store: Store) -> None:
    await open_call(store)
    outcome = await append_streamed(store, "d1", [delta("well "), delta("now")], epoch=0)
    assert outcome.debate == await store.state("d1") == fold(await store.read("d1"))
    assert outcome.debate.live[0].text == "well now"


async def test_the_outcome_holds_what_was_written(store: Store, clock: Clock) -> None:
    await open_call(store)
    clock.move(seconds=5)
    outcome = await store.record("d1", remark)
    assert outcome.records == (await store.read("d1"))[-1:]
    assert outcome.records[0].at == clock.now
    assert not outcome.replayed


async def test_decide_sees_the_head(store: Store) -> None:
    await open_debate(store)
    await asyncio.gather(*(store.record("d1", remark) for _ in range(20)))
    debate = await store.state("d1")
    assert [remark.number for remark in debate.remarks] == list(range(1, 21))


async def test_decide_sees_nothing_before_the_debate_is_opened(store: Store) -> None:
    seen: list[Debate | None] = []

    def decide(debate: Debate | None) -> Sequence[Event]:
        seen.append(debate)
        return [opened()]

    await store.record("d1", decide)
    assert seen == [None]


async def test_no_event_for_no_debate_is_an_unknown_debate(store: Store) -> None:
    with pytest.raises(UnknownDebate):
        await store.record("d1", always())
    assert (await store.list()).total == 0


async def test_deciding_on_nothing_changes_nothing(store: Store) -> None:
    before = await open_debate(store)
    after = await store.record("d1", always())
    assert after == RecordResult(before.debate, ())
    assert (await store.head("d1")).version == 1


async def test_a_refusal_writes_nothing_and_harms_no_neighbour(store: Store) -> None:
    await open_debate(store)
    results = await asyncio.gather(
        store.record("d1", remark),
        store.record("d1", refuse),
        store.record("d2", refuse),
        store.record("d3", always(DebateStarted())),
        store.record("d1", remark),
        return_exceptions=True,
    )
    assert [type(result).__name__ for result in results] == [
        "RecordResult",
        "Refused",
        "Refused",
        "ValueError",
        "RecordResult",
    ]
    assert len((await store.state("d1")).remarks) == 2
    assert await store.positions(["d2", "d3"]) == {}


async def test_an_event_that_cannot_be_encoded_harms_no_neighbour(store: Store) -> None:
    await open_debate(store)
    half = RemarkInjected(remark=1, text="\ud800")
    results = await asyncio.gather(
        store.record("d1", remark),
        store.record("d2", always(opened(motion="\ud800"))),
        store.record("d1", remark),
        store.record("d1", always(half)),
        store.record("d1", remark),
        return_exceptions=True,
    )
    assert [isinstance(result, UnicodeEncodeError) for result in results] == [False, True, False, True, False]
    assert (await store.state("d1")).seq == 4
    assert await store.positions(["d2"]) == {}


async def test_reading_goes_on_from_any_place(store: Store) -> None:
    await open_debate(store)
    for _ in range(5):
        await store.record("d1", remark)
    assert [recorded.seq for recorded in await store.read("d1", after=2)] == [3, 4, 5, 6]
    assert [recorded.seq for recorded in await store.read("d1", after=2, limit=2)] == [3, 4]
    assert await store.read("d1", after=6) == ()
    assert await store.read("d1", after=-5, limit=1) == (await store.read("d1"))[:1]
    assert await store.read("d1", limit=-1) == ()
    assert await store.read("nobody") == ()


async def test_the_state_can_be_asked_as_it_was(store: Store) -> None:
    await open_debate(store)
    for _ in range(5):
        await store.record("d1", remark)
    records = await store.read("d1")
    for upto in range(1, 7):
        assert await store.state("d1", upto) == fold(records[:upto])
    assert await store.state("d1", 99) == await store.state("d1")
    assert await store.state_at_least("d1", 6) == await store.state("d1")
    for before in (0, -1):
        with pytest.raises(UnknownDebate):
            await store.state("d1", before)


async def test_an_unknown_debate_is_said_to_be_unknown(store: Store) -> None:
    for asking in (
        store.state("d1"),
        store.head("d1"),
        store.delete("d1"),
        store.claim("d1", "me", seen_epoch=0),
        append_streamed(store, "d1", [delta("a")], epoch=0),
    ):
        with pytest.raises(UnknownDebate):
            await asking
    assert await store.request_body("d1", "hash") is None


async def test_any_text_survives(store: Store) -> None:
    text = 'quote " backslash \\ newline \n nul \0 emoji 🦉 separator \u2028 end'
    await open_debate(store, "d'1\"", motion=text)
    assert (await store.state("d'1\"")).motion == text
    assert (await store.read("d'1\""))[0].event == opened(motion=text)


async def test_many_debates_are_written_at_once(store: Store) -> None:
    ids = [f"d{i}" for i in range(50)]
    await asyncio.gather(*(open_call(store, debate_id) for debate_id in ids))

    async def speak(debate_id: str) -> None:
        for i in range(20):
            await append_streamed(store, debate_id, [delta(f"{debate_id}:{i} ")], epoch=0)
            if i % 5 == 0:
                await store.record(debate_id, remark)

    await asyncio.gather(*(speak(debate_id) for debate_id in ids))
    for debate_id in ids:
        records = await store.read(debate_id)
        assert [recorded.seq for recorded in records] == list(range(1, 29))
        debate = await store.state(debate_id)
        assert debate == fold(records)
        assert debate.live[0].text == "".join(f"{debate_id}:{i} " for i in range(20))


async def test_a_cancelled_caller_harms_nobody(store: Store) -> None:
    await open_debate(store)
    tasks = [asyncio.create_task(store.record("d1", remark)) for _ in range(10)]
    await asyncio.sleep(0)
    for task in tasks[::2]:
        task.cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(result, RecordResult) for result in results[1::2])
    debate = await store.state("d1")
    assert debate == fold(await store.read("d1"))
    assert len(debate.remarks) >= 5


# --- news ---------------------------------------------------------------------------------------------


async def test_listeners_hear_every_commit_in_order_before_the_asker(store: Store) -> None:
    heard: list[tuple[str, list[int] | None]] = []

    def listen(debate_id: str, records: tuple[Recorded, ...] | None) -> None:
        heard.append((debate_id, records and [recorded.seq for recorded in records]))

    store.listen(listen)
    await open_call(store)
    assert heard == [("d1", [1, 2, 3, 4])]
    await asyncio.gather(
        append_streamed(store, "d1", [delta("a"), delta("b")], epoch=0),
        store.record("d1", refuse),
        append_streamed(store, "d1", [delta("late", call=7)], epoch=0),
        store.record("d1", remark),
        return_exceptions=True,
    )
    await store.delete("d1")
    assert heard[1:] == [("d1", [5, 6]), ("d1", [7]), ("d1", None)]


async def test_a_repeated_request_is_no_news(store: Store) -> None:
    once = IdempotencyKey("me", "key", "hash")
    await store.record("d1", always(opened()), once=once)
    heard: list[str] = []
    store.listen(lambda debate_id, records: heard.append(debate_id))
    await store.record("d2", always(opened()), once=once)
    assert heard == []


async def test_a_cancelled_caller_is_still_heard_of(store: Store) -> None:
    await open_debate(store)
    heard: list[int] = []
    store.listen(lambda debate_id, records: heard.extend(recorded.seq for recorded in records or ()))
    asked = asyncio.create_task(store.record("d1", remark))
    await asyncio.sleep(0)
    asked.cancel()
    await store.record("d1", remark)
    assert heard == [2, 3]


# --- the fence ----------------------------------------------------------------------------------------


async def test_taking_over_raises_the_epoch(store: Store) -> None:
    await open_debate(store)
    assert await store.claim("d1", "one", seen_epoch=0) == 1
    assert await store.claim("d1", "two", seen_epoch=1) == 2
    head = await store.head("d1")
    assert (head.epoch, head.runner, head.version) == (2, "two", 1)
    assert await store.state("d1") == fold(await store.read("d1"))


async def test_a_number_may_take_over_from_any_earlier_one(store: Store) -> None:
    await open_debate(store)
    assert await store.claim("d1", "one", epoch=7) == 7
    assert await store.claim("d1", "one again", epoch=7) == 7
    with pytest.raises(Fenced):
        await store.claim("d1", "two", epoch=6)
    assert await store.claim("d1", "three", epoch=9) == 9
    assert (await store.head("d1")).runner == "three"


async def test_an_older_epoch_writes_nothing(store: Store) -> None:
    await open_call(store)
    await store.claim("d1", "one", seen_epoch=0)
    for asking in (store.record("d1", remark, epoch=0), append_streamed(store, "d1", [delta("a")], epoch=0)):
        with pytest.raises(Fenced):
            await asking
    assert (await store.state("d1")).seq == 4
    assert (await store.record("d1", remark, epoch=1)).records[0].epoch == 1
    assert (await append_streamed(store, "d1", [delta("a")], epoch=1)).records[0].epoch == 1


async def test_a_command_needs_no_epoch_and_carries_the_present_one(store: Store) -> None:
    await open_debate(store)
    await store.claim("d1", "one", seen_epoch=0)
    outcome = await store.record("d1", always(DebatePaused()))
    assert outcome.records[0].epoch == 1


async def test_of_two_claims_one_wins(store: Store) -> None:
    await open_debate(store)
    claims = (store.claim("d1", f"r{i}", seen_epoch=0) for i in range(5))
    results = await asyncio.gather(*claims, return_exceptions=True)
    assert results.count(1) == 1
    assert sum(isinstance(result, Fenced) for result in results) == 4
    winner = results.index(1)
    assert (await store.head("d1")).runner == f"r{winner}"


# --- words --------------------------------------------------------------------------------------------


async def test_words_after_the_end_of_their_call_are_dropped(store: Store) -> None:
    await open_call(store)
    await store.record("d1", always(call_ended()))
    segment = SegmentCompleted(call=1, segment=Text("late"))
    outcome = await append_streamed(store, "d1", [delta("late"), segment], epoch=0)
    assert outcome.records == ()
    assert outcome.debate == await store.state("d1")
    assert outcome.debate.seq == 5


async def test_words_of_an_open_call_stay_when_others_are_dropped(store: Store) -> None:
    await open_call(store)
    outcome = await append_streamed(store, "d1", [delta("no", call=7), delta("yes")], epoch=0)
    assert [recorded.event for recorded in outcome.records] == [delta("yes")]


async def test_words_do_not_change_the_summary(store: Store, clock: Clock) -> None:
    outcome = await open_call(store)
    clock.move(seconds=1)
    await append_streamed(store, "d1", [delta("a")], epoch=0)
    head = await store.head("d1")
    assert head.summary == summary(outcome.debate)
    assert (head.version, head.updated_at) == (5, clock.now)


# --- once ---------------------------------------------------------------------------------------------


async def test_a_repeated_request_gives_the_first_result_again(store: Store) -> None:
    once = IdempotencyKey("me", "key", "hash")
    first = await store.record("d1", always(opened(), DebateStarted()), once=once)
    await store.record("d1", remark)
    again = await store.record("d2", always(opened()), once=once)
    assert again == RecordResult(first.debate, first.records, replayed=True)
    assert (await store.list()).total == 1


async def test_a_repeated_command_is_not_carried_out_twice(store: Store) -> None:
    await open_debate(store)
    once = IdempotencyKey("me", "key", "hash")
    first = await store.record("d1", remark, once=once)
    assert await store.record("d1", remark, once=once) == RecordResult(
        first.debate, first.records, replayed=True
    )
    nothing = IdempotencyKey("me", "other key", "hash")
    await store.record("d1", always(), once=nothing)
    await store.record("d1", remark)
    again = await store.record("d1", remark, once=nothing)
    assert (again.records, again.debate.seq, again.replayed) == ((), 2, True)


async def test_a_key_with_another_body_is_refused(store: Store) -> None:
    await store.record("d1", always(opened()), once=IdempotencyKey("me", "key", "hash"))
    with pytest.raises(KeyReused):
        await store.record("d2", always(opened()), once=IdempotencyKey("me", "key", "other"))
    await store.record("d2", always(opened()), once=IdempotencyKey("you", "key", "other"))
    assert (await store.list()).total == 2


async def test_twenty_requests_with_one_key_open_one_debate(store: Store) -> None:
    once = IdempotencyKey("me", "key", "hash")
    outcomes = await asyncio.gather(*(store.record(f"d{i}", always(opened()), once=once) for i in range(20)))
    assert len({outcome.debate.id for outcome in outcomes}) == 1
    assert sum(not outcome.replayed for outcome in outcomes) == 1
    assert (await store.list()).total == 1


async def test_a_refused_request_may_be_tried_again(store: Store) -> None:
    await open_debate(store)
    once = IdempotencyKey("me", "key", "hash")
    with pytest.raises(Refused):
        await store.record("d1", refuse, once=once)
    assert not (await store.record("d1", remark, once=once)).replayed


async def test_a_key_is_free_again_after_a_day(store: Store, clock: Clock) -> None:
    once = IdempotencyKey("me", "key", "hash")
    await store.record("d1", always(opened()), once=once)
    clock.move(hours=23)
    assert (await store.record("d2", always(opened()), once=once)).replayed
    clock.move(hours=2)
    assert not (await store.record("d2", always(opened()), once=once)).replayed


# --- beside the log -----------------------------------------------------------------------------------


@pytest.mark.parametrize("body", [b"", b"short", b"long " * 10_000, bytes(range(256)) * 20])
async def test_a_body_comes_back_as_it_was(store: Store, body: bytes) -> None:
    await open_debate(store)
    await store.record("d1", remark, bodies={"digest": body})
    await store.record("d1", remark, bodies={"digest": body})
    assert await store.request_body("d1", "digest") == body
    assert await store.request_body("d1", "other") is None


async def test_a_refused_command_leaves_no_body(store: Store) -> None:
    await open_debate(store)
    with pytest.raises(Refused):
        await store.record("d1", refuse, bodies={"digest": b"body"})
    assert await store.request_body("d1", "digest") is None


# --- lists --------------------------------------------------------------------------------------------


async def test_the_head_tells_the_debate_in_brief(store: Store, clock: Clock) -> None:
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


async def test_the_owner_counts_only_at_the_first_event(store: Store) -> None:
    await open_debate(store, owner="me")
    await store.record("d1", remark, owner="you")
    assert (await store.head("d1")).owner == "me"


async def fill(store: Store) -> None:
    """d0 ... d8: owners a, b, c in turn; d0-d2 created, d3-d5 running, d6-d8 ended."""
    motions = ("Cats", "Dogs", "Fancy cats")
    for i in range(9):
        await open_debate(store, f"d{i}", owner="abc"[i % 3], motion=motions[i // 3])
    for i in range(3, 9):
        await store.record(f"d{i}", always(DebateStarted()))
    for i in range(6, 9):
        await store.record(f"d{i}", always(DebateEnded(reason="stopped")))


async def listed(store: Store, limit: int = 20, offset: int = 0, **wanted: Any) -> tuple[str, int]:
    page = await store.list(DebateFilter(**wanted), limit=limit, offset=offset)
    return "".join(head.id[1:] for head in page.heads), page.total


async def test_lists_are_newest_first_and_paged(store: Store) -> None:
    await fill(store)
    assert await listed(store) == ("876543210", 9)
    assert await listed(store, limit=4) == ("8765", 9)
    assert await listed(store, limit=4, offset=6) == ("210", 9)
    assert await listed(store, offset=50) == ("", 9)


async def test_lists_are_filtered(store: Store) -> None:
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


async def test_lists_are_filtered_by_format_model_and_day(store: Store, clock: Clock) -> None:
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


async def test_a_model_is_found_where_it_sits_now(store: Store) -> None:
    person = Model(provider=HUMAN, name="Ada", price=FREE)
    sitting = (replace(seat, model=person, stand_in=SCRIPTED) for seat in seats("for", "against"))
    await open_debate(store, seats=tuple(sitting), judges=())
    assert await listed(store, model=HUMAN) == ("1", 1)
    await store.record("d1", always(SeatLeft(seat="a"), SeatLeft(seat="b")))
    assert await listed(store, model=HUMAN) == ("", 0)
    assert await listed(store, model="parrot") == ("1", 1)
    await store.delete("d1")
    assert await listed(store, model="parrot") == ("", 0)


async def test_a_session_is_found_by_its_marks_and_by_nothing_when_it_is_gone(store: Store) -> None:
    seats = (Seat("part_1", "A", "for", SCRIPTED), Seat("part_2", "B", "against", SCRIPTED))
    beginning = opened(format=FORMAT, seats=seats, judges=())
    said = ImportedSpeech(0, "Bread. ", response_id="resp_1"), ImportedSpeech(1, "Rice.")
    for debate_id, owner in (("d1", "a"), ("d2", "b"), ("d3", "a")):
        events = imported_events(beginning, said if debate_id == "d3" else said[:1])
        await store.record(debate_id, always(*events), owner=owner)
    await open_debate(store, "d4")
    assert await store.find_sessions(response_key("resp_1")) == ("d3", "d2", "d1")
    assert await store.find_sessions(response_key("resp_1"), owner="a") == ("d3", "d1")
    assert await store.find_sessions(response_key("turn_d3_2")) == ("d3",)
    assert await store.find_sessions(response_key("turn_d3_2"), owner="b") == ()
    record = {"id": "debate_1", "turn_history": []}
    await store.record("d2", always(DebateImported("elsewhere", record)))
    assert await store.find_sessions(row_key("debate_1")) == ("d2",)
    await store.delete("d2")
    assert await store.find_sessions(row_key("debate_1")) == ()
    assert await store.find_sessions(response_key("resp_1")) == ("d3", "d1")


async def test_a_search_ignores_case_in_every_script(store: Store) -> None:
    await open_debate(store, motion="Größe ist ÜBERALL nötig")
    assert (await store.list(DebateFilter(search="überall NÖTIG"))).total == 1


async def test_totals_follow_changes_and_deletions(store: Store) -> None:
    await fill(store)
    await store.record("d0", always(DebateStarted()))
    await store.delete("d8")
    await store.delete("d4")
    assert await listed(store) == ("7653210", 7)
    assert await listed(store, statuses=("created",)) == ("21", 2)
    assert await listed(store, statuses=("initializing",)) == ("530", 3)
    assert await listed(store, statuses=("completed",)) == ("76", 2)


async def test_all_summaries_come_in_pages_newest_first(store: Store) -> None:
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


async def test_pulses_tell_version_and_epoch_of_those_that_exist(store: Store) -> None:
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


# --- keeping house ------------------------------------------------------------------------------------


async def test_those_under_way_are_found_all_or_since_something_happened(store: Store, clock: Clock) -> None:
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


async def test_one_that_is_judged_again_is_found_while_nobody_runs_it(store: Store) -> None:
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


async def test_what_has_ended_long_ago_is_found_oldest_first(store: Store, clock: Clock) -> None:
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


async def test_whatever_happens_after_the_end_makes_a_debate_younger(store: Store, clock: Clock) -> None:
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


async def test_the_size_grows_with_what_is_said_and_shrinks_with_what_is_deleted(store: Store) -> None:
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


async def test_what_a_store_holds_is_counted(store: Store) -> None:
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


# --- tokens -------------------------------------------------------------------------------------------


async def test_a_token_is_kept_by_name_until_it_is_dropped(store: Store, clock: Clock) -> None:
    assert await store.tokens() == ()
    viewer = AccessToken("zoë", digest("one"), "viewer", "theirs", clock.now, clock.now + timedelta(days=1))
    owner = AccessToken("ann", digest("two"), "owner", "", clock.now)
    await store.save_token(viewer)
    await store.save_token(owner)
    assert await store.tokens() == (owner, viewer)
    newer = AccessToken("ann", digest("three"), "moderator", "ours", clock.now)
    await store.save_token(newer)
    assert await store.tokens() == (newer, viewer)
    assert await store.delete_token("ann")
    assert not await store.delete_token("ann")
    assert await store.tokens() == (viewer,)


async def test_a_token_counts_until_it_expires(store: Store, clock: Clock) -> None:
    secret = new_secret()
    await store.save_token(
        AccessToken("a", digest(secret), "owner", "a", clock.now, clock.now + timedelta(days=1))
    )
    await store.save_token(AccessToken("b", digest(new_secret()), "viewer", "b", clock.now))
    tokens = await store.tokens()
    assert secret not in repr(tokens)
    assert tokens[0].digest == digest(secret) != tokens[1].digest
    assert [token.expired(clock.now) for token in tokens] == [False, False]
    clock.move(days=1)
    assert [token.expired(clock.now) for token in tokens] == [True, False]


# --- invitations --------------------------------------------------------------------------------------


def invitation(clock: Clock, name: str, debate: str = "d1", **more: object) -> StoredInvitation:
    given = StoredInvitation(debate, name, digest(f"{debate} {name}"), "audience", clock.now)
    return msgspec.structs.replace(given, **more)


async def test_an_invitation_is_found_by_its_digest_until_it_is_withdrawn(store: Store, clock: Clock) -> None:
    await open_debate(store)
    zoe = invitation(
        clock, "zoë", role="participant", seat="part_1", expires_at=clock.now + timedelta(days=1)
    )
    ann = invitation(clock, "ann", many=True)
    await store.add_invitation(zoe)
    await store.add_invitation(ann)
    assert await store.invitations("d1") == (ann, zoe)
    assert await store.invitations("d2") == ()
    assert await store.invitation(ann.digest) == ann
    assert await store.invitation(zoe.digest) == zoe
    assert await store.invitation(digest("another")) is None
    assert await store.delete_invitation("d1", "ann")
    assert not await store.delete_invitation("d1", "ann")
    assert await store.invitation(ann.digest) is None
    assert await store.invitations("d1") == (zoe,)


async def test_of_one_name_there_is_one_invitation_to_a_debate(store: Store, clock: Clock) -> None:
    await open_debate(store, "d1")
    await open_debate(store, "d2")
    await store.add_invitation(invitation(clock, "ann"))
    await store.add_invitation(invitation(clock, "ann", "d2"))
    with pytest.raises(Invalid, match="of that name"):
        await store.add_invitation(invitation(clock, "ann", digest=digest("more")))


async def test_an_invitation_that_has_expired_counts_for_nothing(store: Store, clock: Clock) -> None:
    await open_debate(store)
    ann = invitation(clock, "ann", expires_at=clock.now + timedelta(seconds=10))
    await store.add_invitation(ann)
    clock.move(seconds=9.5)
    assert await store.invitation(ann.digest) == ann
    clock.move(seconds=0.5)
    assert await store.invitation(ann.digest) is None
    assert await store.invitations("d1") == ()
    again = invitation(clock, "ann", digest=digest("again"))
    await store.add_invitation(again)
    assert await store.invitations("d1") == (again,)


async def test_nobody_is_invited_to_a_debate_that_does_not_exist(store: Store, clock: Clock) -> None:
    with pytest.raises(UnknownDebate):
        await store.add_invitation(invitation(clock, "ann"))


async def test_a_debate_has_so_many_invitations_and_no_more(
    store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contract, "MAX_INVITATIONS", 2)
    await open_debate(store)
    await store.add_invitation(invitation(clock, "ann"))
    await store.add_invitation(invitation(clock, "bob"))
    with pytest.raises(Refused, match="at most 2"):
        await store.add_invitation(invitation(clock, "eve"))
    await store.delete_invitation("d1", "ann")
    await store.add_invitation(invitation(clock, "eve"))


async def test_many_invitations_are_looked_up_at_once(store: Store, clock: Clock) -> None:
    await open_debate(store)
    ann, bob = invitation(clock, "ann"), invitation(clock, "bob")
    late = invitation(clock, "late", expires_at=clock.now + timedelta(seconds=10))
    for each in (ann, bob, late):
        await store.add_invitation(each)
    clock.now += timedelta(seconds=11)
    digests = {each.digest for each in (ann, late)} | {digest("another")}
    assert await store.invited(digests) == (ann,)
    assert set(await store.invited({ann.digest, bob.digest})) == {ann, bob}
    assert await store.invited(()) == ()


async def test_who_joined_by_a_link_counts_no_longer_than_the_link(store: Store, clock: Clock) -> None:
    await open_debate(store)
    link, other = (invitation(clock, name, many=True) for name in ("hall", "stairs"))
    zoe, kim = invitation(clock, "zoe", via=link.digest), invitation(clock, "kim", via=other.digest)
    for each in (link, other, zoe, kim):
        await store.add_invitation(each)
    assert await store.invitation(zoe.digest) == zoe
    assert await store.delete_invitation("d1", "hall")
    assert await store.invitation(zoe.digest) is None
    assert await store.invitations("d1") == (kim, other)
    # One who joins while the link is being withdrawn.
    eve = invitation(clock, "eve", via=link.digest)
    await store.add_invitation(eve)
    assert await store.invitation(eve.digest) is None
    assert await store.invited({eve.digest, kim.digest}) == (kim,)
    await store.add_invitation(invitation(clock, "hall", digest=digest("again"), many=True))
    assert await store.invitation(eve.digest) is None


async def test_invitations_go_with_their_debate(store: Store, clock: Clock) -> None:
    await open_debate(store)
    ann = invitation(clock, "ann")
    await store.add_invitation(ann)
    await store.delete("d1")
    assert await store.invitation(ann.digest) is None
    assert await store.invitations("d1") == ()


# --- the end ------------------------------------------------------------------------------------------


async def test_a_deleted_debate_leaves_nothing(store: Store) -> None:
    once = IdempotencyKey("me", "key", "hash")
    await store.record(
        "d1", always(opened(), turn_started(), call_started()), once=once, bodies={"h": b"body"}
    )
    await open_debate(store, "d2")
    await store.delete("d1")
    for asking in (store.state("d1"), store.head("d1"), append_streamed(store, "d1", [delta("a")], epoch=0)):
        with pytest.raises(UnknownDebate):
            await asking
    assert await store.read("d1") == ()
    assert await store.request_body("d1", "h") is None
    assert await listed(store) == ("2", 1)
    assert not (await store.record("d1", always(opened()), once=once)).replayed
    assert (await store.state("d1")).seq == 1


async def test_nobody_else_has_changed_anything(store: Store) -> None:
    await open_debate(store)
    await store.record("d1", remark)
    assert not await store.changed_elsewhere()
    assert not await store.changed_elsewhere()


async def test_closing_finishes_what_was_asked(store: Store) -> None:
    await open_debate(store)
    asked = [asyncio.create_task(store.record("d1", remark)) for _ in range(30)]
    await asyncio.sleep(0)
    await store.close()
    outcomes = await asyncio.gather(*asked)
    assert sorted(outcome.debate.seq for outcome in outcomes) == list(range(2, 32))
    await store.close()
