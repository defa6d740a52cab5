"""A batch in SQLite: decided inside one transaction on the heads of its debates, then written at once.

States come from the cache; one that another process may have outgrown is brought up to date first.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime
from functools import partial

import msgspec

from moot.store.append import IDEMPOTENCY_PERIOD, CachedState, RepeatedRequest, StateCache, epoch_seconds
from moot.store.batch import Batch, BatchRequest, KeyedRequest
from moot.store.contract import IdempotencyKey
from moot.store.sqlite import queries


class SqliteBatch:
    def __init__(
        self, connection: sqlite3.Connection, states: StateCache, *, generation: int, at: datetime
    ) -> None:
        """`generation` counts the commits of other processes that were noticed: a cached state of an earlier
        one may be out of date."""
        self._connection = connection
        self._states = states
        self._generation = generation
        self._seconds = epoch_seconds(at)
        self._time = msgspec.json.encode(at).decode().strip('"')
        # With methods of its own a batch would refer to itself, and be left to the garbage collector with the
        # states of all its debates: a pause of 200 ms where 300 debates are running.
        load = partial(_load, connection, states, generation)
        self._batch = Batch(load, partial(_stored_request, connection, self._seconds), at=at)
        self.last_fresh_row = 0
        """How many events are in `fresh`, if any were added."""

    # --- deciding -------------------------------------------------------------------------------------

    def decide(self, request: BatchRequest) -> object:
        result = self._batch.decide(request)
        return result.at(result.part.stood) if isinstance(result, KeyedRequest) else result

    # --- writing --------------------------------------------------------------------------------------

    def write(self) -> None:
        self._write_heads()
        self._write_events()
        self._write_bodies_and_requests()

    def commit_to_cache(self) -> None:
        """After the commit."""
        for debate_id, part in self._batch.parts.items():
            if part.debate:
                self._states.put(debate_id, CachedState(part.debate, part.epoch, self._generation))

    def drop_from_cache(self) -> None:
        """After a failed write: trust nothing that led to it."""
        for debate_id in self._batch.parts:
            self._states.drop(debate_id)

    def _write_heads(self) -> None:
        parts = [(part, part.debate) for part in self._batch.parts.values() if part.debate]
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
                    debate.turning,
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
                (debate.status, debate.turning, self._seconds, part.summary, part.id)
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
        for part in self._batch.parts.values():
            for seq, (epoch, body) in enumerate(part.events, part.stood + 1):
                values += (part.id, seq, self._time, epoch, body)
        start, left = 0, len(values) // 5
        for count, statement in _INSERTS.items():
            while left >= count:
                cursor = self._connection.execute(statement, values[start : start + 5 * count])
                self.last_fresh_row = cursor.lastrowid or 0
                start += 5 * count
                left -= count

    def _write_bodies_and_requests(self) -> None:
        parts = self._batch.parts.values()
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


def _load(
    connection: sqlite3.Connection, states: StateCache, generation: int, debate_id: str
) -> CachedState | None:
    known = states.get(debate_id)
    if known and known.checked == generation:
        return known
    position = queries.position(connection, debate_id)
    if position is None:
        return None
    base = known.debate if known and known.debate.seq <= position.version else None
    debate = queries.fold_state(connection, debate_id, position.version, base)
    return CachedState(debate, position.epoch, generation)


def _stored_request(
    connection: sqlite3.Connection, seconds: int, once: IdempotencyKey
) -> RepeatedRequest | None:
    row = connection.execute(
        """
        SELECT body_hash, debate_id, first, seq FROM requests
        WHERE client = ? AND key = ? AND expires > ?
        """,
        (once.client, once.key, seconds),
    ).fetchone()
    return RepeatedRequest(*row) if row else None
