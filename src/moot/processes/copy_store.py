"""Moving a store: all its rows are copied to another store as they are, and then compared on both sides.

Debates and what else is many are copied in batches, each in one transaction of the target. A move that was
interrupted has therefore copied whole debates and continues with the next one; a debate that has grown in the
old store meanwhile is copied again. The old store is locked against writes meanwhile, and is not changed.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from moot.core.errors import Invalid, Unavailable
from moot.providers.keys import Secret
from moot.row_io.readers import without_secrets
from moot.settings import POSTGRES_SCHEMES
from moot.store.copying import DEBATES, StoreTables, TableGroup, table_groups, whole_tables
from moot.store.sql import Row
from moot.store.sqlite.copying_sqlite import SqliteTables
from moot.store.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from moot.store.contract import Store

BATCH_IDS, BATCH_LINES = 50, 2000
"""Ids and lines in one transaction; an id with more lines has one of its own."""

ReportProgress = Callable[[int, int, str], None]
"""Called with the lines done, the number of lines, and what is being done."""


class StoreAddress(Struct, frozen=True):
    """Where a store is. Its repr shows no password."""

    where: Secret
    label: str
    """The value for `MOOT_STORE`, without the password."""
    place: str
    """The same without options such as `sslmode`: one place, however it is reached."""
    path: Path | None = None
    """The file, where it is SQLite."""


class OpenedStore(Struct, frozen=True):
    """A store that is open for a move."""

    address: StoreAddress
    store: Store
    tables: StoreTables


class CopyReport(Struct, frozen=True):
    counts: dict[str, int]
    """How many rows each table of the old store has."""
    differing: tuple[str, ...]
    """Debates, and others known by an id, that differ between the stores, and tables that lack rows."""


def parse_address(typed: str) -> StoreAddress:
    scheme, _, location = typed.partition(":")
    if scheme == "sqlite" and location:
        path = Path(location.removeprefix("//")).expanduser().absolute()
        return StoreAddress(Secret(str(path)), f"sqlite:{path}", str(path), path)
    if scheme in POSTGRES_SCHEMES and location.startswith("//"):
        return StoreAddress(Secret(typed), without_secrets(typed), without_secrets(typed, options=False))
    raise Invalid("A store is sqlite:FILE or postgresql://user@host/database.")


@asynccontextmanager
async def open_for_copy(address: StoreAddress, locks: Path, *, new: bool) -> AsyncGenerator[OpenedStore]:
    """`locks` is the data folder of this machine. The store is created only if `new`. A file that is created
    and to which nothing is copied is removed again: it would look like a copy."""
    made = new and address.path is not None and not address.path.exists()
    if not new and address.path is not None and not address.path.is_file():
        raise Unavailable(f"There is nothing to move: {address.path} is not there.")
    opening = _file(address.path, locks) if address.path else _database(address, new=new)
    store, tables = await opening
    has_copy = True
    try:
        yield OpenedStore(address, store, tables)
    except BaseException:
        has_copy = any((await tables.row_counts()).values()) if made else True
        raise
    finally:
        await tables.close()
        await store.close()
        if address.path is not None and not has_copy:
            for suffix in ("", "-wal", "-shm"):
                address.path.with_name(address.path.name + suffix).unlink(missing_ok=True)


async def _file(path: Path, locks: Path) -> tuple[Store, StoreTables]:
    return SqliteStore.open(path), await SqliteTables.open(path, locks)


async def _database(address: StoreAddress, *, new: bool) -> tuple[Store, StoreTables]:
    from moot.store.postgres.copying_postgres import PostgresTables
    from moot.store.postgres.store import PostgresStore

    url = address.where.reveal()
    tables = await PostgresTables.open(url)
    try:
        if not new and not await tables.has_tables():
            raise Unavailable(f"There is nothing to move: {address.label} has no tables of Moot.")
        return await PostgresStore.open(url, pool=2), tables
    except BaseException:
        await tables.close()
        raise


# --- copying --------------------------------------------------------------------------------------------


async def copy_store(
    source: OpenedStore, target: OpenedStore, *, report: ReportProgress, resume: bool = False
) -> CopyReport:
    """Raises Invalid where the target holds other data, or a process runs debates in either store."""
    old, new = source.tables, target.tables
    async with old.locked():
        for alive in (await old.active_runner(), await new.active_runner()):
            if alive:
                raise Invalid(f"There is {alive}: stop it first, and begin again.")
        if not any((await old.row_counts()).values()):
            raise Unavailable(f"There is nothing to move: {source.address.label} holds no debates.")
        await _check_target(source, target, resume=resume)
        for table in whole_tables():
            await new.write_table(table, await old.read_table(table))
        for group in table_groups():
            await _copy_group(old, new, group, report)
        if target.address.path is None:
            await advance_job_ids(target.address.where, await new.latest_epoch())
        differing = [
            one for group in table_groups() for one in await _compare_group(source, target, group, report)
        ]
        return CopyReport(await old.row_counts(), (*differing, *await _differing_tables(old, new)))


async def _check_target(source: OpenedStore, target: OpenedStore, *, resume: bool) -> None:
    for group in table_groups():
        source_counts, target_counts = (
            await source.tables.line_counts(group),
            await target.tables.line_counts(group),
        )
        if target_counts and not resume:
            raise Invalid(
                f"{target.address.label} holds {len(target_counts):,} {group.name} already. "
                "--resume goes on with a move that was broken off; for another, name an empty one."
            )
        if others := target_counts.keys() - source_counts.keys():
            raise Invalid(
                f"{target.address.label} holds {len(others):,} {group.name} that {source.address.label} "
                "does not have: it is not the place that the move began with."
            )


async def _copy_group(old: StoreTables, new: StoreTables, group: TableGroup, report: ReportProgress) -> None:
    line_counts = await old.line_counts(group)
    done, total = 0, sum(line_counts.values())
    target_counts = await new.line_counts(group)
    for ids in batches(line_counts):
        known = [one for one in ids if one in target_counts]
        again = await _changed_since(old, new, group, known, target_counts)
        to_copy = [one for one in ids if one not in target_counts or one in again]
        if to_copy:
            rows = {part.name: await old.read_rows(part, to_copy) for part in group.parts}
            async with aclosing(old.read_pages(group, to_copy)) as pages:
                await new.write_group(group, to_copy, rows, pages)
        done += sum(line_counts[one] for one in ids)
        report(done, total, f"copying {group.name}")


async def _changed_since(
    old: StoreTables,
    new: StoreTables,
    group: TableGroup,
    ids: Sequence[str],
    target_counts: Mapping[str, int],
) -> set[str]:
    """Those in the target that differ from the source. Raises Invalid for a debate that was continued in the
    target: it is not overwritten."""
    if not ids:
        return set()
    differing = await _differing_ids(old, new, group, ids)
    if group is DEBATES and differing:
        before, after = await checksums(old, group, ids, target_counts), await checksums(new, group, ids)
        for one in differing:
            if before.get(one) != after.get(one):
                raise Invalid(
                    f"The debate {one} has gone on in the new store. For a move, name an empty one."
                )
    return differing


def batches(line_counts: Mapping[str, int]) -> Generator[list[str]]:
    batch, lines = list[str](), 0
    for ident, count in line_counts.items():
        if batch and (len(batch) == BATCH_IDS or lines + count > BATCH_LINES):
            yield batch
            batch, lines = [], 0
        batch.append(ident)
        lines += count
    if batch:
        yield batch


async def advance_job_ids(where: Secret, epoch: int) -> None:
    """The number of a job becomes the epoch of its debate, so it has to be higher than all copied ones."""
    from moot.cluster.queue_tables import make_tables
    from moot.store.postgres.connect import open_connection, translated

    connection = await open_connection(where.reveal())
    with translated():
        async with connection:
            await make_tables(connection)
            await connection.execute(
                """
                SELECT setval('procrastinate_jobs_id_seq', greatest(last_value, %s))
                FROM procrastinate_jobs_id_seq
                """,
                (epoch,),
            )


# --- comparing ------------------------------------------------------------------------------------------


async def _compare_group(
    source: OpenedStore, target: OpenedStore, group: TableGroup, report: ReportProgress
) -> list[str]:
    line_counts = await source.tables.line_counts(group)
    done, total = 0, sum(line_counts.values())
    differing = list[str]()
    for ids in batches(line_counts):
        differing_ids = await _differing_ids(source.tables, target.tables, group, ids)
        for one in ids if group is DEBATES else ():
            if one not in differing_ids and await source.store.state(one) != await target.store.state(one):
                differing_ids.add(one)
        differing += sorted(differing_ids)
        done += sum(line_counts[one] for one in ids)
        report(done, total, f"comparing {group.name}")
    return differing


async def _differing_ids(
    old: StoreTables, new: StoreTables, group: TableGroup, ids: Sequence[str]
) -> set[str]:
    """The ids of which any row differs."""
    differing_ids = set[str]()
    for part in group.parts:
        before, after = _by_id(await old.read_rows(part, ids)), _by_id(await new.read_rows(part, ids))
        differing_ids |= {one for one in ids if before.get(one) != after.get(one)}
    before, after = await checksums(old, group, ids), await checksums(new, group, ids)
    return differing_ids | {one for one in ids if before.get(one) != after.get(one)}


async def checksums(
    tables: StoreTables, group: TableGroup, ids: Sequence[str], most: Mapping[str, int] | None = None
) -> dict[str, tuple[int, str]]:
    """How many lines each id has and a digest over them, or over the first `most` of them."""
    digests, counts = {one: blake2b(digest_size=32) for one in ids}, dict.fromkeys(ids, 0)
    async with aclosing(tables.read_pages(group, ids)) as pages:
        async for page in pages:
            for ident, *line in page:
                if most is None or counts[ident] < most[ident]:
                    counts[ident] += 1
                    digests[ident].update(repr(line).encode())
    return {one: (counts[one], digests[one].hexdigest()) for one in ids}


def _by_id(rows: Sequence[Row]) -> dict[str, list[Row]]:
    sorted_: dict[str, list[Row]] = {}
    for row in rows:
        sorted_.setdefault(row[0], []).append(tuple(map(_plain, row)))
    return sorted_


def _plain(value: object) -> object:
    """A motion may hold a NUL, which PostgreSQL cannot store. In the log it is escaped by JSON."""
    return value.replace("\0", "\ufffd") if isinstance(value, str) else value


async def _differing_tables(old: StoreTables, new: StoreTables) -> list[str]:
    """Tables that lack rows; the target may have further tokens."""
    before, after = await old.row_counts(), await new.row_counts()
    names = [table.name for group in table_groups() for table in group.tables]
    lacking = [name for name in names if before[name] != after[name]]
    for table in whole_tables():
        target_rows = await new.read_table(table)
        if any(row not in target_rows for row in await old.read_table(table)):
            lacking.append(table.name)
    return lacking
