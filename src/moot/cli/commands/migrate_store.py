"""`moot migrate-store SOURCE TARGET`: all from one store to another, and the proof that it has arrived."""

from __future__ import annotations

from asyncio import CancelledError
from shlex import quote
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from moot.cli.render.output import Page
    from moot.processes.copy_store import Address, Moved

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
MOST_SHOWN = 20


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
    from moot.cli.render.output import Page
    from moot.core.errors import Invalid
    from moot.processes.copy_store import address_of

    old, new = address_of(source), address_of(target)
    if old.label == new.label:
        raise Invalid("Source and target are the same store.")
    page = Page.out()
    if dry_run:
        page.line("A dry run: nothing was written. From ", (old.label, "bold"), " would be copied:")
        _count(page, run(_look(old)))
        return 0
    moved = run(_move(old, new, resume=resume))
    page.line("Copied to ", (new.label, "bold"), ":")
    _count(page, moved.counts)
    return _conclude(page, new, moved)


async def _look(address: Address) -> dict[str, int]:
    from moot import settings
    from moot.processes.copy_store import opened

    async with opened(address, settings.load().data, new=False) as home:
        return await home.belongings.counts()


async def _move(old: Address, new: Address, *, resume: bool) -> Moved:
    from moot import settings
    from moot.cli.commands.legacy import bar
    from moot.cli.render.output import Page
    from moot.core.errors import StoreError
    from moot.processes.copy_store import move, opened

    data = settings.load().data
    async with opened(old, data, new=False) as source, opened(new, data, new=True) as target:
        try:
            with bar("copying") as told:
                return await move(source, target, resume=resume, told=told)
        except (StoreError, CancelledError):
            Page.err().line("What was copied stays; the same command with --resume goes on.")
            raise


def _count(page: Page, counts: dict[str, int]) -> None:
    from moot.cli.render.output import row, table

    made = table("", "")
    made.show_header = False
    for name, words in NAMES.items():
        row(made, words, f"{counts[name]:,}")
    page.table(made)


def _conclude(page: Page, new: Address, moved: Moved) -> int:
    if moved.differing:
        page.line((f"{len(moved.differing):,} are not the same on both sides:", "red"))
        for name in moved.differing[:MOST_SHOWN]:
            page.line("  ", name)
        page.line("Stay with the old store, and please report this.")
        return 1
    page.line(
        "All of it is there: every event is the same on both sides, and every debate folds to the same."
    )
    page.line("From now on set this, with the password where it needs one:")
    page.raw(f"  MOOT_STORE={quote(new.label)}\n")
    page.line("The old store was left as it is. Remove it when you no longer need it.")
    return 0
