"""A batch in SQLite: decided inside one transaction on the heads of its debates, then written at once.

States come from the cache; one that another process may have outgrown is brought up to date first.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime

import msgspec

from moot.store.batch import Batch, CachedState, DebateAppend, KeyedRequest, RepeatedRequest
from moot.store.contract import IDEMPOTENCY_PERIOD, IdempotencyKey
from moot.store.sql_store import StateCache
from moot.store.sqlite import queries


class SqliteBatch(Batch):
    def __init__(
        self, connection: sqlite3.Connection, states: StateCache, *, generation: int, at: datetime
    ) -> None:
        """`generation` counts the commits of other processes that were noticed: a cached state of an earlier
        one may be out of date."""
        super().__init__(at)
        self._connection = connection
        self._states = states
        self._generation = generation
        self._seconds = int(at.timestamp())
        self._time = msgspec.json.encode(at).decode().strip('"')
        self.last_fresh_row = 0
        """How many events are in `fresh`, if any were added."""

    # --- deciding -------------------------------------------------------------------------------------

    def load(self, debate_id: str) -> CachedState | None:
        known = self._states.get(debate_id)
        if known and known.checked == self._generation:
            return known
        position = queries.position(self._connection, debate_id)
        if position is None:
            return None
        base = known.debate if known and known.debate.seq <= position.version else None
        debate = queries.fold_state(self._connection, debate_id, position.version, base)
        return CachedState(debate, position.epoch, self._generation)

    def find_repeated(self, once: IdempotencyKey) -> RepeatedRequest | KeyedRequest | None:
        """One of this batch has its place in the log already: nothing comes between."""
        earlier = super().find_repeated(once)
        return earlier.at(earlier.part.stood) if isinstance(earlier, KeyedRequest) else earlier

    def find_request(self, once: IdempotencyKey) -> RepeatedRequest | None:
        row = self._connection.execute(
            """
            SELECT body_hash, debate_id, first, seq FROM requests
            WHERE client = ? AND key = ? AND expires > ?
            """,
            (once.client, once.key, self._seconds),
        ).fetchone()
        return RepeatedRequest(*row) if row else None

    # --- writing --------------------------------------------------------------------------------------

    def write(self) -> None:
        more = [part for part in self.parts.values() if not part.has_words_only]
        if more:
            self._write_heads(more)
        self._write_events()
        if more:
            self._write_bodies_and_requests(more)

    def commit_to_cache(self) -> None:
        """After the commit."""
        for debate_id, part in self.parts.items():
            if part.debate:
                self._states.put(debate_id, CachedState(part.debate, part.epoch, self._generation))

    def drop_from_cache(self) -> None:
        """After a failed write: trust nothing that led to it."""
        for debate_id in self.parts:
            self._states.drop(debate_id)

    def _write_heads(self, changed: Sequence[DebateAppend]) -> None:
        parts = [(part, part.debate) for part in changed if part.debate]
        self._many(
            """
            INSERT INTO debates
                (id, owner, status, motion, format, turning, turned_at, epoch, runner, created_at, summary)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                (
                    part.id,
                    part.owner,
                    debate.status,
                    debate.motion,
                    debate.format.name,
                    debate.unstreamed_seq,
                    self._seconds,
                    part.epoch,
                    part.runner or "",
                    self._time,
                    part.summary,
                )
                for part, debate in parts
                if part.is_new
            ],
        )
        self._many(
            "UPDATE debates SET status = ?, turning = ?, turned_at = ?, summary = ? WHERE id = ?",
            [
                (debate.status, debate.unstreamed_seq, self._seconds, part.summary, part.id)
                for part, debate in parts
                if part.turn and not part.is_new
            ],
        )
        self._many(
            "UPDATE debates SET epoch = ?, runner = ? WHERE id = ?",
            [(part.epoch, part.runner, part.id) for part, _ in parts if part.runner is not None],
        )
        self._many(
            "DELETE FROM casts WHERE debate = (SELECT place FROM debates WHERE id = ?)",
            [(part.id,) for part, _ in parts if part.cast and not part.is_new],
        )
        self._many(
            "INSERT OR IGNORE INTO casts (model, debate) SELECT ?, place FROM debates WHERE id = ?",
            [(model, part.id) for part, _ in parts for model in part.cast],
        )
        self._many(
            "INSERT OR IGNORE INTO marks (mark, debate) SELECT ?, place FROM debates WHERE id = ?",
            [(mark, part.id) for part, _ in parts for mark in part.marks],
        )

    def _many(self, statement: str, rows: Sequence[tuple[object, ...]]) -> None:
        if rows:
            self._connection.executemany(statement, rows)

    def _write_events(self) -> None:
        """Many rows a statement, since the interpreter switches threads at each statement.

        OR ROLLBACK spares SQLite a copy of every page touched, kept in case the statement fails half way.
        """
        values: list[str | int] = []
        for part in self.parts.values():
            for seq, (epoch, body) in enumerate(part.events, part.stood + 1):
                values += (part.id, seq, self._time, epoch, body)
        start, left = 0, len(values) // 5
        for count, statement in _INSERTS.items():
            while left >= count:
                cursor = self._connection.execute(statement, values[start : start + 5 * count])
                self.last_fresh_row = cursor.lastrowid or 0
                start += 5 * count
                left -= count

    def _write_bodies_and_requests(self, parts: Sequence[DebateAppend]) -> None:
        self._many(
            "INSERT OR IGNORE INTO bodies (debate_id, digest, packed, body) VALUES (?, ?, ?, ?)",
            [(part.id, digest, *body) for part in parts for digest, body in part.bodies.items()],
        )
        keyed = [(request.once, request.at(part.stood)) for part in parts for request in part.keyed]
        if keyed:
            self._connection.execute("DELETE FROM requests WHERE expires <= ?", (self._seconds,))
        self._many(
            """
            INSERT INTO requests (client, key, body_hash, debate_id, first, seq, expires)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            [
                (once.client, once.key, *msgspec.structs.astuple(stored), self._seconds + _KEPT_SECONDS)
                for once, stored in keyed
            ],
        )


_INSERT = "INSERT OR ROLLBACK INTO fresh (debate_id, seq, at, epoch, body) VALUES "
_INSERTS = {count: _INSERT + ", ".join(["(?, ?, ?, ?, ?)"] * count) for count in (64, 32, 16, 8, 4, 2, 1)}
_KEPT_SECONDS = int(IDEMPOTENCY_PERIOD.total_seconds())
