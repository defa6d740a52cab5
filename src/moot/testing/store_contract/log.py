"""What every store must do with the log of a debate: decide and append, tell listeners, fence runners."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from moot.core.errors import Fenced, KeyReused, Refused, UnknownDebate
from moot.core.events import DebatePaused, DebateStarted, Event, Recorded, RemarkInjected, SegmentCompleted
from moot.core.evolve import fold
from moot.core.state import Debate
from moot.core.terms import Text
from moot.store.contract import IdempotencyKey, RecordResult, Store
from moot.testing.event_factories import call_started, delta, opened, turn_started
from moot.testing.store_contract.steps import (
    Clock,
    always,
    append_streamed,
    call_ended,
    open_call,
    open_debate,
    refuse,
    remark,
)
from moot.views.summary import summary


@pytest.mark.asyncio
class LogContract:
    """Events, commits, epochs, streamed words, repeatable requests, bodies, deletion."""

    # --- the log --------------------------------------------------------------------------------------------

    async def test_seq_is_dense_from_one(self, store: Store) -> None:
        await open_call(store)
        for _ in range(3):
            await store.record("d1", remark)
            await append_streamed(store, "d1", [delta("a"), delta("b")], epoch=0)
        records = await store.read("d1")
        assert [recorded.seq for recorded in records] == list(range(1, 14))
        assert {recorded.debate for recorded in records} == {"d1"}

    async def test_the_state_is_the_fold_of_what_is_read(self, store: Store) -> None:
        await open_call(store)
        outcome = await append_streamed(store, "d1", [delta("well "), delta("now")], epoch=0)
        assert outcome.debate == await store.state("d1") == fold(await store.read("d1"))
        assert outcome.debate.live[0].text == "well now"

    async def test_the_outcome_holds_what_was_written(self, store: Store, clock: Clock) -> None:
        await open_call(store)
        clock.move(seconds=5)
        outcome = await store.record("d1", remark)
        assert outcome.records == (await store.read("d1"))[-1:]
        assert outcome.records[0].at == clock.now
        assert not outcome.replayed

    async def test_decide_sees_the_head(self, store: Store) -> None:
        await open_debate(store)
        await asyncio.gather(*(store.record("d1", remark) for _ in range(20)))
        debate = await store.state("d1")
        assert [remark.number for remark in debate.remarks] == list(range(1, 21))

    async def test_decide_sees_nothing_before_the_debate_is_opened(self, store: Store) -> None:
        seen: list[Debate | None] = []

        def decide(debate: Debate | None) -> Sequence[Event]:
            seen.append(debate)
            return [opened()]

        await store.record("d1", decide)
        assert seen == [None]

    async def test_no_event_for_no_debate_is_an_unknown_debate(self, store: Store) -> None:
        with pytest.raises(UnknownDebate):
            await store.record("d1", always())
        assert (await store.list()).total == 0

    async def test_deciding_on_nothing_changes_nothing(self, store: Store) -> None:
        before = await open_debate(store)
        after = await store.record("d1", always())
        assert after == RecordResult(before.debate, ())
        assert (await store.head("d1")).version == 1

    async def test_a_refusal_writes_nothing_and_harms_no_neighbour(self, store: Store) -> None:
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

    async def test_an_event_that_cannot_be_encoded_harms_no_neighbour(self, store: Store) -> None:
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
        assert [isinstance(result, UnicodeEncodeError) for result in results] == [
            False,
            True,
            False,
            True,
            False,
        ]
        assert (await store.state("d1")).seq == 4
        assert await store.positions(["d2"]) == {}

    async def test_reading_goes_on_from_any_place(self, store: Store) -> None:
        await open_debate(store)
        for _ in range(5):
            await store.record("d1", remark)
        assert [recorded.seq for recorded in await store.read("d1", after=2)] == [3, 4, 5, 6]
        assert [recorded.seq for recorded in await store.read("d1", after=2, limit=2)] == [3, 4]
        assert await store.read("d1", after=6) == ()
        assert await store.read("d1", after=-5, limit=1) == (await store.read("d1"))[:1]
        assert await store.read("d1", limit=-1) == ()
        assert await store.read("nobody") == ()

    async def test_the_state_can_be_asked_as_it_was(self, store: Store) -> None:
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

    async def test_an_unknown_debate_is_said_to_be_unknown(self, store: Store) -> None:
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

    async def test_any_text_survives(self, store: Store) -> None:
        text = 'quote " backslash \\ newline \n nul \0 emoji 🦉 separator \u2028 end'
        await open_debate(store, "d'1\"", motion=text)
        assert (await store.state("d'1\"")).motion == text
        assert (await store.read("d'1\""))[0].event == opened(motion=text)

    async def test_many_debates_are_written_at_once(self, store: Store) -> None:
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

    async def test_a_cancelled_caller_harms_nobody(self, store: Store) -> None:
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

    # --- news -----------------------------------------------------------------------------------------------

    async def test_listeners_hear_every_commit_in_order_before_the_asker(self, store: Store) -> None:
        heard: list[tuple[str, list[int] | None]] = []

        def listen(debate_id: str, records: tuple[Recorded, ...] | None) -> None:
            heard.append((debate_id, [recorded.seq for recorded in records] if records else None))

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

    async def test_a_repeated_request_is_no_news(self, store: Store) -> None:
        once = IdempotencyKey("me", "key", "hash")
        await store.record("d1", always(opened()), once=once)
        heard: list[str] = []
        store.listen(lambda debate_id, records: heard.append(debate_id))
        await store.record("d2", always(opened()), once=once)
        assert heard == []

    async def test_a_cancelled_caller_is_still_heard_of(self, store: Store) -> None:
        await open_debate(store)
        heard: list[int] = []
        store.listen(lambda debate_id, records: heard.extend(recorded.seq for recorded in records or ()))
        asked = asyncio.create_task(store.record("d1", remark))
        await asyncio.sleep(0)
        asked.cancel()
        await store.record("d1", remark)
        assert heard == [2, 3]

    # --- the fence ------------------------------------------------------------------------------------------

    async def test_taking_over_raises_the_epoch(self, store: Store) -> None:
        await open_debate(store)
        assert await store.claim("d1", "one", seen_epoch=0) == 1
        assert await store.claim("d1", "two", seen_epoch=1) == 2
        head = await store.head("d1")
        assert (head.epoch, head.runner, head.version) == (2, "two", 1)
        assert await store.state("d1") == fold(await store.read("d1"))

    async def test_a_number_may_take_over_from_any_earlier_one(self, store: Store) -> None:
        await open_debate(store)
        assert await store.claim("d1", "one", epoch=7) == 7
        assert await store.claim("d1", "one again", epoch=7) == 7
        with pytest.raises(Fenced):
            await store.claim("d1", "two", epoch=6)
        assert await store.claim("d1", "three", epoch=9) == 9
        assert (await store.head("d1")).runner == "three"

    async def test_an_older_epoch_writes_nothing(self, store: Store) -> None:
        await open_call(store)
        await store.claim("d1", "one", seen_epoch=0)
        for asking in (
            store.record("d1", remark, epoch=0),
            append_streamed(store, "d1", [delta("a")], epoch=0),
        ):
            with pytest.raises(Fenced):
                await asking
        assert (await store.state("d1")).seq == 4
        assert (await store.record("d1", remark, epoch=1)).records[0].epoch == 1
        assert (await append_streamed(store, "d1", [delta("a")], epoch=1)).records[0].epoch == 1

    async def test_a_command_needs_no_epoch_and_carries_the_present_one(self, store: Store) -> None:
        await open_debate(store)
        await store.claim("d1", "one", seen_epoch=0)
        outcome = await store.record("d1", always(DebatePaused()))
        assert outcome.records[0].epoch == 1

    async def test_of_two_claims_one_wins(self, store: Store) -> None:
        await open_debate(store)
        claims = (store.claim("d1", f"r{i}", seen_epoch=0) for i in range(5))
        results = await asyncio.gather(*claims, return_exceptions=True)
        assert results.count(1) == 1
        assert sum(isinstance(result, Fenced) for result in results) == 4
        winner = results.index(1)
        assert (await store.head("d1")).runner == f"r{winner}"

    # --- words ----------------------------------------------------------------------------------------------

    async def test_words_after_the_end_of_their_call_are_dropped(self, store: Store) -> None:
        await open_call(store)
        await store.record("d1", always(call_ended()))
        segment = SegmentCompleted(call=1, segment=Text("late"))
        outcome = await append_streamed(store, "d1", [delta("late"), segment], epoch=0)
        assert outcome.records == ()
        assert outcome.debate == await store.state("d1")
        assert outcome.debate.seq == 5

    async def test_words_of_an_open_call_stay_when_others_are_dropped(self, store: Store) -> None:
        await open_call(store)
        outcome = await append_streamed(store, "d1", [delta("no", call=7), delta("yes")], epoch=0)
        assert [recorded.event for recorded in outcome.records] == [delta("yes")]

    async def test_words_do_not_change_the_summary(self, store: Store, clock: Clock) -> None:
        outcome = await open_call(store)
        clock.move(seconds=1)
        await append_streamed(store, "d1", [delta("a")], epoch=0)
        head = await store.head("d1")
        assert head.summary == summary(outcome.debate)
        assert (head.version, head.updated_at) == (5, clock.now)

    # --- once -----------------------------------------------------------------------------------------------

    async def test_a_repeated_request_gives_the_first_result_again(self, store: Store) -> None:
        once = IdempotencyKey("me", "key", "hash")
        first = await store.record("d1", always(opened(), DebateStarted()), once=once)
        await store.record("d1", remark)
        again = await store.record("d2", always(opened()), once=once)
        assert again == RecordResult(first.debate, first.records, replayed=True)
        assert (await store.list()).total == 1

    async def test_a_repeated_command_is_not_carried_out_twice(self, store: Store) -> None:
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

    async def test_a_key_with_another_body_is_refused(self, store: Store) -> None:
        await store.record("d1", always(opened()), once=IdempotencyKey("me", "key", "hash"))
        with pytest.raises(KeyReused):
            await store.record("d2", always(opened()), once=IdempotencyKey("me", "key", "other"))
        await store.record("d2", always(opened()), once=IdempotencyKey("you", "key", "other"))
        assert (await store.list()).total == 2

    async def test_twenty_requests_with_one_key_open_one_debate(self, store: Store) -> None:
        once = IdempotencyKey("me", "key", "hash")
        outcomes = await asyncio.gather(
            *(store.record(f"d{i}", always(opened()), once=once) for i in range(20))
        )
        assert len({outcome.debate.id for outcome in outcomes}) == 1
        assert sum(not outcome.replayed for outcome in outcomes) == 1
        assert (await store.list()).total == 1

    async def test_a_refused_request_may_be_tried_again(self, store: Store) -> None:
        await open_debate(store)
        once = IdempotencyKey("me", "key", "hash")
        with pytest.raises(Refused):
            await store.record("d1", refuse, once=once)
        assert not (await store.record("d1", remark, once=once)).replayed

    async def test_a_key_is_free_again_after_a_day(self, store: Store, clock: Clock) -> None:
        once = IdempotencyKey("me", "key", "hash")
        await store.record("d1", always(opened()), once=once)
        clock.move(hours=23)
        assert (await store.record("d2", always(opened()), once=once)).replayed
        clock.move(hours=2)
        assert not (await store.record("d2", always(opened()), once=once)).replayed

    # --- beside the log -------------------------------------------------------------------------------------

    @pytest.mark.parametrize("body", [b"", b"short", b"long " * 10_000, bytes(range(256)) * 20])
    async def test_a_body_comes_back_as_it_was(self, store: Store, body: bytes) -> None:
        await open_debate(store)
        await store.record("d1", remark, bodies={"digest": body})
        await store.record("d1", remark, bodies={"digest": body})
        assert await store.request_body("d1", "digest") == body
        assert await store.request_body("d1", "other") is None

    async def test_a_refused_command_leaves_no_body(self, store: Store) -> None:
        await open_debate(store)
        with pytest.raises(Refused):
            await store.record("d1", refuse, bodies={"digest": b"body"})
        assert await store.request_body("d1", "digest") is None

    # --- the end --------------------------------------------------------------------------------------------

    async def test_a_deleted_debate_leaves_nothing(self, store: Store) -> None:
        once = IdempotencyKey("me", "key", "hash")
        await store.record(
            "d1", always(opened(), turn_started(), call_started()), once=once, bodies={"h": b"body"}
        )
        await open_debate(store, "d2")
        await store.delete("d1")
        for asking in (
            store.state("d1"),
            store.head("d1"),
            append_streamed(store, "d1", [delta("a")], epoch=0),
        ):
            with pytest.raises(UnknownDebate):
                await asking
        assert await store.read("d1") == ()
        assert await store.request_body("d1", "h") is None
        assert [head.id for head in (await store.list()).heads] == ["d2"]
        assert not (await store.record("d1", always(opened()), once=once)).replayed
        assert (await store.state("d1")).seq == 1

    async def test_nobody_else_has_changed_anything(self, store: Store) -> None:
        await open_debate(store)
        await store.record("d1", remark)
        assert not await store.changed_elsewhere()
        assert not await store.changed_elsewhere()

    async def test_closing_finishes_what_was_asked(self, store: Store) -> None:
        await open_debate(store)
        asked = [asyncio.create_task(store.record("d1", remark)) for _ in range(30)]
        await asyncio.sleep(0)
        await store.close()
        outcomes = await asyncio.gather(*asked)
        assert sorted(outcome.debate.seq for outcome in outcomes) == list(range(2, 32))
        await store.close()
