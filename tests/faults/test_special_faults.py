"""What some faults ask for beyond the rules that all of them share."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import re
import sys
import time
from pathlib import Path
from typing import Any, get_args

import pytest
from msgspec.structs import replace

from moot.core.events import (
    BallotSpoiled,
    CallFailed,
    CallStarted,
    Recorded,
    SegmentCompleted,
    TurnInterrupted,
)
from moot.core.state import Debate
from moot.core.terms import Model, Money, Text, ToolResult, Usage
from moot.engine.arena import Arena
from moot.engine.tool_loop import NOT_JSON, TOO_SLOW
from moot.rules.commands import Abort
from moot.rules.runner_timings import RunnerTimings
from moot.settings import Settings
from moot.store.contract import RecordResult
from moot.store.memory import MemoryStore
from moot.tools.contract import MAX_CALLS
from tests.chaos import kill_runs
from tests.engine.memory_toolbox import Workshop, echo, never
from tests.faults import fault_acts, fault_catalogue
from tests.faults.certificates import Certificates
from tests.faults.fault_acts import refuse, says, slow_down, tells
from tests.faults.fault_catalogue import CASES, FAULTS, NO_BALLOTS
from tests.faults.fault_server import Act, Call, Door, FaultServer, Line, Script, in_a_thread
from tests.faults.faulty_debate import HASTY, MOTION, PACE, PRICE, Held, client, hold, observed
from tests.faults.test_faults import expected_kinds
from tests.faults.wire_formats import WireName

CLEAN = expected_kinds(fault_catalogue.Case("", "", ()))
HERE = {
    "F38": "test_the_ids_of_a_thousand_turns_stay_with_their_seats",
    "F43": "test_a_flood_of_letters_is_portioned_out",
    "F46": "test_calls_of_tools_that_go_wrong_are_answered_and_the_debate_goes_on",
    "F49": "test_wrong_clocks_change_no_deadline",
    "F50": "test_a_kept_connection_that_is_dropped_costs_nothing_and_nobody_sees_it",
    "F52": "test_a_cookie_is_not_kept",
    "F54": "test_after_a_kill_the_same_turn_refers_to_the_same_response",
}
"""Faults that need more than a table."""


async def played(folder: Path, at: int, *played: Act | Door, **options: Any) -> tuple[FaultServer, Held]:
    """A debate in memory with these acts from call `at` on."""
    script = Script({at + place: act for place, act in enumerate(played)})
    async with FaultServer(script) as server:
        return server, await hold(server, folder, store=MemoryStore(), **options)


def test_every_fault_is_played_or_accounted_for() -> None:
    in_table = {case.fault for case in CASES}
    assert set(FAULTS) == in_table | set(HERE)
    assert len(FAULTS) == 54
    assert all(name in globals() for name in HERE.values())


# --- doors --------------------------------------------------------------------------------------------


async def test_a_service_that_was_away_for_a_moment_is_found_again(tmp_path: Path) -> None:
    async def watch(_arena: Arena, recorded: Recorded) -> None:
        if isinstance(recorded.event, CallFailed):
            await server.come_back()

    async def answers_and_leaves(line: Line) -> None:
        await line.reply()
        line.server.leave()
        line.kept = False

    async with FaultServer(Script({1: answers_and_leaves})) as server:
        held = await hold(server, tmp_path, pace=replace(PACE, retry_base=0.2), watch=watch)
    assert [(event.kind, event.cost) for event in held.failures] == [("unreachable", 0)]
    assert held.debate.status == "completed"
    assert len(server.calls) == 5


@pytest.mark.parametrize("certificate", ["expired", "wrong_host", "self_signed"])
async def test_no_request_goes_to_a_host_that_cannot_prove_itself(
    tmp_path: Path, trusted: Certificates, certificate: str
) -> None:
    async with FaultServer(Script({2: Door(certificate)}), certificates=trusted) as server:  # type: ignore[arg-type]
        await hold(server, tmp_path)
    assert len(server.requests) == 1
    assert server.connections == 2


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_nobody_calls_where_a_redirect_points(tmp_path: Path, status: int) -> None:
    async with FaultServer() as other:
        await played(tmp_path, 2, fault_acts.redirect(status, f"{other.url}/chat/completions"))
        assert other.connections == 0


async def test_a_kept_connection_that_is_dropped_costs_nothing_and_nobody_sees_it(tmp_path: Path) -> None:
    server, held = await played(tmp_path, 3, fault_acts.hangs_up)
    assert held.kinds == CLEAN
    dropped, again = server.calls[2:4]
    assert dropped.dropped
    assert dropped.connection == server.calls[0].connection
    assert dropped.connection != again.connection
    assert dropped.body == again.body
    assert len(held.started) == 5


async def test_a_fresh_connection_that_is_dropped_is_a_fault(tmp_path: Path) -> None:
    _, held = await played(tmp_path, 2, fault_acts.hangs_up)
    assert [event.kind for event in held.failures] == ["disconnected"]


async def test_a_cookie_is_not_kept(tmp_path: Path) -> None:
    async with FaultServer(Script(usual=fault_acts.sets_cookie)) as server:
        held = await hold(server, tmp_path)
    assert held.debate.status == "completed"
    assert all("cookie" not in call.headers for call in server.calls)


# --- what is said to people ---------------------------------------------------------------------------


@pytest.mark.parametrize("status", [401, 402, 403, 404])
async def test_what_only_the_operator_can_mend_says_so(tmp_path: Path, status: int) -> None:
    _, held = await played(tmp_path, 2, refuse(status))
    assert "Check configuration" in held.debate.ended_detail
    assert held.debate.failure == "permanent_fault"
    if status == 404:
        assert "two/model-two" in held.debate.ended_detail


async def test_a_struck_attempt_leaves_no_words_and_the_next_has_its_number(tmp_path: Path) -> None:
    server, held = await played(tmp_path, 2, fault_acts.resets)
    struck, again = held.started[1:3]
    assert (struck.attempt, again.attempt) == (1, 2)
    assert "".join(delta.text for delta in held.deltas(struck.call) if delta.kind == "text")
    assert held.turn(2).text == said(server.calls[2])


async def test_silence_is_not_quoted_to_the_opponent(tmp_path: Path) -> None:
    empty = says(text="", thought="")
    server, held = await played(tmp_path, 2, empty, empty)
    assert held.turn(2).by == "empty"
    asked = server.calls[-3].asked
    assert asked is not None
    assert not re.search(r"<(\w+)>\s*</\1>", asked.fresh)


async def test_a_refusal_before_any_word_costs_nothing_and_its_category_is_in_the_log(tmp_path: Path) -> None:
    _, held = await played(tmp_path, 2, fault_acts.refuses_before_any_word, wire="anthropic")
    (refused,) = [event for event in held.completed if event.finish == "refusal"]
    assert (refused.cost, refused.usage, refused.refusal_category) == (0, Usage(), "cyber")
    assert [turn.refusal_category for turn in held.debate.turns] == ["", "cyber", ""]


async def test_a_judge_is_told_who_declined(tmp_path: Path) -> None:
    server, held = await played(tmp_path, 2, says(refused=True))
    assert held.turn(2).refusal
    asked = server.calls[3].asked
    assert asked is not None
    assert "(declined to answer)" in asked.fresh


@pytest.mark.parametrize("case", [case for case in CASES if case.fault == "F29"], ids=lambda case: case.id)
async def test_what_is_unknown_is_counted(tmp_path: Path, case: fault_catalogue.Case) -> None:
    _, held = await played(tmp_path, 2, *case.acts, wire=case.wire)
    assert held.completed[1].unread >= 1


async def test_a_broken_character_is_shown_as_one(tmp_path: Path) -> None:
    server, held = await played(tmp_path, 2, fault_acts.bytes_of(fault_acts.broken_byte))
    before, _, after = said(server.calls[1]).rpartition(" outweighs")
    assert held.turn(2).text == f"{before} out\ufffdweighs{after}"


async def test_a_character_cut_in_two_is_never_seen_in_halves(tmp_path: Path) -> None:
    _, held = await played(tmp_path, 2, fault_acts.in_packets(1))
    shown = "".join(delta.text for delta in held.deltas(2))
    assert "Zoë says “über” 🦉." in shown
    assert "\ufffd" not in shown


@pytest.mark.parametrize("write", [fault_acts.interspersed, fault_acts.leaked])
async def test_thoughts_are_kept_in_order_and_go_to_nobody(tmp_path: Path, write: fault_acts.Frames) -> None:
    server, held = await played(tmp_path, 2, tells(write))
    thoughts = re.findall(r"Secret thought", held.turn(2).reasoning)
    assert len(thoughts) == (4 if write is fault_acts.interspersed else 1)
    places = [segment.index for segment in held.turn(2).segments]
    assert places == sorted(set(places))
    assert "Secret" not in held.turn(2).text
    assert all("Secret" not in json.dumps(call.body) for call in server.calls)


async def test_a_text_that_the_service_takes_back_is_corrected_for_the_viewer(tmp_path: Path) -> None:
    _, held = await played(tmp_path, 2, fault_acts.retells, wire="responses")
    corrected = [
        recorded.event.segment.text
        for recorded in held.seen
        if isinstance(recorded.event, SegmentCompleted)
        and recorded.event.call == 2
        and isinstance(recorded.event.segment, Text)
    ]
    assert corrected[-1] == held.turn(2).text == fault_acts.REVISED


# --- chains -------------------------------------------------------------------------------------------


async def test_without_an_id_the_whole_history_is_sent(tmp_path: Path) -> None:
    server, held = await played(tmp_path, 1, says(id=""), wire="responses", turns=5)
    third, fifth = server.calls[2], server.calls[4]
    assert third.previous is None
    assert [item["role"] for item in third.body["input"]] == ["user", "assistant", "user"]
    assert [turn.degraded for turn in held.debate.turns] == ["", "", "chain", "", ""]
    assert fifth.previous == held.turn(3).response_id


async def test_a_forgotten_response_is_made_up_for_at_once_within_the_limit(tmp_path: Path) -> None:
    limit = Money("0.2")
    server, held = await played(tmp_path, 3, fault_acts.forgets, wire="responses", cost_limit=limit)
    refused, again = server.calls[2:4]
    assert refused.previous == held.turn(1).response_id
    assert again.previous is None
    assert len(again.body["input"]) == 3
    assert held.started[3].reserved is not None
    assert held.debate.counted <= limit
    assert again.billed.input * PRICE.input[0].per_million < held.started[3].reserved * 1_000_000


async def test_what_was_too_long_is_asked_again_without_its_oldest_part(tmp_path: Path) -> None:
    server, held = await played(tmp_path, 3, fault_catalogue.TOO_LONG)
    whole, short = server.calls[2:4]
    assert (held.started[2].trimmed, held.started[3].trimmed) == (0, 1)
    assert whole.asked is not None
    assert short.asked is not None
    assert len(short.asked.words) < len(whole.asked.words)


async def test_an_id_that_two_seats_were_given_is_not_used(tmp_path: Path) -> None:
    same = says(id="resp_of_both")
    server, held = await played(tmp_path, 1, same, same, wire="responses", turns=5)
    assert [call.previous for call in server.calls[:4]] == [None] * 4
    assert [turn.degraded for turn in held.debate.turns] == ["", "", "chain", "chain", ""]
    assert server.calls[4].previous == held.turn(3).response_id


async def hold_many(debates: int, turns: int) -> FaultServer:
    """All at the same time, over the connections of one client; each seat has a model of its own."""
    async with FaultServer() as server:
        providers = {"svc": client("responses", server.url, server.key)}
        pace = RunnerTimings(retry_base=0.01, tick=0.02)
        settings = Settings(data=Path("unused"), pace=pace)
        async with Arena.open(settings, store=MemoryStore(), providers=providers) as arena:

            async def one(number: int) -> None:
                models = [Model("svc", f"seat-{number}-{side}", price=PRICE) for side in "ab"]
                setup = await arena.setup(MOTION, models=models, turns=turns, judge="none")
                debate_id = (await arena.create(setup)).debate.id
                await arena.start(debate_id)
                async for _ in observed(arena, debate_id):
                    pass
                assert len((await arena.state(debate_id)).turns) == turns

            for start in range(0, debates, 25):
                await asyncio.gather(*map(one, range(start, min(start + 25, debates))))
        return server


def check_chains(server: FaultServer, debates: int, turns: int) -> None:
    owners = {call.answer.id: call.body["model"] for call in server.calls if call.answer}
    chained = [call for call in server.calls if call.previous is not None]
    assert len(server.calls) == debates * turns
    assert len(chained) == debates * (turns - 2)
    assert [call for call in chained if owners[call.previous or ""] != call.body["model"]] == []


async def test_the_ids_of_a_thousand_turns_stay_with_their_seats() -> None:
    check_chains(await hold_many(50, 20), 50, 20)


@pytest.mark.chaos
@pytest.mark.timeout(600)
async def test_the_ids_of_ten_thousand_turns_stay_with_their_seats() -> None:
    check_chains(await hold_many(500, 20), 500, 20)


# --- too much -----------------------------------------------------------------------------------------


async def test_an_endless_stream_is_cut_and_hung_up_on(tmp_path: Path) -> None:
    server, held = await played(tmp_path, 2, fault_acts.endless("content"))
    assert len(held.turn(2).text) == 16 * 600
    assert server.calls[1].abandoned
    assert held.turn(2).usage.estimated


async def test_where_money_is_limited_an_endless_stream_is_cut_at_what_was_reserved(tmp_path: Path) -> None:
    _, held = await played(tmp_path, 2, fault_acts.endless("content"), cost_limit="0.5")
    assert len(held.turn(2).text) == 4 * held.started[1].max_tokens
    assert held.debate.counted <= Money("0.5")


EXCESSES = {
    "a megabyte in one": fault_acts.huge(1_000_000),
    "five megabytes in one": fault_acts.huge(5_000_000),
    "words and thoughts by turns": fault_acts.endless("content", "reasoning_content"),
}


LONGEST_STEP = 0.05 if sys.gettrace() is None else 0.25
"""In seconds of the processor; a measured run is slower."""


@pytest.mark.parametrize("name", EXCESSES)
async def test_an_excess_holds_nobody_up(tmp_path: Path, name: str) -> None:
    """Measured in the loop's own processor time, and at best: neither a busy machine nor a sweep of the
    memory makes a difference."""
    longest = [await longest_step(tmp_path / str(number), EXCESSES[name]) for number in range(2)]
    assert min(longest) < LONGEST_STEP


async def longest_step(folder: Path, act: Act) -> float:
    steps: list[float] = []

    async def beat() -> None:
        while True:
            before = time.thread_time()
            await asyncio.sleep(0)
            steps.append(time.thread_time() - before)

    with in_a_thread(Script({2: act})) as server:
        beating = asyncio.create_task(beat())
        held = await hold(server, folder, store=MemoryStore(), max_tokens=100_000)
        beating.cancel()
    assert all(len(delta.text) <= 16 * 1024 for call in (2, 3) for delta in held.deltas(call))
    return max(steps)


async def test_a_flood_of_letters_is_portioned_out(tmp_path: Path) -> None:
    letters = "".join(itertools.islice(itertools.cycle("abcdefghij klmnop qrstuv wxyz. "), 100_000))
    _, held = await played(
        tmp_path, 2, fault_acts.flood(letters), max_tokens=100_000, pace=replace(PACE, tick=0.05)
    )
    deltas = held.deltas(2)
    assert held.turn(2).text == letters == "".join(delta.text for delta in deltas)
    portions = held.completed[1].latency_ms / 50
    assert len(deltas) <= portions + 2 + 100_000 / (16 * 1024)


# --- judges -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NO_BALLOTS)
async def test_a_judge_who_gives_no_ballot_even_when_asked_again_names_no_winner(
    tmp_path: Path, name: str
) -> None:
    server, held = await played(tmp_path, 4, *[NO_BALLOTS[name]] * 4)
    assert len(server.calls) == 7
    assert sum(isinstance(event, BallotSpoiled) for event in held.log) == 2
    assert held.debate.verdict is None
    assert (held.debate.status, held.debate.failure) == ("error", "judge_failed")
    assert [event.repair for event in held.started[3:]] == [False, True, False, True]


async def test_a_judge_who_contradicts_itself_is_kept_as_it_spoke(tmp_path: Path) -> None:
    contradicts_itself = fault_acts.votes(fault_acts.contradicting)
    _, held = await played(tmp_path, 4, contradicts_itself, contradicts_itself)
    assert held.debate.judging is not None
    assert all(ballot.inconsistent for ballot in held.debate.judging.ballots)
    assert held.debate.verdict is not None


# --- clocks -------------------------------------------------------------------------------------------


async def test_the_waits_are_one_two_and_four_seconds_and_never_less_than_is_asked(tmp_path: Path) -> None:
    """The last wait of each is not waited for: that it is announced is enough."""

    async def go_when(arena: Arena, recorded: Recorded) -> None:
        if isinstance(recorded.event, CallFailed) and (recorded.event.retry_in_ms or 0) > 3000:
            await arena.ask(recorded.debate, Abort())

    real = {"pace": replace(PACE, retry_base=1.0), "watch": go_when}
    (ours, backed_off), (_, asked) = await asyncio.gather(
        played(tmp_path, 2, *[refuse(500)] * 3, **real), played(tmp_path, 2, slow_down("7"), **real)
    )
    waits = [event.retry_in_ms or 0 for event in backed_off.failures]
    assert waits == [pytest.approx(1000 * 2**n, rel=0.1) for n in range(3)]
    for wait, (before, after) in zip(waits, itertools.pairwise(ours.calls[1:]), strict=False):
        assert (after.at - before.at) * 1000 >= wait
    assert [event.retry_in_ms for event in asked.failures] == [pytest.approx(7000, abs=10)]


@pytest.mark.parametrize("skew", [3600.0, -3600.0])
async def test_wrong_clocks_change_no_deadline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, skew: float
) -> None:
    """The service's clock is an hour off, and ours jumps by an hour at every look."""
    real, jumps = time.time, itertools.cycle((0.0, 3600.0, -3600.0))
    monkeypatch.setattr(time, "time", lambda: real() + next(jumps))
    waits = fault_acts.slow_down_until(0.0, skew)
    _, held = await played(tmp_path, 2, waits, fault_acts.never_answers, fault_acts.stalls, pace=HASTY)
    assert [event.kind for event in held.failures] == ["rate_limited", "timeout", "stalled"]
    assert [event.retry_in_ms for event in held.failures] == [
        pytest.approx(10 * 2**n, abs=4) for n in range(3)
    ]
    assert held.debate.status == "completed"


@pytest.mark.parametrize("skew", [3600.0, -3600.0])
async def test_a_date_is_meant_by_the_clock_that_named_it(tmp_path: Path, skew: float) -> None:
    _, held = await played(tmp_path, 2, fault_acts.slow_down_until(7.0, skew), turn_seconds=5.0)
    assert [event.retry_in_ms for event in held.failures] == [None]
    assert held.turn(2).by == "rate_limited"


# --- the store ----------------------------------------------------------------------------------------


class Leisurely(MemoryStore):
    """Others hear of a record before its writer does; what it shows was true when it looked."""

    dice = random.Random(1)

    async def record(self, *args: Any, **options: Any) -> RecordResult:
        outcome = await super().record(*args, **options)
        await asyncio.sleep(0.005)
        return outcome

    async def state(self, debate_id: str, upto: int | None = None) -> Debate:
        debate = await super().state(debate_id, upto)
        await asyncio.sleep(0.03 * self.dice.random())
        return debate


async def test_a_turn_that_begins_while_the_runner_looks_is_not_taken_for_a_cut_one(tmp_path: Path) -> None:
    async with FaultServer() as server:
        held = await hold(server, tmp_path, store=Leisurely(), turns=16)
    assert not held.failures
    assert len(server.calls) == 18


# --- crashes ------------------------------------------------------------------------------------------


def test_after_a_kill_the_same_turn_refers_to_the_same_response(tmp_path: Path) -> None:
    remains = kill_runs.run(tmp_path, kills=1, debates=1, seed=1, crash_at="answer-heard:4")
    kill_runs.verify(remains, 1)
    (log,) = remains.logs.values()
    events = [recorded.event for recorded in log]
    cut = next(event.turn for event in events if isinstance(event, TurnInterrupted) and event.by == "crash")
    started = {event.turn: event for event in events if isinstance(event, CallStarted)}
    lost = next(event for event in events if isinstance(event, CallFailed) and event.kind == "lost")
    assert lost.usage.estimated
    assert started[cut].previous_response_id is not None
    assert started[cut].previous_response_id == started[cut + 1].previous_response_id


def said(call: Call) -> str:
    assert call.answer is not None
    return call.answer.text


# --- tools ----------------------------------------------------------------------------------------------

WRONG = (("lab__nothing", "{}"), ("lab__echo", "nonsense"), ("lab__never", "{}"), ("lab__echo", '{"q":"it"}'))


@pytest.mark.parametrize("wire", get_args(WireName))
async def test_calls_of_tools_that_go_wrong_are_answered_and_the_debate_goes_on(
    tmp_path: Path, wire: WireName
) -> None:
    shop = Workshop(echo=echo, never=never)
    server, held = await played(
        tmp_path,
        1,
        fault_acts.uses(*WRONG),
        wire=wire,
        pace=replace(PACE, tool=0.05),
        toolbox=shop,
        tools=("lab",),
        turns=1,
    )
    results = [part for part in held.turn(1).segments if isinstance(part, ToolResult)]
    unknown, wrong, late, right = (result.error or result.output for result in results)
    assert (wrong, late, right) == (NOT_JSON, TOO_SLOW, "You asked it.")
    assert "no tool called" in unknown
    assert not held.failures
    assert held.debate.status == "completed"
    went_on = json.dumps(server.calls[1].body)
    assert all(words in went_on for words in (NOT_JSON, TOO_SLOW, "You asked it."))
    assert held.turn(1).text == (server.calls[1].answer and server.calls[1].answer.text)
    assert [call.suspect for call in (event.usage for event in held.completed[:2])] == [False, False]


@pytest.mark.parametrize("wire", get_args(WireName))
async def test_a_thousand_calls_of_tools_are_as_good_as_a_few(tmp_path: Path, wire: WireName) -> None:
    shop = Workshop(echo=echo)
    server, held = await played(
        tmp_path,
        1,
        fault_acts.uses(*[("lab__echo", "{}")] * 1000),
        wire=wire,
        toolbox=shop,
        tools=("lab",),
        turns=1,
        judge="none",
    )
    assert len(shop.asked) == MAX_CALLS
    assert held.turn(1).state == "completed"
    assert len(server.calls) == 2
