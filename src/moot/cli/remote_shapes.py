"""What a server says, in our own words: refusals, lists, votes that were counted there."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Literal

import msgspec

from moot.api.v1.states import STATES
from moot.client import ApiError, Tallied
from moot.client.shapes import Summary as Listed
from moot.core.errors import Invalid, MootError, Refused, Unavailable, UnknownDebate
from moot.core.state import Debate
from moot.core.terms import Status
from moot.judging.audience_votes import AudienceTally, ChoiceSwing, PollResult, SwingInterval
from moot.store.contract import DebateHead
from moot.views.summary import StoredSummary

INDISTINCT_STATUSES: tuple[Status, ...] = ("created", "aborted")
"""States of ours that v1 does not tell from others."""
STATUS_BY_STATE: dict[str, Status] = {
    state: status for status, state in STATES.items() if status not in INDISTINCT_STATUSES
}


@contextmanager
def translate_api_errors() -> Generator[None]:
    """What a server refuses, as if it had been refused here."""
    try:
        yield
    except ApiError as error:
        raise local_error(error) from error


def local_error(error: ApiError) -> MootError:
    problem = error.problem
    match problem.status:
        case 401:
            return Unavailable(_sentence(problem.detail), "Put a token of this server into MOOT_TOKEN.")
        case 403:
            return Unavailable(_sentence(problem.detail), "")
        case 404:
            return UnknownDebate("There is no such debate on this server.")
        case 409 if problem.current_status:
            state = problem.current_status
            return Refused(_sentence(problem.detail), STATUS_BY_STATE.get(state, state))
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


def dollars(amount: str) -> float:
    try:
        return float(amount)
    except ValueError as error:
        raise Invalid(f"{amount!r} is not an amount of money.") from error


def tally_from_reply(rule: Literal["swing", "majority"], reply: Tallied) -> AudienceTally:
    counts = tuple(
        PollResult(count.poll, count.open, count.votes, count.late, count.single, count.by_choice)
        for count in reply.polls
    )
    changes = tuple(
        ChoiceSwing(
            choice=moved.choice,
            before=moved.before,
            after=moved.after,
            points=moved.points,
            interval=SwingInterval(moved.interval.low, moved.interval.high) if moved.interval else None,
            persuadable=moved.persuadable,
            won=moved.won,
        )
        for moved in reply.changes
    )
    return AudienceTally(
        rule=rule,
        choices=reply.choices,
        sealed=reply.sealed,
        counts=counts,
        pairs=reply.pairs,
        table=reply.table,
        changes=changes,
        leader=reply.leader,
        lead=reply.lead,
        interval=SwingInterval(reply.interval.low, reply.interval.high) if reply.interval else None,
    )


def head_from_debate(debate: Debate, shown: bytes) -> DebateHead:
    return DebateHead(
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


def head_from_listing(one: Listed) -> DebateHead:
    status = STATUS_BY_STATE.get(one.status, "completed")
    shown = StoredSummary(
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
    return DebateHead(
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
