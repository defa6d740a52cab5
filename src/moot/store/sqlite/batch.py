"""One transaction in the making: items are decided on the head of their debates, then written at once.

An item changes the draft only when nothing in it can fail any more, so one that raises leaves its
neighbours alone. States are taken from those remembered; a state that another process may have outgrown is
caught up first, inside the transaction.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec
from msgspec import Struct

from moot.core.errors import KeyReused, UnknownDebate
from moot.core.events import StreamedEvent, encode
from moot.core.state import Debate
from moot.store.append import (
    IDEMPOTENCY_PERIOD,
    RepeatedRequest,
    append_events,
    check_epoch,
    epoch_seconds,
    is_unclaimed,
    models_changed,
    next_epoch,
    only_open_calls,
    pack,
    unclaimed,
)
from moot.store.contract import UNCLAIMED, DecideOnHead, IdempotencyKey, RecordResult
from moot.store.sqlite import queries
from moot.store.state_cache import CachedState, StateCache
from moot.views.session_rows import lookup_keys
from moot.views.summary import summarize


class _Head(Struct):
    """A debate within the draft."""

    debate: Debate | None
    epoch: int
    owner: str = ""
    runner: str = ""
    summary: bytes = b""
    cast: tuple[str, ...] = ()
    """The models in it, where they may have changed."""
    marks: tuple[str, ...] = ()
    """By what it can be found from now on, too."""
    born: bool = False
    turned: bool = False
    claimed: bool = False


class SqliteBatch:
    def __init__(
        self, connection: sqlite3.Connection, states: StateCache, *, generation: int, at: datetime
    ) -> None:
        self._connection = connection
        self._states = states
        self._generation = generation
        self._at = at
        self._stamp = msgspec.json.encode(at).decode().strip('"')
        self.last_fresh_row = 0
        """How many events are in `fresh`, if any were added."""
        self._heads: dict[str, _Head] = {}
        self._events: list[str | int] = []
        self._bodies: list[tuple[str, str, bool, bytes]] = []
        self._requests: dict[tuple[str, str], RepeatedRequest] = {}

    # --- deciding -------------------------------------------------------------------------------------

    def record(
        self,
        debate_id: str,
        decide: DecideOnHead,
        epoch: int | None,
        owner: str,
        once: IdempotencyKey | None,
        bodies: Mapping[str, bytes] | None,
    ) -> RecordResult | RepeatedRequest:
        if once and (replay := self._repeated(once)):
            return replay
        head = self._head(debate_id)
        if head.debate:
            check_epoch(epoch, head.epoch)
        held = head.epoch if head.debate else epoch or 0
        outcome = append_events(head.debate, debate_id, decide(head.debate), epoch=held, at=self._at)
        rows = self._rows(outcome)
        packed = [(debate_id, digest, *pack(body)) for digest, body in (bodies or {}).items()]
        shown = summarize(outcome.debate)
        summary = msgspec.json.encode(shown)
        if models_changed(head.debate, outcome.debate):
            head.cast = shown.model_names()
        if head.debate is None:
            head.born, head.owner, head.epoch = True, owner, held
        if is_unclaimed(head.debate, outcome.debate):
            head.runner, head.claimed = UNCLAIMED, True
        head.marks += lookup_keys(outcome.debate, outcome.records)
        head.debate, head.summary = outcome.debate, summary
        head.turned = head.turned or bool(rows)
        self._events += rows
        self._bodies += packed
        if once:
            last = outcome.debate.seq
            replay = RepeatedRequest(once.body_hash, debate_id, last - len(outcome.records) + 1, last)
            self._requests[once.client, once.key] = replay
        return outcome

    def append_streamed(self, debate_id: str, events: Sequence[StreamedEvent], epoch: int) -> RecordResult:
        head = self._head(debate_id)
        if head.debate is None:
            raise UnknownDebate
        check_epoch(epoch, head.epoch)
        words = only_open_calls(head.debate, events)
        outcome = append_events(head.debate, debate_id, words, epoch=epoch, at=self._at)
        self._events += self._rows(outcome)
        head.debate = outcome.debate
        return outcome

    def claim(self, debate_id: str, runner: str, seen_epoch: int, epoch: int | None) -> int:
        head = self._head(debate_id)
        if head.debate is None:
            raise UnknownDebate
        head.epoch = next_epoch(head.epoch, seen_epoch, epoch)
        head.runner = runner or unclaimed(head.debate)
        head.claimed = True
        return head.epoch

    def _rows(self, outcome: RecordResult) -> list[str | int]:
        """Flat, as a statement of many rows wants them."""
        rows: list[str | int] = []
        for recorded in outcome.records:
            body = encode(recorded.event).decode()
            rows += (recorded.debate, recorded.seq, self._stamp, recorded.epoch, body)
        return rows

    def _head(self, debate_id: str) -> _Head:
        head = self._heads.get(debate_id)
        if head is None:
            head = self._heads[debate_id] = self._load_head(debate_id)
        return head

    def _load_head(self, debate_id: str) -> _Head:
        known = self._states.get(debate_id)
        if known and known.checked == self._generation:
            return _Head(known.debate, known.epoch)
        pulse = queries.position(self._connection, debate_id)
        if pulse is None:
            return _Head(None, 0)
        base = known.debate if known and known.debate.seq <= pulse.version else None
        return _Head(queries.fold_state(self._connection, debate_id, pulse.version, base), pulse.epoch)

    def _repeated(self, once: IdempotencyKey) -> RepeatedRequest | None:
        replay = self._requests.get((once.client, once.key)) or self._stored_request(once)
        if replay and replay.body_hash != once.body_hash:
            raise KeyReused
        return replay

    def _stored_request(self, once: IdempotencyKey) -> RepeatedRequest | None:
        row = self._connection.execute(
            """
            SELECT body_hash, debate_id, first, seq FROM requests
            WHERE client = ? AND key = ? AND expires > ?
            """,
            (once.client, once.key, epoch_seconds(self._at)),
        ).fetchone()
        return RepeatedRequest(*row) if row else None

    # --- writing --------------------------------------------------------------------------------------

    def write(self) -> None:
        self._write_heads()
        self._write_events()
        self._write_bodies()
        self._write_requests()

    def commit_to_cache(self) -> None:
        """After the commit: what was a draft is now the truth."""
        for debate_id, head in self._heads.items():
            if head.debate:
                self._states.put(debate_id, CachedState(head.debate, head.epoch, self._generation))

    def drop_from_cache(self) -> None:
        """After a failed write: trust nothing that led to it."""
        for debate_id in self._heads:
            self._states.drop(debate_id)

    def _write_heads(self) -> None:
        heads = [(debate_id, head, head.debate) for debate_id, head in self._heads.items() if head.debate]
        self._many(
            """
            INSERT INTO debates
                (id, owner, status, motion, format, turning, turned_at, epoch, runner, created_at, summary)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                (
                    debate_id,
                    head.owner,
                    debate.status,
                    debate.motion,
                    debate.format.name,
                    debate.turning,
                    epoch_seconds(self._at),
                    head.epoch,
                    head.runner,
                    self._stamp,
                    head.summary.decode(),
                )
                for debate_id, head, debate in heads
                if head.born
            ],
        )
        self._many(
            "UPDATE debates SET status = ?, turning = ?, turned_at = ?, summary = ? WHERE id = ?",
            [
                (debate.status, debate.turning, epoch_seconds(self._at), head.summary.decode(), debate_id)
                for debate_id, head, debate in heads
                if head.turned and not head.born
            ],
        )
        self._many(
            "UPDATE debates SET epoch = ?, runner = ? WHERE id = ?",
            [(head.epoch, head.runner, debate_id) for debate_id, head, _ in heads if head.claimed],
        )
        self._many(
            "DELETE FROM casts WHERE debate = (SELECT place FROM debates WHERE id = ?)",
            [(debate_id,) for debate_id, head, _ in heads if head.cast and not head.born],
        )
        self._many(
            "INSERT OR IGNORE INTO casts (model, debate) SELECT ?, place FROM debates WHERE id = ?",
            [(model, debate_id) for debate_id, head, _ in heads for model in head.cast],
        )
        self._many(
            "INSERT OR IGNORE INTO marks (mark, debate) SELECT ?, place FROM debates WHERE id = ?",
            [(mark, debate_id) for debate_id, head, _ in heads for mark in head.marks],
        )

    def _many(self, statement: str, rows: Sequence[tuple[object, ...]]) -> None:
        if rows:
            self._connection.executemany(statement, rows)

    def _write_events(self) -> None:
        """Many rows a statement: the interpreter lets other threads in at each one.

        OR ROLLBACK spares SQLite a copy of every page touched, kept in case the statement fails half way.
        """
        at, left = 0, len(self._events) // 5
        for count, statement in _INSERTS.items():
            while left >= count:
                cursor = self._connection.execute(statement, self._events[at : at + 5 * count])
                self.last_fresh_row = cursor.lastrowid or 0
                at += 5 * count
                left -= count

    def _write_bodies(self) -> None:
        self._many(
            "INSERT OR IGNORE INTO bodies (debate_id, digest, packed, body) VALUES (?, ?, ?, ?)", self._bodies
        )

    def _write_requests(self) -> None:
        if not self._requests:
            return
        at = epoch_seconds(self._at)
        self._connection.execute("DELETE FROM requests WHERE expires <= ?", (at,))
        self._connection.executemany(
            """
            INSERT INTO requests (client, key, body_hash, debate_id, first, seq, expires)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            [
                (*who, replay.body_hash, replay.debate_id, replay.first, replay.last, at + _KEPT)
                for who, replay in self._requests.items()
            ],
        )


_INSERT = "INSERT OR ROLLBACK INTO fresh (debate_id, seq, at, epoch, body) VALUES "
_INSERTS = {count: _INSERT + ", ".join(["(?, ?, ?, ?, ?)"] * count) for count in (64, 32, 16, 8, 4, 2, 1)}
_KEPT = int(IDEMPOTENCY_PERIOD.total_seconds())
