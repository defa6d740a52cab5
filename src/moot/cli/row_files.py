"""Tables of older systems on the command line: where their rows are, and what was done with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from moot.cli.render.output import Terminal, add_row, make_table
from moot.views.text import plural

if TYPE_CHECKING:
    from moot.row_io.readers import RowLocation, RowProblem
    from moot.row_io.writers import WriteReport

SourceRows = Annotated[
    str, Parameter(help="postgresql://user@host/database, a SQLite file, or a file of JSON lines (.jsonl).")
]
DestinationRows = Annotated[
    str,
    Parameter(help="postgresql://user@host/database, a SQLite file, or a new file of JSON lines (.jsonl)."),
]
DryRun = Annotated[bool, Parameter(negative="", help="Read it all, report, and write nothing.")]
Owner = Annotated[str, Parameter(help="Whose they are, on a server with tokens.")]
MAX_SHOWN = 20
"""Of rows with which something is wrong."""


def print_written(terminal: Terminal, location: RowLocation, done: WriteReport) -> int:
    terminal.line(f"{done.rows:,} rows written to ", (location.label, "bold"), ".")
    if done.existing:
        terminal.line(f"{done.existing:,} were there already, and were left as they are.")
    print_problems(terminal, done.problems, len(done.problems), "could not be written")
    return 1 if done.problems else 0


def print_problems(
    terminal: Terminal, problems: list[RowProblem], count: int, what: str, all_of_them: str = ""
) -> None:
    if not count:
        return
    terminal.line(f"{plural(count, 'row')} {what}:")
    table = make_table("row", "why")
    for problem in problems[:MAX_SHOWN]:
        add_row(table, problem.row, problem.reason)
    terminal.table(table)
    if count > MAX_SHOWN:
        terminal.line((f"and {count - MAX_SHOWN:,} more. {all_of_them}".strip(), "dim"))
