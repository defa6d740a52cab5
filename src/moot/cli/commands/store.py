"""All debates at once: `moot backup` copies them to a file, `moot migrate-store` to another store."""

from __future__ import annotations

from asyncio import CancelledError
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from moot.cli.error_messages import USAGE
from moot.cli.render.output import Terminal, add_row, make_table
from moot.cli.run_command import run
from moot.core.errors import Invalid, StoreError, Unavailable

if TYPE_CHECKING:
    from moot.processes.copy_store import CopyReport, StoreAddress

STORE = "sqlite:FILE or postgresql://user@host/database."
MAX_SHOWN = 20


def backup(
    file: Annotated[Path, Parameter(help="Where to write the copy.")],
    /,
    *,
    force: Annotated[bool, Parameter(negative="", help="Replace the file if it is there.")] = False,
) -> int:
    """Copy all debates to one file, as they are at this moment. A running server need not stop for it."""
    from moot import settings
    from moot.cli.render.progress import progress_bar
    from moot.store.sqlite.online_backup import back_up

    here = settings.load()
    if here.cluster.store is not None:
        return _explain_pg_dump(here.cluster.store.reveal(), file)
    source = here.database
    _check_backup(source, file, force=force)
    with progress_bar("copying") as show_progress:
        size = back_up(source, file, lambda done, total: show_progress(done, total, "copying"))
    terminal = Terminal.out()
    terminal.line(f"{size / 1_000_000:,.1f} MB written to ", (str(file), "bold"), ", and found sound.")
    terminal.line("To restore it, stop Moot, then:")
    old, new = quote(str(source)), quote(str(file.absolute()))
    terminal.raw(f"  rm -f {old}-wal {old}-shm\n  cp {new} {old}\n")
    return 0


def _explain_pg_dump(address: str, file: Path) -> int:
    """PostgreSQL is copied by its own tool, in one snapshot, and by someone who has the password."""
    from moot.row_io.readers import without_secrets

    terminal, where, copy = Terminal.err(), quote(without_secrets(address)), quote(str(file))
    terminal.line(("moot: ", "bold red"), "The debates are in PostgreSQL, and pg_dump is the tool for that:")
    terminal.raw(f"  pg_dump --format=custom --file={copy} {where}\n")
    terminal.line("To restore the copy into an empty database:")
    terminal.raw(f"  pg_restore --no-owner --dbname={where} {copy}\n")
    terminal.line("Both ask for the password, or read it from PGPASSWORD or ~/.pgpass.")
    return USAGE


def _check_backup(source: Path, file: Path, *, force: bool) -> None:
    if not source.exists():
        raise Unavailable(f"There is nothing to back up: {source} is not there.")
    if not file.parent.is_dir():
        raise Invalid(f"There is no folder {file.parent}.")
    if file.exists() and file.samefile(source):
        raise Invalid("That is the store itself; a backup needs another name.")
    if file.is_dir():
        raise Invalid(f"{file} is a folder; name a file in it.")
    if file.exists() and not force:
        raise Invalid(f"{file} is there already. --force replaces it.")


def migrate_store(
    source: Annotated[str, Parameter(help=f"The current store: {STORE}")],
    target: Annotated[str, Parameter(help=f"An empty one: {STORE}")],
    /,
    *,
    dry_run: Annotated[
        bool, Parameter(negative="", help="Show what would be copied; write nothing.")
    ] = False,
    resume: Annotated[bool, Parameter(negative="", help="Continue a copy that was interrupted.")] = False,
) -> int:
    """Copy all debates and whatever belongs to them, conversations and tokens to another store, and compare
    both, event by event. Stop Moot first. The old store is left as it is."""
    from moot.processes.copy_store import parse_address

    old, new = parse_address(source), parse_address(target)
    if old.place == new.place:
        raise Invalid("Source and target are the same store.")
    terminal = Terminal.out()
    if dry_run:
        terminal.line("A dry run: nothing was written. From ", (old.label, "bold"), " would be copied:")
        _count(terminal, run(_count_source(old)))
        return 0
    moved = run(_move(old, new, resume=resume))
    terminal.line("Copied to ", (new.label, "bold"), ":")
    _count(terminal, moved.counts)
    return _conclude(terminal, new, moved)


async def _count_source(address: StoreAddress) -> dict[str, int]:
    from moot import settings
    from moot.processes.copy_store import open_for_copy

    async with open_for_copy(address, settings.load().data, new=False) as home:
        return await home.tables.row_counts()


async def _move(old: StoreAddress, new: StoreAddress, *, resume: bool) -> CopyReport:
    from moot import settings
    from moot.cli.render.progress import progress_bar
    from moot.processes.copy_store import copy_store, open_for_copy

    data = settings.load().data
    async with open_for_copy(old, data, new=False) as source, open_for_copy(new, data, new=True) as target:
        try:
            with progress_bar("copying") as show_progress:
                return await copy_store(source, target, resume=resume, report=show_progress)
        except (StoreError, CancelledError):
            Terminal.err().line("What was copied is kept. Continue with the same command and --resume.")
            raise


def _count(terminal: Terminal, counts: dict[str, int]) -> None:
    from moot.store.copying import all_tables

    table = make_table("", "")
    table.show_header = False
    for counted in all_tables():
        if counted.rows:
            add_row(table, counted.rows, f"{counts[counted.name]:,}")
    terminal.table(table)


def _conclude(terminal: Terminal, new: StoreAddress, moved: CopyReport) -> int:
    if moved.differing:
        terminal.line((f"{len(moved.differing):,} are not the same on both sides:", "red"))
        for name in moved.differing[:MAX_SHOWN]:
            terminal.line("  ", name)
        terminal.line("Stay with the old store, and please report this.")
        return 1
    terminal.line(
        "All of it is there: every event is the same on both sides, and every debate folds to the same."
    )
    terminal.line("From now on set this, with the password where it needs one:")
    terminal.raw(f"  MOOT_STORE={quote(new.label)}\n")
    terminal.line("The old store was left as it is. Remove it when you no longer need it.")
    return 0
