"""A store in memory, for tests and for `--no-save`.

Every operation happens between two awaits, so it is atomic.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from msgspec import Struct, field

from moot.core.errors import KeyReused, MootError, UnknownDebate
from moot.core.events import Recorded, encode
from moot.core.evolve import fold
from moot.core.state import Debate
from moot.core.statuses import ACTIVE, ENDED
from moot.rules.turn_by_turn import lookup_keys
from moot.store.batch import (
    RepeatedRequest,
    WriterAnswer,
    append_events,
    check_epoch,
    deliver_answers,
    is_unclaimed,
    next_epoch,
    now,
    only_open_calls,
    unclaimed,
)
from moot.store.contract import (
    IDEMPOTENCY_PERIOD,
    MAX_SESSIONS_FOUND,
    NO_FILTER,
    SUMMARIES_PER_PAGE,
    UNCLAIMED,
    AccessToken,
    ActiveDebate,
    AppendStreamed,
    Clock,
    DebateFilter,
    DebateHead,
    DebatePage,
    DecideOnHead,
    IdempotencyKey,
    Listener,
    LogPosition,
    RecordResult,
    StoredInvitation,
    StoreFigures,
    check_invitation,
    head_of,
)
from moot.store.extension_tables import MemoryAccess, Tables
from moot.views.summary import summary

T = TypeVar("T")


class _Log(Struct):
    debate: Debate
    owner: str
    epoch: int
    summary: bytes
    turned_at: datetime
    size: int = 0
    runner: str = ""
    marks: set[str] = field(default_factory=set[str])
    records: list[Recorded] = field(default_factory=list[Recorded])
    bodies: dict[str, bytes] = field(default_factory=dict[str, bytes])


class MemoryStore:
    """A `Store` that writes nothing to disk: what it holds is gone with it."""

    def __init__(self, clock: Clock = now) -> None:
        self._clock = clock
        self._logs: dict[str, _Log] = {}
        self._requests: dict[tuple[str, str], tuple[datetime, RepeatedRequest]] = {}
        """By client and key, with the time at which each is forgotten."""
        self._tokens: dict[str, AccessToken] = {}
        self._invitations: dict[str, StoredInvitation] = {}
        self._listeners: list[Listener] = []
        self._extension_stores: dict[str, tuple[Tables[Any], Any]] = {}

    def tables(self, tables: Tables[T]) -> T:
        if tables.name not in self._extension_stores:
            made = tables.memory(MemoryAccess(self._clock, self._summary_of))
            self._extension_stores[tables.name] = tables, made
        return self._extension_stores[tables.name][1]

    def listen(self, listener: Listener) -> None:
        self._listeners.append(listener)

    async def record(
        self,
        debate_id: str,
        decide: DecideOnHead,
        *,
        epoch: int | None = None,
        owner: str = "",
        once: IdempotencyKey | None = None,
        bodies: Mapping[str, bytes] | None = None,
    ) -> RecordResult:
        if once and (request := self._repeated(once)):
            return self._replay(request)
        log = self._logs.get(debate_id)
        if log:
            check_epoch(epoch, log.epoch)
        debate = log.debate if log else None
        present_epoch = log.epoch if log else epoch or 0
        outcome = append_events(debate, debate_id, decide(debate), epoch=present_epoch, at=self._clock())
        encoded_summary = summary(outcome.debate)
        if log is None:
            log = _Log(outcome.debate, owner, present_epoch, encoded_summary, outcome.debate.created_at)
        if is_unclaimed(debate, outcome.debate):
            log.runner = UNCLAIMED
        self._save(log, outcome, encoded_summary)
        log.bodies.update(bodies or {})
        if outcome.debate.is_session:
            log.marks.update(lookup_keys(outcome.debate, outcome.records))
        log.turned_at = outcome.debate.updated_at if outcome.records else log.turned_at
        if once:
            self._remember(once, outcome)
        self._notify(debate_id, outcome.records)
        await asyncio.sleep(0)
        return outcome

    def append_streamed(self, requests: Sequence[AppendStreamed]) -> None:
        answers: list[WriterAnswer] = []
        for request in requests:
            try:
                answers.append((request.reply, self._append(request), None))
            except MootError as error:
                answers.append((request.reply, None, error))
        deliver_answers(answers, self._listeners)

    def _append(self, request: AppendStreamed) -> RecordResult:
        log = self._log(request.debate_id)
        check_epoch(request.epoch, log.epoch)
        words = only_open_calls(log.debate, request.events)
        outcome = append_events(log.debate, log.debate.id, words, epoch=request.epoch, at=self._clock())
        self._save(log, outcome, log.summary)
        return outcome

    async def read(self, debate_id: str, after: int = 0, limit: int = 1000) -> tuple[Recorded, ...]:
        log = self._logs.get(debate_id)
        after = max(after, 0)
        return tuple(log.records[after : after + max(limit, 0)]) if log else ()

    async def state(self, debate_id: str, upto: int | None = None) -> Debate:
        log = self._log(debate_id)
        if upto is None or upto >= log.debate.seq:
            return log.debate
        debate = fold(log.records[: max(upto, 0)])
        if debate is None:
            raise UnknownDebate
        return debate

    def cached_state(self, debate_id: str) -> Debate | None:
        log = self._logs.get(debate_id)
        return log.debate if log else None

    def release(self, debate_id: str) -> None:
        """This store is the memory itself."""

    async def state_at_least(self, debate_id: str, seq: int) -> Debate:
        return await self.state(debate_id)

    async def head(self, debate_id: str) -> DebateHead:
        return _head(self._log(debate_id))

    async def list(
        self, filters: DebateFilter = NO_FILTER, *, limit: int = 20, offset: int = 0
    ) -> DebatePage:
        heads = (_head(log) for log in reversed(self._logs.values()))
        matching = [head for head in heads if filters.matches(head)]
        return DebatePage(tuple(matching[offset : offset + limit]), len(matching))

    async def find_sessions(self, key: str, *, owner: str | None = None) -> tuple[str, ...]:
        logs = (log for log in reversed(self._logs.values()) if owner is None or log.owner == owner)
        return tuple(log.debate.id for log in logs if key in log.marks)[:MAX_SESSIONS_FOUND]

    async def summaries(self, *, owner: str | None = None) -> AsyncGenerator[bytes, None]:
        matching = [log for log in reversed(self._logs.values()) if owner is None or log.owner == owner]
        for start in range(0, len(matching), SUMMARIES_PER_PAGE):
            yield b"[" + b",".join(log.summary for log in matching[start : start + SUMMARIES_PER_PAGE]) + b"]"
            await asyncio.sleep(0)

    async def claimed_debates(self) -> tuple[ActiveDebate, ...]:
        return tuple(_active_debate(log) for log in self._logs.values() if log.runner)

    async def active_debates(self, since: datetime | None = None) -> tuple[ActiveDebate, ...]:
        matching = (log for log in self._logs.values() if log.debate.status in ACTIVE)
        return tuple(_active_debate(log) for log in matching if since is None or log.turned_at >= since)

    async def request_body(self, debate_id: str, digest: str) -> bytes | None:
        log = self._logs.get(debate_id)
        return log.bodies.get(digest) if log else None

    async def claim(
        self, debate_id: str, runner: str, *, seen_epoch: int | None = None, epoch: int | None = None
    ) -> int:
        log = self._log(debate_id)
        log.epoch = next_epoch(log.epoch, seen_epoch, epoch)
        log.runner = runner or unclaimed(log.debate)
        return log.epoch

    async def positions(self, debate_ids: Sequence[str]) -> dict[str, LogPosition]:
        logs = {debate_id: self._logs.get(debate_id) for debate_id in debate_ids}
        return {debate_id: LogPosition(log.debate.seq, log.epoch) for debate_id, log in logs.items() if log}

    async def changed_elsewhere(self) -> bool:
        return False

    async def delete(self, debate_id: str) -> None:
        self._log(debate_id)
        del self._logs[debate_id]
        self._requests = {
            key: saved for key, saved in self._requests.items() if saved[1].debate_id != debate_id
        }
        self._invitations = {
            key: invitation for key, invitation in self._invitations.items() if invitation.debate != debate_id
        }
        self._notify(debate_id, None)

    async def ended_before(self, before: datetime, limit: int = 100) -> tuple[str, ...]:
        ended = [
            log
            for log in self._logs.values()
            if log.debate.status in ENDED and int(log.debate.updated_at.timestamp()) < int(before.timestamp())
        ]
        ended.sort(key=lambda log: int(log.turned_at.timestamp()))
        kept = {
            debate_id
            for tables, made in self._extension_stores.values()
            for debate_id in tables.kept_in_memory(made)
        }
        return tuple(log.debate.id for log in ended if log.debate.id not in kept)[: max(limit, 0)]

    def _summary_of(self, debate_id: str) -> str | None:
        log = self._logs.get(debate_id)
        return log.summary.decode() if log else None

    async def size(self) -> int:
        return sum(log.size + sum(map(len, log.bodies.values())) for log in self._logs.values())

    async def figures(self) -> StoreFigures:
        logs = self._logs.values()
        statuses = Counter(log.debate.status for log in logs)
        runners = Counter(log.runner for log in logs if log.runner)
        return StoreFigures(dict(statuses), dict(runners), await self.size())

    async def tokens(self) -> tuple[AccessToken, ...]:
        return tuple(self._tokens[name] for name in sorted(self._tokens))

    async def save_token(self, token: AccessToken) -> None:
        self._tokens[token.name] = token

    async def delete_token(self, name: str) -> bool:
        return self._tokens.pop(name, None) is not None

    async def add_invitation(self, invitation: StoredInvitation) -> None:
        log, at = self._log(invitation.debate), self._clock()
        self._invitations = {key: one for key, one in self._invitations.items() if self._is_valid(one, at)}
        names = [one.name for one in self._invitations.values() if one.debate == invitation.debate]
        check_invitation(taken=invitation.name in names, invited=len(names), status=log.debate.status)
        self._invitations[invitation.digest] = invitation

    async def invitations(self, debate_id: str) -> tuple[StoredInvitation, ...]:
        at = self._clock()
        matching = (
            one for one in self._invitations.values() if one.debate == debate_id and self._is_valid(one, at)
        )
        return tuple(sorted(matching, key=lambda invitation: invitation.name))

    async def invitation(self, digest: str) -> StoredInvitation | None:
        matching = self._invitations.get(digest)
        return matching if matching and self._is_valid(matching, self._clock()) else None

    async def invited(self, digests: Collection[str]) -> tuple[StoredInvitation, ...]:
        matching = [await self.invitation(digest) for digest in digests]
        return tuple(invitation for invitation in matching if invitation)

    async def delete_invitation(self, debate_id: str, name: str) -> bool:
        deleted = {k for k, g in self._invitations.items() if (g.debate, g.name) == (debate_id, name)}
        self._invitations = {
            k: g for k, g in self._invitations.items() if k not in deleted and g.via not in deleted
        }
        return bool(deleted)

    def _is_valid(self, invitation: StoredInvitation, at: datetime) -> bool:
        return not invitation.expired(at) and (invitation.via is None or invitation.via in self._invitations)

    @property
    def write_error(self) -> str:
        return ""

    async def close(self) -> None:
        pass

    def _notify(self, debate_id: str, records: tuple[Recorded, ...] | None) -> None:
        if records is None or records:
            for listener in self._listeners:
                listener(debate_id, records)

    def _log(self, debate_id: str) -> _Log:
        if debate_id not in self._logs:
            raise UnknownDebate
        return self._logs[debate_id]

    def _save(self, log: _Log, outcome: RecordResult, summary: bytes) -> None:
        # Encoded here too, so that an event that cannot be written is refused.
        log.size += sum(len(encode(recorded)) for recorded in outcome.records)
        log.debate = outcome.debate
        log.summary = summary
        log.records += outcome.records
        self._logs[outcome.debate.id] = log

    def _repeated(self, once: IdempotencyKey) -> RepeatedRequest | None:
        expires, request = self._requests.get((once.client, once.key), (self._clock(), None))
        if request is None or expires <= self._clock():
            return None
        if request.body_hash != once.body_hash:
            raise KeyReused
        return request

    def _replay(self, request: RepeatedRequest) -> RecordResult:
        records = self._log(request.debate_id).records[: request.last]
        debate = fold(records)
        if debate is None:
            raise UnknownDebate
        return RecordResult(debate, tuple(records[request.first - 1 :]), replayed=True)

    def _remember(self, once: IdempotencyKey, outcome: RecordResult) -> None:
        last = outcome.debate.seq
        request = RepeatedRequest(once.body_hash, outcome.debate.id, last - len(outcome.records) + 1, last)
        at = self._clock()
        self._requests = {key: saved for key, saved in self._requests.items() if saved[0] > at}
        self._requests[once.client, once.key] = at + IDEMPOTENCY_PERIOD, request


def _active_debate(log: _Log) -> ActiveDebate:
    return ActiveDebate(log.debate.id, log.debate.seq, log.runner, log.debate.updated_at)


def _head(log: _Log) -> DebateHead:
    return head_of(log.debate, log.summary, owner=log.owner, epoch=log.epoch, runner=log.runner)
