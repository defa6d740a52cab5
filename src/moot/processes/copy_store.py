"""Moving a store: all that one holds is taken to another as it is, and then compared on both sides.

Debates and conversations go in loads, each of them one transaction where it arrives. So a move that was
broken off has left whole debates behind it and goes on with the next one, and one that has grown meanwhile in
the old store is taken once more. Nobody writes to the old store while it lasts. It is left as it is.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from moot.compat.row_readers import without_secrets
from moot.core.errors import Invalid, Unavailable
from moot.providers.keys import Secret
from moot.settings import POSTGRES_SCHEMES
from moot.store.copying import DEBATES, TABLE_GROUPS, WHOLE_TABLES, StoreTables, TableGroup
from moot.store.sql import Row
from moot.store.sqlite.copying_sqlite import SqliteTables
from moot.store.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from moot.store.contract import Store

BATCH_IDS, BATCH_LINES = 50, 2000
"""How many go in one transaction; one that has more lines goes alone."""

ReportProgress = Callable[[int, int, str], None]
"""How much is done, of how much, and what is being done."""


class StoreAddress(Struct, frozen=True):
    """Where a store is. Its repr tells no password."""

    where: Secret
    label: str
    """What `MOOT_STORE` is to be, but for the password."""
    path: Path | None = None
    """Of a file."""


class OpenedStore(Struct, frozen=True):
    """A store that is open for a move."""

    address: StoreAddress
    store: Store
    tables: StoreTables


class CopyReport(Struct, frozen=True):
    counts: dict[str, int]
    """How many rows of each table were there to be taken."""
    differing: tuple[str, ...]
    """Debates and conversations that are not the same on both sides, and tables that lack something."""


def parse_address(typed: str) -> StoreAddress:
    kind, _, rest = typed.partition(":")
    if kind == "sqlite" and rest:
        path = Path(rest.removeprefix("//")).expanduser().absolute()
        return StoreAddress(Secret(str(path)), f"sqlite:{path}", path)
    if kind in POSTGRES_SCHEMES and rest.startswith("//"):
        return StoreAddress(Secret(typed), without_secrets(typed))
    raise Invalid("A store is sqlite:FILE or postgresql://user@host/database.")


@asynccontextmanager
async def open_for_copy(address: StoreAddress, locks: Path, *, new: bool) -> AsyncGenerator[OpenedStore]:
    """`locks` is the data folder of this machine. A store is made only where one is `new`."""
    if not new and address.path is not None and not address.path.is_file():
        raise Unavailable(f"There is nothing to move: {address.path} is not there.")
    opening = _file(address.path, locks) if address.path else _database(address, new=new)
    store, belongings = await opening
    try:
        yield OpenedStore(address, store, belongings)
    finally:
        await belongings.close()
        await store.close()


async def _file(path: Path, locks: Path) -> tuple[Store, StoreTables]:
    return SqliteStore.open(path), await SqliteTables.open(path, locks)


async def _database(address: StoreAddress, *, new: bool) -> tuple[Store, StoreTables]:
    from moot.store.postgres.copying_postgres import PostgresTables
    from moot.store.postgres.store import PostgresStore

    url = address.where.reveal()
    belongings = await PostgresTables.open(url)
    try:
        if not new and not await belongings.has_tables():
            raise Unavailable(f"There is nothing to move: {address.label} has no tables of Moot.")
        return await PostgresStore.open(url, pool=2), belongings
    except BaseException:
        await belongings.close()
        raise


# --- the move -------------------------------------------------------------------------------------------


async def copy_store(
    source: OpenedStore, target: OpenedStore, *, told: ReportProgress, resume: bool = False
) -> CopyReport:
    """Raises Invalid where the target holds something else, or either is in use."""
    old, new = source.tables, target.tables
    async with old.locked():
        for alive in (await old.active_runner(), await new.active_runner()):
            if alive:
                raise Invalid(f"There is {alive}: stop it first, and begin again.")
        await _check_target(source, target, resume=resume)
        for table in WHOLE_TABLES:
            await new.write_table(table, await old.read_table(table))
        for kind in TABLE_GROUPS:
            await _copy_group(old, new, kind, told)
        if target.address.path is None:
            await advance_job_ids(target.address.where, await new.latest_epoch())
        differing = [one for kind in TABLE_GROUPS for one in await _compare_group(source, target, kind, told)]
        return CopyReport(await old.row_counts(), (*differing, *await _differing_tables(old, new)))


async def _check_target(source: OpenedStore, target: OpenedStore, *, resume: bool) -> None:
    for kind in TABLE_GROUPS:
        here, there = await source.tables.line_counts(kind), await target.tables.line_counts(kind)
        if there and not resume:
            raise Invalid(
                f"{target.address.label} holds {len(there):,} {kind.name} already. "
                "--resume goes on with a move that was broken off; for another, name an empty one."
            )
        if others := there.keys() - here.keys():
            raise Invalid(
                f"{target.address.label} holds {len(others):,} {kind.name} that {source.address.label} "
                "does not have: it is not the place that the move began with."
            )


async def _copy_group(old: StoreTables, new: StoreTables, kind: TableGroup, told: ReportProgress) -> None:
    roll = await old.line_counts(kind)
    done, total = 0, sum(roll.values())
    there = await new.line_counts(kind)
    for ids in batches(roll):
        known = [one for one in ids if one in there]
        again = await _changed_since(old, new, kind, known, there)
        wanted = [one for one in ids if one not in there or one in again]
        if wanted:
            rows = {part: await old.read_rows(part, wanted) for part in kind.parts}
            async with aclosing(old.read_pages(kind, wanted)) as pages:
                await new.write_group(kind, wanted, rows, pages)
        done += sum(roll[one] for one in ids)
        told(done, total, f"copying {kind.name}")


async def _changed_since(
    old: StoreTables, new: StoreTables, kind: TableGroup, ids: Sequence[str], there: Mapping[str, int]
) -> set[str]:
    """Those of the target that are no longer as in the source. A debate that has gone on where it was taken
    is another one by now: it is not overwritten."""
    if not ids:
        return set()
    differing = await _differing_ids(old, new, kind, ids)
    if kind is DEBATES and differing:
        before, after = await checksums(old, kind, ids, there), await checksums(new, kind, ids)
        for one in differing:
            if before.get(one) != after.get(one):
                raise Invalid(
                    f"The debate {one} has gone on in the new store. For a move, name an empty one."
                )
    return differing


def batches(roll: Mapping[str, int]) -> Generator[list[str]]:
    load, lines = list[str](), 0
    for ident, count in roll.items():
        if load and (len(load) == BATCH_IDS or lines + count > BATCH_LINES):
            yield load
            load, lines = [], 0
        load.append(ident)
        lines += count
    if load:
        yield load


async def advance_job_ids(where: Secret, epoch: int) -> None:
    """The number of the job that runs a debate becomes its epoch: it has to be later than all that came."""
    from moot.cluster.queue import make_tables
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


# --- the comparison -------------------------------------------------------------------------------------


async def _compare_group(
    source: OpenedStore, target: OpenedStore, kind: TableGroup, told: ReportProgress
) -> list[str]:
    roll = await source.tables.line_counts(kind)
    done, total = 0, sum(roll.values())
    differing = list[str]()
    for ids in batches(roll):
        unlike = await _differing_ids(source.tables, target.tables, kind, ids)
        for one in ids if kind is DEBATES else ():
            if one not in unlike and not await _same_state(source.store, target.store, one):
                unlike.add(one)
        differing += sorted(unlike)
        done += sum(roll[one] for one in ids)
        told(done, total, f"comparing {kind.name}")
    return differing


async def _same_state(old: Store, new: Store, debate_id: str) -> bool:
    return await old.state(debate_id) == await new.state(debate_id)


async def _differing_ids(
    old: StoreTables, new: StoreTables, kind: TableGroup, ids: Sequence[str]
) -> set[str]:
    """Those of which any row differs."""
    unlike = set[str]()
    for part in kind.parts:
        before, after = _by_id(await old.read_rows(part, ids)), _by_id(await new.read_rows(part, ids))
        unlike |= {one for one in ids if before.get(one) != after.get(one)}
    before, after = await checksums(old, kind, ids), await checksums(new, kind, ids)
    return unlike | {one for one in ids if before.get(one) != after.get(one)}


async def checksums(
    belongings: StoreTables, kind: TableGroup, ids: Sequence[str], most: Mapping[str, int] | None = None
) -> dict[str, tuple[int, str]]:
    """How many lines each has, and a digest over all of them; or over the first so many."""
    made, counted = {one: blake2b(digest_size=32) for one in ids}, dict.fromkeys(ids, 0)
    async with aclosing(belongings.read_pages(kind, ids)) as pages:
        async for page in pages:
            for ident, *line in page:
                if most is None or counted[ident] < most[ident]:
                    counted[ident] += 1
                    made[ident].update(repr(line).encode())
    return {one: (counted[one], made[one].hexdigest()) for one in ids}


def _by_id(rows: Sequence[Row]) -> dict[str, list[Row]]:
    sorted_: dict[str, list[Row]] = {}
    for row in rows:
        sorted_.setdefault(row[0], []).append(tuple(map(_plain, row)))
    return sorted_


def _plain(value: object) -> object:
    """A motion may hold a NUL, which PostgreSQL has no place for. The log has it in JSON, and as it was."""
    return value.replace("\0", "\ufffd") if isinstance(value, str) else value


async def _differing_tables(old: StoreTables, new: StoreTables) -> list[str]:
    """Tables that are not the same; but tokens may have been made at the new place already."""
    before, after = await old.row_counts(), await new.row_counts()
    lacking = [table for table in before if table not in WHOLE_TABLES and before[table] != after[table]]
    for table in WHOLE_TABLES:
        there = await new.read_table(table)
        if any(row not in there for row in await old.read_table(table)):
            lacking.append(table)
    return lacking
