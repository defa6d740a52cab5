"""People judge the debates of an experiment: the queue of one voter, and the votes, kept with the results.

A vote is put in the place of the result that was read, and read again where another process has changed it
meanwhile, so none is lost.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from moot.core.errors import Invalid, UnknownDebate
from moot.extensions.experiments.measuring.judging_queue import (
    BlindDebate,
    QueuedDebate,
    SideName,
    next_debate,
    shown_debate,
    shown_first,
)
from moot.extensions.experiments.measuring.leg_results import LegResult, read_result
from moot.extensions.experiments.measuring.people_votes import PersonVote
from moot.extensions.experiments.store import ExperimentStore
from moot.extensions.experiments.tables import EXPERIMENTS
from moot.store.contract import Store

MAX_TRIES = 20


class JudgingQueue(Struct, frozen=True):
    """What one voter has judged, and the debate that comes next."""

    judged: int
    total: int
    debate: BlindDebate | None


async def judging_queue(store: Store, name: str, voter: str) -> JudgingQueue:
    """Debates that were deleted since, or have not two sides, are left out."""
    waiting: list[QueuedDebate] = []
    judged = 0
    async for page in store.tables(EXPERIMENTS).leg_pages(name):
        for leg in page:
            result = msgspec.json.decode(leg.result, type=QueuedDebate) if leg.result is not None else None
            if result is None or result.status != "completed" or not result.judgments:
                continue
            if any(vote.voter == voter for vote in result.votes):
                judged += 1
            else:
                waiting.append(result)
    total = judged + len(waiting)
    while (chosen := next_debate(waiting, voter)) is not None:
        try:
            debate = await store.state(chosen.debate)
        except UnknownDebate:
            waiting.remove(chosen)
            total -= 1
            continue
        return JudgingQueue(judged, total, shown_debate(debate, shown_first(voter, debate.id)))
    return JudgingQueue(judged, total, None)


async def cast_vote(
    store: Store,
    name: str,
    debate: str,
    voter: str,
    winner: SideName | Literal["tie"],
    *,
    at: datetime,
    reason: str = "",
    chance: float | None = None,
) -> None:
    """Keep a vote from the queue; a later one of the same voter replaces it.

    Raises UnknownDebate where the experiment has no such debate with two sides, and Invalid for a tie or a
    chance where there can be none.
    """
    found = await store.tables(EXPERIMENTS).leg_of(debate)
    if found is None or found.experiment != name or found.leg.result is None:
        raise UnknownDebate
    result = read_result(found.leg.result)
    if not result.judgments:
        raise UnknownDebate
    if result.protocol and (winner == "tie" or chance is None):
        raise Invalid("This debate is about a question: name A or B, and how probable it is.")
    if not result.protocol and chance is not None:
        raise Invalid("A probability is for questions.")
    first = shown_first(voter, debate)
    other: Literal["pro", "con"] = "con" if first == "pro" else "pro"
    side = "tie" if winner == "tie" else first if winner == "A" else other
    vote = PersonVote(voter, side, reason, at, first, blind=True, chance=chance)
    await keep_votes(store.tables(EXPERIMENTS), name, found.leg.leg, (vote,))
    await mark_changed(store.tables(EXPERIMENTS), name)


async def keep_votes(
    experiments: ExperimentStore, name: str, leg: str, votes: Iterable[PersonVote]
) -> LegResult:
    """Add votes to the result of a settled leg; returns the result with all votes."""
    cast = {vote.voter: vote for vote in votes}
    for _ in range(MAX_TRIES):
        found = await experiments.leg(name, leg)
        if found is None or found.result is None:
            break
        result = read_result(found.result)
        merged = {vote.voter: vote for vote in result.votes} | cast
        kept = replace(result, votes=tuple(merged.values()))
        if await experiments.keep_result(name, leg, kept.to_json(), was=found.result):
            return kept
    raise Invalid("The result of this debate is being changed: try again.")


async def mark_changed(experiments: ExperimentStore, name: str) -> None:
    """The server computes a report again when the experiment has changed."""
    if (stored := await experiments.experiment(name)) is not None:
        await experiments.set_state(name, stored.state)
