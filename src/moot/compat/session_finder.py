"""Finds the session that a client means: by its id, by a response, or by what was said last.

Marks in the store lead there at once, however many sessions there are. Where the words of a turn reached a
client together with those of an attempt that broke off, its last sessions are looked at one by one.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from datetime import UTC, datetime, timedelta

from moot.compat.turn_stream import AskedTurn
from moot.core.errors import UnknownDebate
from moot.core.state import Debate
from moot.engine.arena import Arena
from moot.rules.turn_sessions import FORMAT_NAME, latest_turn
from moot.store.contract import DebateFilter
from moot.views.session_rows import response_key, row_key, text_key

SAME_TURN = timedelta(seconds=15)
"""How long after its end an opening turn is the same, if it is asked for again: a client that has not heard
the end comes back within seven seconds."""
RECENT_SESSIONS = 20
OPENING_SECONDS = 3600.0
"""Longer than an opening turn takes."""


class SessionFinder:
    def __init__(self, arena: Arena) -> None:
        self._arena = arena

    async def by_id(self, name: str, owner: str | None) -> Debate:
        """By our id, or by the one that it had elsewhere. Raises UnknownDebate."""
        if ids := await self._arena.store.find_sessions(row_key(name), owner=owner):
            name = ids[0]
        debate = await self._arena.state(name)
        if debate.format.name != FORMAT_NAME:
            raise UnknownDebate
        return debate

    async def find_for_turn(self, asked: AskedTurn, owner: str | None) -> Debate | None:
        """The one in which this turn is, or was, the next."""
        if asked.previous_response_id is not None:
            ids = await self._arena.store.find_sessions(response_key(asked.previous_response_id), owner=owner)
            for debate_id in ids:
                return await self._arena.state(debate_id)
        if not asked.opponent_text:
            return None
        fitting = [debate async for debate in self._by_words(asked, owner)]
        # Of several in which the same was said, the one that waits for this turn.
        waiting = (debate for debate in fitting if latest_turn(debate, asked.slot) is None)
        return next(waiting, fitting[0] if fitting else None)

    async def remember(self, request_key: str, debate_id: str) -> None:
        """`request_key` is who asked for its first turn, and in which words."""
        await self._arena.shared_state.put(f"opened for {request_key}", debate_id.encode(), OPENING_SECONDS)

    async def recently_opened(self, request_key: str, asked: AskedTurn) -> Debate | None:
        """The one that was opened by the same request of the same client a moment ago, and is still there."""
        if (data := await self._arena.shared_state.get(f"opened for {request_key}")) is None:
            return None
        try:
            debate = await self._arena.state(data.decode())
        except UnknownDebate:
            return None
        turn = latest_turn(debate, asked.slot)
        ended = turn.ended_at if turn else None
        moved_on = debate.final or any(other.slot > asked.slot for other in (*debate.turns, *debate.live))
        return None if moved_on or (ended and datetime.now(UTC) - ended > SAME_TURN) else debate

    async def _by_words(self, asked: AskedTurn, owner: str | None) -> AsyncGenerator[Debate]:
        """Newest first."""
        ids: Sequence[str] = await self._arena.store.find_sessions(text_key(asked.opponent_text), owner=owner)
        exact = bool(ids)
        if not exact:
            wanted = DebateFilter(owner=owner, format=FORMAT_NAME, search=asked.topic)
            ids = [head.id for head in (await self._arena.store.list(wanted, limit=RECENT_SESSIONS)).heads]
        for debate_id in ids:
            debate = await self._arena.state(debate_id)
            if _goes_on(debate, asked, exact=exact):
                yield debate


def _goes_on(debate: Debate, asked: AskedTurn, *, exact: bool) -> bool:
    """Whether the turn before this one ended with those words."""
    turn = latest_turn(debate, asked.slot - 1)
    if debate.motion != asked.topic or turn is None or not turn.has_words:
        return False
    said = turn.text.strip()
    return asked.opponent_text == said if exact else asked.opponent_text.endswith(said)
