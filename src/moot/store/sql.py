"""SQL that SQLite and PostgreSQL share, written once and run by each store on its own connection.

A statement is written for PostgreSQL with `:name` for a value, in what SQLite understands as well, except:

    /*postgres …*/            a part that only PostgreSQL needs; a comment to SQLite
    column = ANY(:names)      one of a list of values
    JOIN pairs(:keys)         a list of pairs as a table: a number `a` and a text `b`; it must not be empty
    moment(column)            a time that is compared with another
    seconds(:time)            a time in whole seconds, for a column that SQLite has as seconds since 1970
    contains(column, :text)   part of a text, casefolded, see `search_values`; PostgreSQL has it as `folded`
    json_list(column)         a JSON list of a page of rows, in the order of their `place`, newest first
    least(a, b), greatest(a, b)

Several statements that form one transaction are a generator (`Steps`): it yields each statement, is sent the
rows, and returns the result. So the same function runs in SQLite's thread and on PostgreSQL's event loop.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from functools import cache
from typing import Any, Protocol, TypeVar

from msgspec import Struct

T = TypeVar("T")
Row = tuple[Any, ...]
Values = Mapping[str, object]


class Statement(Struct, frozen=True):
    text: str
    values: Values
    many: Sequence[Values] | None = None
    """With these, the statement is run once for each of them and returns no rows."""


Steps = Generator[Statement, list[Row], T]


def sql(text: str, **values: object) -> Statement:
    return Statement(text, values)


def sql_many(text: str, many: Sequence[Values]) -> Statement:
    return Statement(text, {}, many)


def search_values(text: str) -> Values:
    """The values of `contains(column, :search)`: the text, and an escaped LIKE pattern of it."""
    folded = text.casefold()
    escaped = re.sub(r"([\\%_])", r"\\\1", folded)
    return {"search": folded, "search_pattern": f"%{escaped}%"}


class RunStatement(Protocol):
    async def __call__(self, text: str, /, **values: object) -> list[Row]:
        """Run one statement and return all rows. It may be run twice where the connection breaks."""
        ...


class RunTransaction(Protocol):
    async def __call__(self, steps: Steps[T], /) -> T:
        """Run the steps in one transaction."""
        ...


_SQLITE = (
    (r"= ANY\((:\w+)\)", r"IN (SELECT value FROM json_each(\1))"),
    (
        r"\bpairs\((:\w+)\)",
        r"(SELECT json_extract(value, '$[0]') AS a, json_extract(value, '$[1]') AS b FROM json_each(\1))",
    ),
    (r"\bmoment\(", "julianday("),
    (r"\bseconds\((:\w+)\)", r"CAST(strftime('%s', \1) AS INTEGER)"),
    (r"\bcontains\((\w+), (:\w+)\)", r"instr(casefold(\1), \2) > 0"),
    # As bytes, so that a long list is not decoded and encoded again.
    (r"\bjson_list\((\w+)\)", r"CAST('[' || group_concat(\1) || ']' AS BLOB)"),
    (r"\bleast\(", "min("),
    (r"\bgreatest\(", "max("),
)
_POSTGRES = (
    (r"/\*postgres\b(.*?)\*/", r"\1"),
    (
        r"\bpairs\(:(\w+)\)",
        r"(SELECT a, b FROM unnest(CAST(:\1_0 AS bigint[]), CAST(:\1_1 AS text[])) AS pair (a, b))",
    ),
    (r"\bmoment\(", "("),
    (r"\bseconds\((:\w+)\)", r"date_trunc('second', \1::timestamptz)"),
    # LIKE uses the index of trigrams where there is one.
    (r"\bcontains\(\w+, (:\w+)\)", r"folded LIKE \1_pattern"),
    (r"\bjson_list\((\w+)\)", r"'[' || string_agg(\1, ',' ORDER BY place DESC) || ']'"),
    (r"(?<!:):(\w+)", r"%(\1)s"),
)


@cache
def sqlite_text(text: str) -> str:
    for pattern, replacement in _SQLITE:
        text = re.sub(pattern, replacement, text, flags=re.DOTALL)
    return text


@cache
def postgres_text(text: str) -> str:
    for pattern, replacement in _POSTGRES:
        text = re.sub(pattern, replacement, text, flags=re.DOTALL)
    return text
