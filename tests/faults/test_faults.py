"""Each provider fault alone, in a whole debate: what a viewer sees, what is kept, and what is charged."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from moot.core.errors import FAULT_MESSAGES
from moot.core.events import CallCompleted, CallFailed, encode
from moot.core.pricing import ZERO, cost
from moot.core.terms import Money, Usage
from moot.store.memory import MemoryStore
from tests.faults.certificates import Certificates
from tests.faults.fault_acts import WORDS as PROVIDERS_WORDS
from tests.faults.fault_catalogue import CASES, Case, Fails
from tests.faults.fault_server import FaultServer, Script
from tests.faults.faulty_debate import HASTY, PACE, PRICE, WORDS, Held, hold

NOWHERE = {"": None, "nowhere": "http://127.0.0.1:{port}/v1", "no name": "http://nobody.invalid/v1"}

ON_DISK = ("F05", "F10", "F18", "F25", "F30", "F40", "F47")
"""Played on a real file, which is then searched byte by byte; the others are quicker in memory."""


# --- what is to be seen -------------------------------------------------------------------------------


def expected_kinds(case: Case) -> list[str]:
    kinds = ["debate.opened", "debate.started", "debate.ready", "round.started"]
    for part in range(1, 6):
        kinds += _part(case, part)
        if case.then == "stopped" and part == case.at:
            return [*kinds, "debate.failed"]
        kinds += AFTER[part]
    return kinds


AFTER = {
    1: [],
    2: ["round.completed", "round.started"],
    3: ["round.completed", "judging.started"],
    4: [],
    5: ["verdict.reached", "debate.ended"],
}


def _part(case: Case, part: int) -> list[str]:
    begins, ends = (["turn.started"], "turn.completed") if part <= 3 else ([], "ballot.cast")
    answered = ["call.started", WORDS, "call.completed"]
    if part != case.at:
        return [*begins, *answered, ends]
    if case.wordless:
        answered.remove(WORDS)
    attempts = [kind for fails in case.fails for kind in _attempt(fails)]
    if case.then != "answered":
        return [*begins, *attempts, "turn.failed"]
    return [*begins, *attempts, *(answered if is_asked_again(case) else ()), ends]


def _attempt(fails: Fails) -> list[str]:
    return ["call.started", *([WORDS] if fails.words else []), "call.failed"]


def is_asked_again(case: Case) -> bool:
    return not case.fails or case.fails[-1].wait != "none"


def expected_calls(case: Case) -> int:
    if case.calls is not None:
        return case.calls
    others = case.at - 1 if case.then == "stopped" else 4
    return others + len(case.fails) + (case.then == "answered" and is_asked_again(case))


# --- the test -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
async def test_a_fault_alone(
    case: Case, tmp_path: Path, trusted: Certificates, unused_tcp_port: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    script = Script({case.at + place: act for place, act in enumerate(case.acts)})
    elsewhere = NOWHERE[case.elsewhere]
    urls = {"two": elsewhere.format(port=unused_tcp_port)} if elsewhere else {}
    store = None if case.fault in ON_DISK else MemoryStore()
    async with FaultServer(script, certificates=trusted if case.tls else None) as server:
        held = await hold(
            server,
            tmp_path,
            wire=case.wire,
            pace=HASTY if case.hasty else PACE,
            urls=urls,
            store=store,
            **case.options,
        )
    assert held.kinds == expected_kinds(case)
    assert len(server.calls) == expected_calls(case)
    check_failures(case, held)
    check_state(case, held, server)
    check_money(held, server)
    check_secrets(held, server, caplog)
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


def check_failures(case: Case, held: Held) -> None:
    for event in held.failures:
        ours = FAULT_MESSAGES[event.kind]
        assert event.message == ours or (event.kind == "unknown_model" and "two/model-two" in event.message)
    told = [(event.kind, event.severity, event.http_status, event.billed) for event in held.failures]
    assert told == [(fails.kind, fails.severity, fails.status, fails.billed) for fails in case.fails]
    for nth, (fails, event) in enumerate(zip(case.fails, held.failures, strict=True)):
        check_wait(fails, event, PACE.retry_base * 1000 * 2**nth)


def check_wait(fails: Fails, event: CallFailed, backoff: float) -> None:
    match fails.wait:
        case "none":
            assert event.retry_in_ms is None
        case "at once":
            assert event.retry_in_ms == 0
        case "backoff":
            assert event.retry_in_ms is not None
            assert 0.9 * backoff - 1 <= event.retry_in_ms <= 1.1 * backoff
        case seconds:
            assert event.retry_in_ms is not None
            assert seconds * 1000 <= event.retry_in_ms <= seconds * 1000 + 100


def check_state(case: Case, held: Held, server: FaultServer) -> None:
    assert held.debate.status == ("error" if case.then == "stopped" else "completed")
    assert not held.debate.live
    assert not held.debate.calls
    for turn in held.debate.turns:
        played = turn.number == case.at
        assert turn.state == ("failed" if played and case.then != "answered" else "completed")
        assert turn.refusal == (played and case.refusal)
        assert turn.truncated == (case.truncated if played else None)
        assert turn.degraded == (case.degraded if turn.number == (case.marked or case.at) else "")
        assert turn.usage.suspect == (played and case.suspect)
        if turn.state == "completed" and turn.attempt == 1:
            assert turn.usage.estimated == (played and (case.estimated or case.suspect))
        if turn.state == "failed":
            assert turn.by == case.fails[-1].kind
        elif not (played and (case.truncated in ("cap", "timeout") or case.degraded == "utf8")):
            assert turn.text == said_by(server, turn.response_id)


def said_by(server: FaultServer, response_id: str | None) -> str:
    """What the server meant to say in the response of this id."""
    answers = [call.answer for call in server.calls if call.answer and call.answer.id == (response_id or "")]
    return answers[-1].text


def check_money(held: Held, server: FaultServer, *, cut: bool = False) -> None:
    """What the service reports is charged as reported; what it does not is estimated; no call, no charge.

    Where our own patience has `cut` a reply, its bill may have been on the way: it is estimated then.
    """
    events = [*held.completed, *held.failures]
    reported = sum((event.cost or ZERO for event in events if not event.usage.estimated), ZERO)
    bills = [call.billed for call in server.calls if call.reported]
    billed = sum((cost(PRICE, Usage(bill.input, bill.output)) or ZERO for bill in bills), Money(0))
    assert reported <= billed if cut else reported == billed
    for event in events:
        if isinstance(event, CallCompleted):
            unbilled = bool(event.refusal_category) and event.first_token_ms is None
        else:
            unbilled = not event.billed
        if unbilled:
            assert (event.cost, event.usage) == (0, Usage())
        else:
            assert event.cost


def check_secrets(held: Held, server: FaultServer, caplog: pytest.LogCaptureFixture) -> None:
    assert all(call.keyed and not call.leaks and "cookie" not in call.headers for call in server.requests)
    shown = b"".join(encode(recorded) for recorded in held.seen)
    kept = b"".join(map(encode, held.log)) + held.stored
    for secret in (server.key, PROVIDERS_WORDS, server.host, "nobody.invalid"):
        assert secret.encode() not in shown
    assert server.key.encode() not in kept
    assert server.key not in caplog.text
