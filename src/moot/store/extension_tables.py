"""Tables of extensions: each has migrations of its own, and a store of its own over them.

    TABLES = Tables("flow", "acme_flow", sql=SqlFlow, memory=MemoryFlow)
    Extension("flow", tables=lambda: TABLES)
    await store.tables(TABLES).claims(debate_id)

The migrations are `migrations/sqlite/0001_*.sql` ... and `migrations/postgres/0001_*.sql` ... in the package.
They run after those of the core, when a store is opened; `extension_schemas` has the number of the last one.
Only what asks for these tables fails where a newer version has written them, or a migration fails.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import datetime
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar

from msgspec import Struct

from moot.core.errors import NewerSchema, StoreError
from moot.extension import loaded
from moot.store.sql import Row, RunStatement, RunTransaction

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from moot.store.copying import CopiedTable, TableGroup

T = TypeVar("T")
Database = Literal["sqlite", "postgres"]

log = logging.getLogger("moot")


class SqlAccess(NamedTuple):
    """How SQLite and PostgreSQL are reached, with statements as in `store/sql.py`."""

    query: RunStatement
    write: RunStatement
    transact: RunTransaction
    transact_and_scrub: RunTransaction
    """For what deletes: where deleted rows can be read from the disk they are overwritten."""
    clock: Callable[[], datetime]


class MemoryAccess(NamedTuple):
    clock: Callable[[], datetime]
    summary_of: Callable[[str], str | None]
    """The summary of a debate as `debates.summary` has it, or None."""


class Tables(Struct, Generic[T], frozen=True):
    """What an extension says of its tables. T is what `store.tables` returns."""

    name: str
    """Of the extension."""
    package: str
    """In whose folder `migrations/` is."""
    sql: Callable[[SqlAccess], T]
    memory: Callable[[MemoryAccess], T]
    """The same for a store in memory."""
    keeps: str = ""
    """`table.column` with the ids of debates that must not be deleted for their age."""
    kept_in_memory: Callable[[T], Collection[str]] = lambda _store: ()
    """The same of a store in memory."""
    copied: tuple[CopiedTable, ...] = ()
    """Those that are copied as a whole when a store is moved."""
    groups: tuple[TableGroup, ...] = ()
    """Those that are copied after them in groups, as debates with their logs are."""
    adopted: tuple[str, ...] = ()
    """Of each of the first migrations a column that it adds, as `table.column`. Where a database has it but
    no migration is recorded, a version that recorded none has applied that migration."""

    def scripts(self, database: Database) -> dict[int, str]:
        return dict(numbered_scripts(files(self.package).joinpath("migrations", database)))


class ExtensionSchemas(Struct, frozen=True):
    """Of an open store: the tables of which extensions it has."""

    failures: Mapping[str, StoreError | None]
    """None where they are there and up to date."""
    keeps: tuple[str, ...]

    def check(self, name: str) -> None:
        """Raises why the tables of this extension cannot be used."""
        if name not in self.failures:
            raise StoreError(f"The extension {name} was not loaded when the store was opened.")
        if error := self.failures[name]:
            raise error

    @property
    def keeps_sql(self) -> str:
        """Further conditions for a row of `debates`."""
        pairs = [column.partition(".") for column in self.keeps if re.fullmatch(r"\w+\.\w+", column)]
        return "".join(
            f" AND NOT EXISTS (SELECT 1 FROM {table} WHERE {table}.{column} = debates.id)"  # noqa: S608 - names
            for table, _, column in pairs
        )


def loaded_tables() -> tuple[Tables[Any], ...]:
    """Those of all extensions that are loaded."""
    return tuple(tables for _, tables in loaded().of(lambda extension: extension.tables))


def line_tables() -> list[str]:
    """The tables of extensions that grow as logs do: they count in the size of a store."""
    return [group.lines.name for tables in loaded_tables() for group in tables.groups]


def refuse_newer(version: int, known: int, extension: str = "") -> None:
    if version > known:
        of = f" of the extension {extension}" if extension else ""
        raise NewerSchema(
            f"This store has schema {version}{of}, but this Moot knows only up to {known}: "
            "it was written by a newer version. Upgrade Moot to open it."
        )


def migration_failed(name: str, error: Exception) -> StoreError:
    """Logged, because only what asks for these tables would tell it otherwise."""
    failure = StoreError(f"The tables of the extension {name} cannot be made.")
    failure.__cause__ = error
    log.error("%s (%s)", failure, error)
    return failure


def numbered_scripts(folder: Traversable) -> Iterator[tuple[int, str]]:
    for file in folder.iterdir():
        if file.name.endswith(".sql"):
            yield int(file.name[:4]), file.read_text("utf-8")


def keeps_of(rows: list[Row]) -> tuple[str, ...]:
    return tuple(row[0] for row in rows)
