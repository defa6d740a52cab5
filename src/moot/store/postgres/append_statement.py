"""The append: all debates of a process in one statement, one round trip, one commit.

The heads are locked in the order of their ids, so processes never deadlock. A debate whose `turning` or epoch
is no longer what was decided on is left out: its result is NULL. Words of another process are no such change,
except while a person is typing, so the database gives each event its seq. The statement has only the parts
that a batch needs: it is planned every time, and for words alone it is short.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cache

from moot.store.append import IDEMPOTENCY_PERIOD
from moot.store.batch import DebateAppend
from moot.store.contract import ENDED_STATUSES

LOCK_HEADS_SQL = """
    want AS (
        SELECT * FROM unnest(
            %(ids)s::text[], %(places)s::bigint[], %(turnings)s::bigint[], %(epochs)s::bigint[],
            %(counts)s::integer[], %(turns)s::integer[], %(new_epochs)s::bigint[], %(runners)s::text[],
            %(sizes)s::bigint[], %(versions)s::bigint[]
        ) WITH ORDINALITY AS one (id, place, turning, epoch, n, turn, new_epoch, runner, bytes, version, nth)
    ),
    locked AS (
        SELECT heads.debate_id FROM heads JOIN want ON heads.debate_id = want.id
        WHERE heads.place = want.place AND heads.turning = want.turning AND heads.epoch = want.epoch
            AND heads.version = coalesce(want.version, heads.version)
        ORDER BY heads.debate_id FOR NO KEY UPDATE OF heads
    ),
    moved AS (
        UPDATE heads SET
            version = heads.version + want.n,
            turning = CASE WHEN want.turn > 0 THEN heads.version + want.turn ELSE heads.turning END,
            epoch = want.new_epoch,
            runner = coalesce(want.runner, heads.runner),
            updated_at = CASE WHEN want.n > 0 THEN %(at)s ELSE heads.updated_at END,
            bytes = heads.bytes + want.bytes
        FROM locked JOIN want ON want.id = locked.debate_id
        WHERE heads.debate_id = locked.debate_id
        RETURNING want.nth, heads.debate_id AS id, heads.version - want.n AS base, heads.place
    )"""

NEW_DEBATES_SQL = """
    born AS (
        INSERT INTO debates
            (id, owner, status, motion, folded, format, created_at, turned_at, ended_at, summary)
        SELECT one.id, one.owner, one.status, one.motion, one.folded, one.format, %(at)s, %(at)s,
            CASE WHEN one.status = ANY(%(ended)s) THEN %(at)s::timestamptz END, one.summary
        FROM unnest(
            %(born_ids)s::text[], %(born_owners)s::text[], %(born_statuses)s::text[],
            %(born_motions)s::text[], %(born_folded)s::text[], %(born_formats)s::text[],
            %(born_summaries)s::text[]
        ) AS one (id, owner, status, motion, folded, format, summary)
        ON CONFLICT (id) DO NOTHING RETURNING id, place
    ),
    begun AS (
        INSERT INTO heads (debate_id, place, version, turning, epoch, runner, updated_at, bytes)
        SELECT born.id, born.place, want.n, want.turn, want.new_epoch, coalesce(want.runner, ''), %(at)s,
            want.bytes
        FROM born JOIN want ON want.id = born.id
    ),
    placed AS (
        SELECT nth, id, base, place FROM moved
        UNION ALL SELECT want.nth, born.id, 0, born.place FROM born JOIN want ON want.id = born.id
    )"""

KNOWN_DEBATES_SQL = """
    placed AS (SELECT nth, id, base, place FROM moved)"""

EVENTS_SQL = """
    said AS (
        INSERT INTO events (debate_id, seq, at, epoch, body)
        SELECT placed.id, placed.base + one.seq, %(at)s, one.epoch, one.body
        FROM unnest(%(said_in)s::integer[], %(said_seqs)s::integer[], %(said_epochs)s::bigint[],
            %(said)s::text[]) AS one (nth, seq, epoch, body)
        JOIN placed ON placed.nth = one.nth
    )"""

SUMMARIES_SQL = """
    turned AS (
        UPDATE debates SET
            status = one.status, summary = one.summary, turned_at = %(at)s,
            ended_at = CASE WHEN one.status = ANY(%(ended)s) THEN coalesce(debates.ended_at, %(at)s) END
        FROM unnest(%(turned_in)s::integer[], %(turned_statuses)s::text[], %(turned_summaries)s::text[])
            AS one (nth, status, summary)
        JOIN placed ON placed.nth = one.nth
        WHERE debates.place = placed.place
    )"""

BODIES_SQL = """
    kept AS (
        INSERT INTO bodies (debate_id, digest, packed, body)
        SELECT placed.id, one.digest, one.packed, one.body
        FROM unnest(%(kept_in)s::integer[], %(kept_digests)s::text[], %(kept_packed)s::boolean[],
            %(kept)s::bytea[]) AS one (nth, digest, packed, body)
        JOIN placed ON placed.nth = one.nth
        ORDER BY placed.id, one.digest
        ON CONFLICT (debate_id, digest) DO NOTHING
    )"""

# If two nodes are sent the same request, the later one violates the key, is decided again, and finds it.
REQUESTS_SQL = """
    asked AS (
        INSERT INTO requests (client, key, body_hash, debate_id, first, seq, expires)
        SELECT one.client, one.key, one.body_hash, placed.id, placed.base + one.first, placed.base + one.last,
            %(expires)s
        FROM unnest(%(asked_in)s::integer[], %(asked_clients)s::text[], %(asked_keys)s::text[],
            %(asked_hashes)s::text[], %(asked_firsts)s::integer[], %(asked_lasts)s::integer[])
            AS one (nth, client, key, body_hash, first, last)
        JOIN placed ON placed.nth = one.nth
        ORDER BY one.client, one.key
    )"""

# Deleted and inserted rows must differ: the order of the two is not defined.
CASTS_SQL = """
    playing AS (
        SELECT placed.place, one.model
        FROM unnest(%(cast_in)s::integer[], %(cast)s::text[]) AS one (nth, model)
        JOIN placed ON placed.nth = one.nth
    ),
    left_out AS (
        DELETE FROM casts WHERE debate IN (SELECT place FROM playing)
            AND (debate, model) NOT IN (SELECT place, model FROM playing)
    ),
    cast_in AS (
        INSERT INTO casts (model, debate) SELECT model, place FROM playing ORDER BY model, place
        ON CONFLICT (model, debate) DO NOTHING
    )"""

MARKS_SQL = """
    marked AS (
        INSERT INTO marks (mark, debate)
        SELECT one.mark, placed.place
        FROM unnest(%(marks_in)s::integer[], %(marks)s::text[]) AS one (nth, mark)
        JOIN placed ON placed.nth = one.nth
        ORDER BY one.mark, placed.place
        ON CONFLICT (mark, debate) DO NOTHING
    )"""

LANDED_SQL = """
    INSERT INTO landed (writer, batch, bases, places, at)
    SELECT %(writer)s, %(batch)s, array_agg(placed.base ORDER BY want.nth),
        array_agg(placed.place ORDER BY want.nth), now()
    FROM want LEFT JOIN placed ON placed.nth = want.nth
    RETURNING bases, places
"""

OPTIONAL_PARTS = {
    "said": EVENTS_SQL, "turned_in": SUMMARIES_SQL, "kept": BODIES_SQL,
    "asked_in": REQUESTS_SQL, "cast": CASTS_SQL, "marks": MARKS_SQL,
}  # fmt: skip
"""The part of the statement for each set of values."""

Values = dict[str, object]


def statement(values: Values) -> str:
    return _statement(
        "born_ids" in values, *(part for name, part in OPTIONAL_PARTS.items() if name in values)
    )


@cache
def _statement(born: bool, *parts: str) -> str:
    return (
        "WITH "
        + ",".join((LOCK_HEADS_SQL, NEW_DEBATES_SQL if born else KNOWN_DEBATES_SQL, *parts))
        + LANDED_SQL
    )


def values(parts: Sequence[DebateAppend], *, at: datetime) -> Values:
    """The columns that the statement is sent with. Columns of a part of it that has no rows are left out."""
    numbered = list(enumerate(parts, 1))
    born = [part for part in parts if part.is_new]
    turned = [(nth, part, part.debate) for nth, part in numbered if part.turn and not part.is_new]
    return {
        "at": at,
        "ended": list(ENDED_STATUSES),
        "expires": at + IDEMPOTENCY_PERIOD,
        "ids": array(part.id for part in parts),
        "places": array(part.place for part in parts),
        "turnings": array(part.turning for part in parts),
        "epochs": array(part.seen_epoch for part in parts),
        "counts": array(len(part.events) for part in parts),
        "turns": array(part.turn for part in parts),
        "new_epochs": array(part.epoch for part in parts),
        "runners": array(part.runner for part in parts),
        "sizes": array(part.size for part in parts),
        "versions": array(part.stood if part.exact else None for part in parts),
        **_new_debate_columns(born),
        **_columns(
            ("said_in", "said_seqs", "said_epochs", "said"),
            [(nth, seq, *line) for nth, part in numbered for seq, line in enumerate(part.events, 1)],
        ),
        **_columns(
            ("turned_in", "turned_statuses", "turned_summaries"),
            [(nth, debate.status, part.summary) for nth, part, debate in turned if debate],
        ),
        **_columns(
            ("kept_in", "kept_digests", "kept_packed", "kept"),
            [(nth, digest, *body) for nth, part in numbered for digest, body in part.bodies.items()],
        ),
        **_requests(numbered),
        **_columns(("cast_in", "cast"), [(nth, model) for nth, part in numbered for model in part.cast]),
        **_columns(
            ("marks_in", "marks"),
            [(nth, mark) for nth, part in numbered for mark in dict.fromkeys(part.marks)],
        ),
    }


def _new_debate_columns(born: Sequence[DebateAppend]) -> Values:
    names = (
        "born_ids", "born_owners", "born_statuses", "born_motions", "born_folded", "born_formats",
        "born_summaries",
    )  # fmt: skip
    rows = [
        (part.id, part.owner, new.status, new.motion, new.motion.casefold(), new.format.name, part.summary)
        for part in born
        if (new := part.debate)
    ]
    return _columns(names, rows)


def _requests(numbered: Sequence[tuple[int, DebateAppend]]) -> Values:
    names = ("asked_in", "asked_clients", "asked_keys", "asked_hashes", "asked_firsts", "asked_lasts")
    rows = [
        (nth, keyed.once.client, keyed.once.key, keyed.once.body_hash, keyed.first, keyed.last)
        for nth, part in numbered
        for keyed in part.keyed
    ]
    return _columns(names, rows)


def _columns(names: Sequence[str], rows: Sequence[tuple[object, ...]]) -> Values:
    if not rows:
        return {}
    return dict(zip(names, map(array, zip(*rows, strict=True)), strict=True))


def array(values: Iterable[object]) -> object:
    """In PostgreSQL's own notation: psycopg's lists take longer than the rest of an append."""
    values = list(values)
    if values and isinstance(values[0], bytes):
        return values
    return "{" + ",".join([_array_element(value) for value in values]) + "}"


def _array_element(value: object) -> str:
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return "NULL" if value is None else str(value)
