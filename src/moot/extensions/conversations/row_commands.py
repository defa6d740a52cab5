"""`moot import` and `moot export legacy`: conversations of older systems, to read and to give back."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from moot.cli.options import Server
from moot.cli.render.output import Terminal, add_row, make_table
from moot.cli.row_files import DestinationRows, DryRun, Owner, SourceRows, print_problems, print_written
from moot.cli.run_command import open_local_store, run
from moot.core.errors import Unavailable

if TYPE_CHECKING:
    from moot.cli.render.progress import ShowProgress
    from moot.extensions.conversations.importing import ImportOutcome, ImportProgress, Listing

Table = Annotated[str, Parameter(help="The table, perhaps with its schema. [default: events]")]


def import_legacy(
    source: SourceRows,
    /,
    *,
    table: Table = "events",
    dry_run: DryRun = False,
    batch: Annotated[int, Parameter(help="Rows read and written at a time. [default: 1000]")] = 1000,
    owner: Owner = "",
    report: Annotated[
        Path | None, Parameter(help="A file for all rows that could not be brought, one JSON object a line.")
    ] = None,
) -> int:
    """Conversations of an older system, brought here to read. Ask again for what has come since; an import
    that was stopped goes on where it was."""

    async def work() -> ImportOutcome:
        from moot.cli.render.progress import progress_bar
        from moot.extensions.conversations import importing
        from moot.extensions.conversations.tables import CONVERSATIONS
        from moot.row_io.readers import parse_location

        location = parse_location(source, table)
        async with open_local_store() as store:
            with _listing(report) as listing, progress_bar("reading") as show_progress:
                return await importing.import_rows(
                    store.tables(CONVERSATIONS),
                    location,
                    owner=owner,
                    batch=batch,
                    dry=dry_run,
                    on_progress=_on_import_progress(show_progress),
                    listing=listing,
                )

    outcome = run(work())
    _print_report(
        Terminal.out(), outcome, f"All of them are in {report}." if report else "--report FILE lists all."
    )
    return 0 if outcome.report.is_complete and outcome.caught_up else 1


@contextmanager
def _listing(path: Path | None) -> Generator[Listing | None]:
    from moot.extensions.conversations.importing import ListedInFile

    if path is None:
        yield None
        return
    try:
        with path.open("wb") as file:
            yield ListedInFile(file)
    except OSError as error:
        raise Unavailable(f"{path} cannot be written: {error.strerror}.") from error


def list_imports() -> int:
    """The imports there are, and how much each has brought."""

    async def look() -> int:
        import msgspec

        from moot.extensions.conversations.importing import ImportReport
        from moot.extensions.conversations.tables import CONVERSATIONS

        terminal = Terminal.out()
        async with open_local_store() as store:
            imports = await store.tables(CONVERSATIONS).imports()
            if not imports:
                terminal.line("Nothing was imported yet. Begin with: moot import legacy SOURCE --dry-run")
                return 0
            output = make_table("id", "state", "last", "owner", "rows", "from")
            for one in imports:
                rows = msgspec.json.decode(one.report, type=ImportReport).kept.rows
                when = f"{one.updated_at:%Y-%m-%d %H:%M}"
                add_row(
                    output, (one.id, "bold"), one.state, (when, "dim"), one.owner, f"{rows:,}", one.source
                )
        terminal.table(output)
        return 0

    return run(look())


def undo(id: Annotated[str, Parameter(help="The import, as `moot import list` shows it.")], /) -> int:
    """Remove exactly what an import has added."""

    async def work() -> int:
        from moot.cli.render.progress import progress_bar
        from moot.extensions.conversations.importing import undo_import
        from moot.extensions.conversations.tables import CONVERSATIONS

        async with open_local_store() as store:
            with progress_bar("removing") as report:
                archive = store.tables(CONVERSATIONS)
                return await undo_import(archive, id, lambda removed: report(removed, None, "removing"))

    Terminal.out().line(f"Took {id} back: {run(work()):,} events are gone.")
    return 0


def export_legacy(
    destination: DestinationRows,
    /,
    *,
    table: Table = "events",
    conversation: Annotated[
        tuple[str, ...],
        Parameter(negative="", help="Only this one, imported or a debate; may be given several times."),
    ] = (),
    debates: Annotated[
        bool, Parameter(negative="", help="All debates too; of a server they always are.")
    ] = False,
    server: Server = None,
) -> int:
    """Conversations in their old shape: those that were imported, as they were. What a table has already is
    left as it is."""

    async def work() -> int:
        from moot.cli.render.progress import progress_bar
        from moot.extensions.conversations import exporting
        from moot.extensions.conversations.sources import open_conversations
        from moot.row_io.readers import parse_location

        location, terminal = parse_location(destination, table), Terminal.out()
        async with open_conversations(server) as source:
            kinds = {name: await source.is_imported(name) for name in conversation}
            theirs = [name for name, imported in kinds.items() if imported]
            ours = [name for name in kinds if name not in theirs]
            batches = [source.imported_rows(theirs)] if theirs or not conversation else []
            batches += [source.debate_rows(ours)] if ours else []
            # Of a server, debates are exported like imported conversations.
            batches += [source.debate_rows()] if debates or (server and not conversation) else []
            with progress_bar("writing") as report:
                done = await exporting.write_rows(
                    location, *batches, on_progress=lambda rows: report(rows, None, "writing")
                )
        return print_written(terminal, location, done)

    return run(work())


# --- what is printed ---------------------------------------------------------------------------------------


def _on_import_progress(show_progress: ShowProgress) -> Callable[[ImportProgress], None]:
    def on_progress(progress: ImportProgress) -> None:
        stage = "reading" if not progress.passed else f"pass {progress.passed + 1}"
        show_progress(progress.done, progress.total, f"{stage}, {progress.written:,} written")

    return on_progress


def _print_report(terminal: Terminal, outcome: ImportOutcome, all_of_them: str) -> None:
    report, import_ = outcome.report, outcome.import_
    if report.dry:
        terminal.line("A dry run: nothing was written. From ", (import_.source, "bold"), ":")
    else:
        terminal.line((import_.id, "bold"), " from ", (import_.source, "bold"), ":")
        terminal.line(
            f"{outcome.new:,} new, {outcome.changed:,} changed, {report.conversations:,} conversations"
        )
    table = make_table("", "found", "kept")
    names = {"reasoning": "thoughts", "tool_call": "tool calls", "tool_result": "results"}
    accounts = report.compare_counts()
    others = sorted(report.seen.segments.keys() - names.keys())
    counted = [(name, report.seen.segments[name], report.kept.segments.get(name, 0)) for name in others]
    for name, seen, stored in (*accounts, *counted):
        add_row(table, names.get(name, name), f"{seen:,}", (f"{stored:,}", "" if seen == stored else "red"))
    terminal.table(table)
    terminal.line("100 % of what was found is kept." if report.is_complete else "Not all of it is kept.")
    for name in report.lost:
        terminal.line((f"Of {name}, fewer are in the store than were written. Please report this.", "red"))
    print_problems(terminal, report.problems, report.bad, "could not be brought", all_of_them)
    if not outcome.caught_up:
        terminal.line(
            "Rows are still being written faster than they are read. Run it again for the new ones."
        )
