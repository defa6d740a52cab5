"""`moot backup FILE`: a copy of all debates, made while a server may be running."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from moot.store.sqlite.online_backup import ReportPages


def backup(
    file: Annotated[Path, Parameter(help="Where to write the copy.")],
    /,
    *,
    force: Annotated[bool, Parameter(negative="", help="Replace the file if it is there.")] = False,
) -> int:
    """Copy all debates to one file, as they are at this moment. A running server need not stop for it."""
    from moot import settings
    from moot.cli.render.output import Terminal
    from moot.store.sqlite.online_backup import back_up

    here = settings.load()
    if here.cluster.store is not None:
        return _leave_it_to_its_own(here.cluster.store.reveal(), file)
    source = here.database
    _check(source, file, force=force)
    with _bar() as report:
        size = back_up(source, file, report)
    terminal = Terminal.out()
    terminal.line(f"{_megabytes(size)} MB written to ", (str(file), "bold"), ", and found sound.")
    terminal.line("To restore it, stop Moot, then:")
    old, new = quote(str(source)), quote(str(file.absolute()))
    terminal.raw(f"  rm -f {old}-wal {old}-shm\n  cp {new} {old}\n")
    return 0


def _leave_it_to_its_own(address: str, file: Path) -> int:
    """A database on a server is copied by its own tool, in one snapshot, and by one who has the password."""
    from moot.cli.error_messages import USAGE
    from moot.cli.render.output import Terminal
    from moot.compat.row_readers import without_secrets

    terminal, where, copy = Terminal.err(), quote(without_secrets(address)), quote(str(file))
    terminal.line(("moot: ", "bold red"), "The debates are in PostgreSQL, and pg_dump is the tool for that:")
    terminal.raw(f"  pg_dump --format=custom --file={copy} {where}\n")
    terminal.line("To restore the copy into an empty database:")
    terminal.raw(f"  pg_restore --no-owner --dbname={where} {copy}\n")
    terminal.line("Both ask for the password, or read it from PGPASSWORD or ~/.pgpass.")
    return USAGE


def _check(source: Path, file: Path, *, force: bool) -> None:
    from moot.core.errors import Invalid, Unavailable

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


@contextmanager
def _bar() -> Generator[ReportPages]:
    """On standard error, where someone watches."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    from moot.cli.render.output import Terminal

    terminal = Terminal.err()
    columns = (TextColumn("  copying"), BarColumn(bar_width=28), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=terminal.console, transient=True, disable=not terminal.rich) as shown:
        task = shown.add_task("copying")
        yield lambda done, total: shown.update(task, completed=done, total=total)


def _megabytes(size: int) -> str:
    return f"{size / 1_000_000:,.1f}"
