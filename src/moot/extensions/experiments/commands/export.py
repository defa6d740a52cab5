"""`moot experiment export`: an experiment, or any stored debates, as tables or as a log for Inspect."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from moot.cli.render.output import Terminal
from moot.core.errors import Invalid
from moot.extensions.experiments.commands.judge_options import Exclude, Judges, Prompts, judge_filter
from moot.extensions.experiments.commands.stored_experiment import in_arena
from moot.extensions.experiments.measuring.data_tables import TABLES, TableName
from moot.extensions.experiments.measuring.table_files import FileFormat

if TYPE_CHECKING:
    from moot.engine.arena import Arena


def export(
    name: Annotated[
        str | None,
        Parameter(help="The name of an experiment. Without it, all finished debates that the options name."),
    ] = None,
    /,
    *,
    output: Annotated[
        Path,
        Parameter(
            name=["--output", "-o"],
            help="A .jsonl, .csv or .parquet file for one table, a .eval file for Inspect, or a folder for "
            "all tables, their dictionary and the manifest.",
        ),
    ],
    table: Annotated[
        TableName | None,
        Parameter(help=f"What a file holds: {', '.join(TABLES)}. [default: ballots]", show_choices=False),
    ] = None,
    file_format: Annotated[
        FileFormat, Parameter(help="Of the tables in a folder: jsonl, csv or parquet. [default: jsonl]")
    ] = "jsonl",
    judges: Judges = None,
    prompts: Prompts = None,
    exclude: Exclude = None,
    search: Annotated[str, Parameter(help="Only debates whose motion contains this.")] = "",
    model: Annotated[str, Parameter(help="Only debates in which this model speaks or judges.")] = "",
    since: Annotated[date | None, Parameter(help="Only debates of this day or later: 2026-11-18.")] = None,
    until: Annotated[date | None, Parameter(help="Only debates of this day or earlier.")] = None,
) -> int:
    """Write debates, speeches, ballots, votes, calls and more as tables; docs/data.md explains the columns.

    It reads one debate at a time. Reasoning, prompts and secret objectives are left out.
    """
    from moot.store.contract import DebateFilter

    filters = DebateFilter(statuses=("completed",), search=search, model=model, since=since, until=until)
    if name is not None and filters != DebateFilter(statuses=("completed",)):
        raise Invalid(
            "An experiment is exported whole: give its name, or --search, --model, --since, --until."
        )
    if output.suffix == ".eval" and table is not None:
        raise Invalid("A .eval file has no tables: leave out --table.")

    which = judge_filter(judges, prompts, exclude)

    async def write(arena: Arena) -> dict[TableName, int]:
        from moot.extensions.experiments.manifest import write_experiment
        from moot.extensions.experiments.stored_tables import (
            experiment_debates,
            find_experiment,
            of_judges,
            stored_debates,
            table_paths,
            write_inspect_log,
            write_tables,
        )

        stored = None if name is None else await find_experiment(arena.store, name)
        if stored is not None and not output.suffix:
            return await write_experiment(output, arena.store, stored, file_format, which)
        paths: dict[TableName, Path] = {table or "ballots": output}
        if not output.suffix:
            paths = table_paths(output, file_format)
        if name is not None:
            debates = experiment_debates(arena.store, name, paths.keys())
        else:
            debates = stored_debates(arena.store, filters, paths.keys())
        if output.suffix == ".eval":
            return {"debates": await write_inspect_log(output, of_judges(debates, which), stored)}
        return await write_tables(paths, of_judges(debates, which), experiment=name or "")

    counts = in_arena(write)
    rows = ", ".join(f"{count:,} {table}" for table, count in counts.items())
    Terminal.out().line(f"Written to {output}: {rows}.")
    return 0
