"""`moot migrate-store SOURCE TARGET`: all from one store to another, and the proof that it has arrived."""

from __future__ import annotations

from asyncio import CancelledError
from shlex import quote
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from moot.cli.render.output import Terminal
    from moot.processes.copy_store import CopyReport, StoreAddress

STORE = "sqlite:FILE or postgresql://user@host/database."
NAMES = {
    "tokens": "tokens",
    "debates": "debates",
    "events": "events in their logs",
    "bodies": "requests as sent",
    "requests": "requests that may be repeated",
    "invitations": "invitations",
    "imports": "imports",
    "conversations": "conversations",
    "conversation_events": "events in them",
}
MAX_SHOWN = 20


def migrate_store(
    source: Annotated[str, Parameter(help=f"The store as it is: {STORE}")],
    target: Annotated[str, Parameter(help=f"An empty one: {STORE}")],
    /,
    *,
    dry_run: Annotated[
        bool, Parameter(negative="", help="Tell what would be copied, and write nothing.")
    ] = False,
    resume: Annotated[bool, Parameter(negative="", help="Go on with a move that was broken off.")] = False,
) -> int:
    """Copy all debates and whatever belongs to them, conversations and tokens to another store, and compare
    both, event by event. Stop Moot first. The old store is left as it is."""
    from moot.cli.follow import run
    from moot.cli.render.output import Terminal
    from moot.core.errors import Invalid
    from moot.processes.copy_store import parse_address

    old, new = parse_address(source), parse_address(target)
    if old.label == new.label:
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
    from moot.cli.commands.legacy import progress_bar
    from moot.cli.render.output import Terminal
    from moot.core.errors import StoreError
    from moot.processes.copy_store import copy_store, open_for_copy

    data = settings.load().data
    async with open_for_copy(old, data, new=False) as source, open_for_copy(new, data, new=True) as target:
        try:
            with progress_bar("copying") as told:
                return await copy_store(source, target, resume=resume, report=told)
        except (StoreError, CancelledError):
            Terminal.err().line("What was copied stays; the same command with --resume goes on.")
            raise


def _count(terminal: Terminal, counts: dict[str, int]) -> None:
    from moot.cli.render.output import add_row, make_table

    made = make_table("", "")
    made.show_header = False
    for name, words in NAMES.items():
        add_row(made, words, f"{counts[name]:,}")
    terminal.table(made)


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
