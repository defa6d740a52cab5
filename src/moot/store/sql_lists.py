"""The statements of the lists of debates, written once for SQLite and PostgreSQL in the notation of `sql.py`.

The two differ in where the last event of a debate is known from, and in how a list is read without sorting:
SQLite is given one walk of an index for each status, and the row numbers between which days lie; PostgreSQL
plans that itself. Each store names its differences in a `ListDialect`.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Any

from msgspec import Struct

from moot.core.statuses import ACTIVE
from moot.store.contract import ActiveDebate, DebateFilter, DebateHead
from moot.store.sql import Row, Statement, search_values, sql

BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)

# Days are text: SQLite stores times with the date first, and compares them as text.
DAYS = {
    "since": "created_at >= :since /*postgres ::timestamp AT TIME ZONE 'UTC'*/",
    "before": "created_at < :before /*postgres ::timestamp AT TIME ZONE 'UTC'*/",
}
CONDITIONS = {
    "model": "casts.debate = debates.place AND casts.model = :model",
    "owner": "owner = :owner",
    "format": "format = :format",
    "search": "contains(motion, :search)",
} | DAYS
"""Of each value that a filter may have."""


class ListDialect(Struct, frozen=True):
    version: str
    updated_at: str
    """Where the number and the time of the last event come from."""
    join_heads: str
    """The table that has them, where there is one."""
    ended_before: str
    """The ids of at most `:limit` debates that ended before `:before`, oldest first. Words may still come
    after the end, so it also compares the time of the last event. `{keeps}` is where further conditions go:
    see `ExtensionSchemas.keeps_sql`."""
    plans_walks: bool
    """Whether the database finds the ordered walks itself, and counts rows fast enough."""

    def head(self, debate_id: str) -> Statement:
        text = f"SELECT debates.place, {_head(self)} FROM debates {self.join_heads} WHERE debates.id = :id"  # noqa: S608 - our own columns
        return sql(text, id=debate_id)

    def page(self, filters: DebateFilter, limit: int, offset: int) -> Statement:
        """Newest first."""
        values = self._values(filters)
        return sql(_page(self, tuple(values)), **values, limit=limit, offset=offset)

    def total(self, filters: DebateFilter) -> Statement:
        values = self._values(filters)
        return sql(_total(self, tuple(values)), **values)

    def claimed(self) -> Statement:
        return sql(f"{_active(self)} WHERE runner <> ''")

    def active(self, since: datetime | None) -> Statement:
        return sql(
            f"{_active(self)} WHERE status = ANY(:statuses) AND turned_at >= seconds(:since)",
            statuses=[*ACTIVE],
            since=since or BEGINNING,
        )

    def _values(self, filters: DebateFilter) -> dict[str, object]:
        """The values that the filter has. Their names decide which conditions the statement has."""
        statuses = list(dict.fromkeys(filters.statuses))
        before = _day_after(filters.until)
        values: dict[str, object | None] = {
            "model": filters.model or None,
            "owner": filters.owner,
            "format": filters.format or None,
            "since": str(filters.since) if filters.since else None,
            "before": str(before) if before else None,
        }
        if self.plans_walks:
            values["statuses"] = statuses or None
        else:
            values |= {f"status_{n}": status for n, status in enumerate(statuses)}
        if filters.search:
            values |= search_values(filters.search)
        return {name: value for name, value in values.items() if value is not None}


@cache
def _page(dialect: ListDialect, names: tuple[str, ...]) -> str:
    """Walks of several statuses are merged, which sorts nothing."""
    # By the column of the table that is walked: by that of the other, SQLite would sort.
    place = "casts.debate" if "model" in names else "debates.place"
    walks = [
        f"""
        SELECT {place} AS place, {_head(dialect)} FROM {_source(names)} {dialect.join_heads}
        WHERE debates.place > 0 AND {where}
        """  # noqa: S608 - our own columns
        for where in _walks(dialect, names)
    ]
    return " UNION ALL ".join(walks) + " ORDER BY place DESC LIMIT :limit OFFSET :offset"


@cache
def _total(dialect: ListDialect, names: tuple[str, ...]) -> str:
    """SQLite has the number of debates of each owner and status in `tallies`; other filters have to count."""
    counting = dialect.plans_walks or bool(CONDITIONS.keys() - {"owner"} & {*names})
    table, number = (_source(names), "count(*)") if counting else ("tallies", "coalesce(sum(n), 0)")
    counts = [f"(SELECT {number} FROM {table} WHERE {where})" for where in _walks(dialect, names)]  # noqa: S608 - our own columns
    return f"SELECT {' + '.join(counts)}"


def _walks(dialect: ListDialect, names: Collection[str]) -> list[str]:
    """The condition of each walk."""
    shared = [condition for name, condition in CONDITIONS.items() if name in names]
    days = " AND ".join(condition for name, condition in DAYS.items() if name in names)
    if days and not dialect.plans_walks:
        # So that a list uses its usual index. Clocks are set back at times: the days are compared, too.
        shared += [
            f"debates.place >= (SELECT min(place) FROM debates WHERE {days})",  # noqa: S608 - our own columns
            f"debates.place <= (SELECT max(place) FROM debates WHERE {days})",  # noqa: S608 - our own columns
        ]
    if "statuses" in names:
        shared.append("status = ANY(:statuses)")
    by_status = [[f"status = :{name}"] for name in names if name.startswith("status_")]
    return [" AND ".join([*status, *shared]) or "TRUE" for status in by_status or [[]]]


def _source(names: Collection[str]) -> str:
    """A model's debates are found through `casts`: CROSS JOIN keeps the two in this order in SQLite."""
    return "casts CROSS JOIN debates" if "model" in names else "debates"


@cache
def _head(dialect: ListDialect) -> str:
    return f"""
        debates.id, owner, status, motion, format, {dialect.version} AS version, epoch, runner,
        created_at, {dialect.updated_at} AS updated_at, summary
    """


def _active(dialect: ListDialect) -> str:
    columns = f"debates.id, {dialect.version}, runner, {dialect.updated_at}"
    return f"SELECT {columns} FROM debates {dialect.join_heads}"  # noqa: S608 - our own columns


def summaries(owner: str | None, before: int, limit: int) -> Statement:
    """The page of summaries before row number `before`, as JSON, and the lowest row number in it."""
    where = "TRUE" if owner is None else CONDITIONS["owner"]
    return sql(
        f"""
        SELECT json_list(summary), min(place) FROM (
            SELECT summary, place FROM debates
            WHERE {where} AND place < :before ORDER BY place DESC LIMIT :limit
        ) AS page
        """,  # noqa: S608 - our own columns
        owner=owner,
        before=before,
        limit=limit,
    )


def as_head(row: Row) -> DebateHead:
    """Of a row that begins with the row number."""
    created_at, updated_at, summary = row[-3:]
    columns: list[Any] = [*row[1:-3], as_time(created_at), as_time(updated_at), summary.encode()]
    return DebateHead(*columns)


def as_active(row: Row) -> ActiveDebate:
    debate_id, version, runner, updated_at = row
    return ActiveDebate(debate_id, version, runner, as_time(updated_at))


def as_time(value: datetime | str) -> datetime:
    """SQLite has times as text; PostgreSQL returns them in the server's time zone."""
    return value.astimezone(UTC) if isinstance(value, datetime) else datetime.fromisoformat(value)


def _day_after(day: date | None) -> date | None:
    return day + timedelta(days=1) if day and day < date.max else None
