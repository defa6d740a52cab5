"""The append: all debates of a process in one statement, one round trip, one commit.

The heads are locked in the order of their ids, so processes never deadlock. A debate whose `turning` or epoch
is no longer what was decided on is left out: its result is NULL. Words of another process are no such change,
except while a person is typing, so the database gives each event its seq. The statement has only the parts
that a batch needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cache, lru_cache

from moot.core.state import Debate
from moot.core.statuses import ENDED
from moot.store.batch import DebateAppend
from moot.store.contract import IDEMPOTENCY_PERIOD

PARAMETERS = (
    "writer_id", "batch_number", "at_time", "ids", "seen_places", "turnings", "epochs", "counts", "turns",
    "new_epochs", "runners", "sizes", "versions", "said_in", "said_seqs", "said_epochs", "said",
    "turned_in", "turned_statuses", "turned_summaries", "ended", "born_in", "born_owners", "born_statuses",
    "born_motions", "born_folded", "born_formats", "born_summaries", "kept_in", "kept_digests", "kept_packed",
    "kept", "asked_in", "asked_clients", "asked_keys", "asked_hashes", "asked_firsts", "asked_lasts",
    "expires_at", "cast_in", "cast_models", "marks_in", "mark_texts",
)  # fmt: skip
"""Of the function, in this order."""

Values = dict[str, object]


def statement(values: Values) -> str:
    return _statement(frozenset(values))


@cache
def _statement(given: frozenset[str]) -> str:
    """By position: names, defaults and casts would take the server longer than the rest of a small append."""
    arguments = ", ".join(f"%({name})s" if name in given else "NULL" for name in PARAMETERS)
    return f"SELECT bases, places FROM append_events_1({arguments})"  # noqa: S608 - our own names


def values(parts: Sequence[DebateAppend], *, at: datetime) -> Values:
    """The columns that the statement is sent with. Columns of a part of it that has no rows are left out."""
    numbered = list(enumerate(parts, 1))
    born = [(nth, part, part.debate) for nth, part in numbered if part.is_new]
    turned = [(nth, part, part.debate) for nth, part in numbered if part.turn and not part.is_new]
    return {
        "at_time": at,
        "ids": array(part.id for part in parts),
        "seen_places": array(part.place for part in parts),
        "turnings": array(part.unstreamed_seq for part in parts),
        "epochs": array(part.seen_epoch for part in parts),
        "counts": array(len(part.events) for part in parts),
        "turns": array(part.turn for part in parts),
        "new_epochs": array(part.epoch for part in parts),
        "runners": array(part.runner for part in parts),
        "sizes": array(part.size for part in parts),
        "versions": array(part.stood if part.exact else None for part in parts),
        **({"ended": list(ENDED)} if born or turned else {}),
        **_new_debate_columns(born),
        **_event_columns(numbered),
        **_columns(
            ("turned_in", "turned_statuses", "turned_summaries"),
            [(nth, debate.status, part.summary) for nth, part, debate in turned if debate],
        ),
        **_columns(
            ("kept_in", "kept_digests", "kept_packed", "kept"),
            [(nth, digest, *body) for nth, part in numbered for digest, body in part.bodies.items()],
        ),
        **_requests(numbered, at),
        **_columns(
            ("cast_in", "cast_models"), [(nth, model) for nth, part in numbered for model in part.cast]
        ),
        **_columns(
            ("marks_in", "mark_texts"),
            [(nth, mark) for nth, part in numbered for mark in dict.fromkeys(part.marks)],
        ),
    }


def _new_debate_columns(born: Sequence[tuple[int, DebateAppend, Debate | None]]) -> Values:
    names = (
        "born_in", "born_owners", "born_statuses", "born_motions", "born_folded", "born_formats",
        "born_summaries",
    )  # fmt: skip
    rows = [
        (nth, part.owner, new.status, new.motion, new.motion.casefold(), new.format.name, part.summary)
        for nth, part, new in born
        if new
    ]
    return _columns(names, rows)


def _event_columns(numbered: Sequence[tuple[int, DebateAppend]]) -> Values:
    """Nearly all rows of an append are events. Their bodies are JSON, which has no line breaks: they are
    joined by line breaks and quoted together."""
    speaking = [(nth, part.events) for nth, part in numbered if part.events]
    if not speaking:
        return {}
    bodies = "\n".join([body for _, events in speaking for _, body in events])
    quoted = bodies.replace("\\", "\\\\").replace('"', '\\"').replace("\n", '","')
    return {
        "said_in": "{" + ",".join([_repeated(nth, len(events)) for nth, events in speaking]) + "}",
        "said_seqs": "{" + ",".join([_numbers_to(len(events)) for _, events in speaking]) + "}",
        "said_epochs": array(epoch for _, events in speaking for epoch, _ in events),
        "said": '{"' + quoted + '"}',
    }


def _repeated(number: int, times: int) -> str:
    return str(number) if times == 1 else ",".join([str(number)] * times)


@lru_cache(maxsize=64)
def _numbers_to(last: int) -> str:
    return ",".join(map(str, range(1, last + 1)))


def _requests(numbered: Sequence[tuple[int, DebateAppend]], at: datetime) -> Values:
    names = ("asked_in", "asked_clients", "asked_keys", "asked_hashes", "asked_firsts", "asked_lasts")
    rows = [
        (nth, keyed.once.client, keyed.once.key, keyed.once.body_hash, keyed.first, keyed.last)
        for nth, part in numbered
        for keyed in part.keyed
    ]
    return {**_columns(names, rows), "expires_at": at + IDEMPOTENCY_PERIOD} if rows else {}


def _columns(names: Sequence[str], rows: Sequence[tuple[object, ...]]) -> Values:
    if not rows:
        return {}
    return dict(zip(names, map(array, zip(*rows, strict=True)), strict=True))


def array(values: Iterable[object]) -> object:
    """In PostgreSQL's own notation: psycopg's lists take longer than the rest of an append."""
    values = list(values)
    if values and isinstance(values[0], bytes):
        return values
    # Most columns are numbers.
    if values and isinstance(values[0], int) and None not in values:
        return "{" + ",".join(map(str, values)) + "}"
    return "{" + ",".join([_array_element(value) for value in values]) + "}"


def _array_element(value: object) -> str:
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return "NULL" if value is None else str(value)
