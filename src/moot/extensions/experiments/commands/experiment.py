"""`moot experiment`: many debates between models, declared in a file, run resumably, rated with intervals."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, assert_never

from cyclopts import Parameter

from moot.cli.options import command_group
from moot.cli.render.help import help_of
from moot.cli.render.output import Terminal, add_row, join, make_table, text_table
from moot.core.errors import Invalid
from moot.extensions.experiments.commands.check import (
    EXIT_UNUSABLE,
    DefinitionFile,
    check,
    not_installed,
    show_not_installed,
)
from moot.extensions.experiments.commands.export import export
from moot.extensions.experiments.commands.judge_options import Exclude, Judges, Prompts, judge_filter
from moot.extensions.experiments.commands.ratings import Over, import_rows, ratings
from moot.extensions.experiments.commands.rejudge import rejudge
from moot.extensions.experiments.commands.rerun import Folder, compare, declared_again, tell_whether_equal
from moot.extensions.experiments.commands.stored_experiment import (
    Name,
    find_experiment,
    in_arena,
    runner_of,
)
from moot.extensions.experiments.tables import EXPERIMENTS
from moot.installation import install_command
from moot.views.text import plural

if TYPE_CHECKING:
    from moot.engine.arena import Arena
    from moot.extensions.experiments.measuring.definition import ExperimentDefinition
    from moot.extensions.experiments.measuring.leg_results import LegResult
    from moot.extensions.experiments.measuring.report import ExperimentReport
    from moot.extensions.experiments.progress import ExperimentProgress
    from moot.extensions.experiments.store import ExperimentStanding

app = command_group("experiment", "Compare models in many debates, declared in a file.")
app.command(check, help_formatter=help_of("experiment"))
app.command(import_rows, name="import", help_formatter=help_of("experiment"))
app.command(ratings, help_formatter=help_of("experiment"))
app.command(rejudge, help_formatter=help_of("experiment"))
app.command(export, help_formatter=help_of("experiment"))
app.command(compare, help_formatter=help_of("experiment"))
EXIT_INCOMPLETE = 1
ReportFile = Annotated[
    Path | None,
    Parameter(name=["--output", "-o"], help="A .html, .md or .json file. [default: NAME.html]"),
]
ReportServer = Annotated[
    str, Parameter(metavar="URL", help="Link debates to their replay on this server: https://moot.example")
]
ManifestFolder = Annotated[
    Path | None,
    Parameter(metavar="FOLDER", help="Cite the manifest of this exported folder, by its sha256."),
]
Retry = Annotated[bool, Parameter(negative="", help="Also give failed debates another try.")]


@app.command(help_formatter=help_of("experiment"))
def run(file: DefinitionFile, /, *, retry_failed: Retry = False) -> int:
    """Hold the debates of an experiment that have not been held yet. Ctrl-C stops it; run it again to go on.

    Exits with 1 where debates failed, or where the budget ended it early; with 2 where a model has to be
    installed first.
    """
    from moot.extensions.experiments.measuring.definition import read_definition

    return _hold(read_definition(file), retry_failed)


@app.command(help_formatter=help_of("experiment"))
def resume(name: Name, /, *, retry_failed: Retry = False) -> int:
    """Continue an experiment by its name, with the definition that it was last run with."""
    from moot.extensions.experiments.measuring.definition import from_json

    stored = in_arena(lambda arena: find_experiment(arena, name))
    return _hold(from_json(stored.definition), retry_failed)


@app.command(help_formatter=help_of("experiment"))
def rerun(
    folder: Folder,
    /,
    *,
    name: Annotated[str, Parameter(help="How to call it here. [default: its name in the manifest]")] = "",
    retry_failed: Retry = False,
) -> int:
    """Hold an experiment again from the manifest of an exported folder, and compare the two.

    Tells first which versions, prompts and prices differ now, and at the end whether transcripts and outcomes
    are equal. Exits as `run`, and with 1 where they are not.
    """
    from moot.extensions.experiments.measuring.manifest import read_manifest

    manifest = read_manifest(folder)
    definition = declared_again(manifest, name)
    code = _hold(definition, retry_failed)
    if code == EXIT_UNUSABLE:
        return code
    return code if tell_whether_equal(manifest, definition.name) else EXIT_INCOMPLETE


@app.command(help_formatter=help_of("experiment"))
def stop(name: Name, /) -> int:
    """Start no further debate of a running experiment. Debates under way are finished."""

    async def set_state(arena: Arena) -> ExperimentStanding:
        before = (await find_experiment(arena, name)).standing(datetime.now(UTC))
        if before in ("running", "interrupted"):
            state = "stopping" if before == "running" else "stopped"
            await arena.store.tables(EXPERIMENTS).set_state(name, state)
        return before

    before = in_arena(set_state)
    terminal = Terminal.out()
    if before in ("running", "stopping"):
        terminal.line(f"No further debate of {name} is started. Continue it: moot experiment resume {name}")
    else:
        terminal.line(f"{name} is not running. {_standing_text(name, before)}")
    return 0


@app.command(name="list", help_formatter=help_of("experiment"))
def listing() -> int:
    """The experiments in this store, newest first."""

    experiments = in_arena(lambda arena: arena.store.tables(EXPERIMENTS).experiments())
    terminal = Terminal.out()
    if not experiments:
        terminal.line("No experiments yet. Begin with: moot experiment check league.toml")
        return 0
    table = make_table("experiment", "state", "started", "last run")
    for each in experiments:
        add_row(
            table,
            (each.name, "bold"),
            each.standing(datetime.now(UTC)),
            f"{each.created_at:%Y-%m-%d %H:%M}",
            f"{each.updated_at:%Y-%m-%d %H:%M} UTC",
        )
    terminal.table(table)
    return 0


@app.command(help_formatter=help_of("experiment"))
def status(name: Name, /) -> int:
    """How far an experiment is: debates, failures, cost, and whether a process runs it."""

    async def look(arena: Arena) -> tuple[ExperimentProgress, ExperimentStanding]:
        stored = await find_experiment(arena, name)
        runner = runner_of(arena, stored)
        return await runner.stored_progress(), stored.standing(datetime.now(UTC))

    progress, standing = in_arena(look)
    terminal = Terminal.out()
    _show_progress(terminal, name, progress)
    terminal.line(_standing_text(name, standing))
    return 0


@app.command(help_formatter=help_of("experiment"))
def votes(
    name: Name,
    file: Annotated[Path, Parameter(help="A .csv file with the columns debate, voter and winner.")],
    /,
) -> int:
    """Add votes of people, so that the report shows which judge, and which prompt, agrees best with them."""
    from moot.extensions.experiments.measuring.people_votes import read_votes

    cast = read_votes(file)

    async def add(arena: Arena) -> tuple[LegResult, ...]:
        return await runner_of(arena, await find_experiment(arena, name)).add_votes(cast)

    results, terminal = in_arena(add), Terminal.out()
    total = sum(len(result.votes) for result in results)
    terminal.line(f"{plural(total, 'vote')} of people on the debates of {name}.")
    try:
        from moot.extensions.experiments.measuring.people_agreement import compare_with_people
        from moot.extensions.experiments.measuring.report_beliefs import people_sentence, people_table
    except ModuleNotFoundError:
        terminal.line(f"To compare judges with them, numpy is needed: {install_command('experiments')}")
        return 0
    if (found := compare_with_people(results)) is not None:
        terminal.line(people_sentence(found))
        shown = people_table(found)
        terminal.table(text_table(shown.headings, shown.rows))
    return 0


@app.command(help_formatter=help_of("experiment"))
def report(
    name: Name,
    /,
    *,
    output: ReportFile = None,
    server: ReportServer = "",
    judges: Judges = None,
    prompts: Prompts = None,
    exclude: Exclude = None,
    over: Over = "motions",
    manifest: ManifestFolder = None,
) -> int:
    """Write what the debates of an experiment show: ratings, judges, biases, reliability, costs, doubts."""
    from moot import __version__
    from moot.extensions.experiments.measuring.manifest import manifest_digest
    from moot.extensions.experiments.measuring.report_document import report_document
    from moot.extensions.experiments.measuring.report_html import report_html
    from moot.extensions.experiments.measuring.report_markdown import report_markdown

    path = output or Path(f"{name}.html")
    if path.suffix not in (".html", ".md", ".json"):
        raise Invalid(f"A report is a .html, .md or .json file, not {path.name}.")
    cited = manifest_digest(manifest) if manifest else ""

    async def look(arena: Arena) -> ExperimentReport:
        runner = runner_of(arena, await find_experiment(arena, name))
        return await runner.report(__version__, judge_filter(judges, prompts, exclude), over, cited)

    made = in_arena(look)
    match path.suffix:
        case ".html":
            text = report_html(report_document(made), server)
        case ".md":
            text = report_markdown(report_document(made))
        case _:
            import msgspec

            text = msgspec.json.format(msgspec.json.encode(made), indent=2).decode()
    path.write_text(text, "utf-8")
    _show_truth(Terminal.out(), made)
    Terminal.out().line(f"Written to {path}.")
    return 0


def _hold(definition: ExperimentDefinition, retry_failed: bool) -> int:
    from moot.cli.render.progress import install_bar
    from moot.extensions.experiments.commands.progress_bar import experiment_bar

    terminal = Terminal.out()

    async def hold(arena: Arena) -> ExperimentProgress | list[str]:
        from moot.extensions.experiments.runner import ExperimentRunner

        runner = ExperimentRunner(arena, definition)
        catalogue = arena.providers.model_files.catalogue
        # Models of a hub are large and are downloaded only on demand; the others are fetched here.
        if missing := [name for name in not_installed(arena, runner) if catalogue[name].hub is not None]:
            return missing
        with install_bar() as report:
            await arena.providers.prepare(runner.models(), report)
        with experiment_bar(definition.name) as show:
            return await ExperimentRunner(arena, definition, show).run(retry_failed=retry_failed)

    progress = in_arena(hold)
    if isinstance(progress, list):
        show_not_installed(Terminal.err(), progress)
        return EXIT_UNUSABLE
    _show_progress(terminal, definition.name, progress)
    if progress.repeated:
        terminal.line((progress.repeated, "yellow"))
    if progress.stopped_by == "budget":
        terminal.line(
            "The budget allows no further debate. Raise it in the file, then: moot experiment run FILE"
        )
    elif progress.stopped_by:
        terminal.line(f"Stopped. Continue it: moot experiment resume {definition.name}")
    if progress.failed:
        terminal.line(f"Try those that failed again: moot experiment resume {definition.name} --retry-failed")
    return EXIT_INCOMPLETE if progress.failed or progress.finished < progress.planned else 0


def _standing_text(name: str, standing: ExperimentStanding) -> str:
    resume = f"moot experiment resume {name}"
    match standing:
        case "running":
            return f"It is running. Stop it: moot experiment stop {name}"
        case "stopping":
            return "It is being stopped: debates under way are finished."
        case "interrupted":
            return f"It was interrupted: no process runs it. Continue it: {resume}"
        case "stopped":
            return f"It was stopped. Continue it: {resume}"
        case "done":
            return f"It is complete. Read it: moot experiment report {name}"
        case _:
            assert_never(standing)


def _show_truth(terminal: Terminal, made: ExperimentReport) -> None:
    """The table of protocols, where the experiment has questions."""
    from moot.extensions.experiments.measuring.protocol_tables import truth_tables

    if made.truth is None:
        return
    protocols = truth_tables(made.truth)[0]
    terminal.line((protocols.title, "bold"))
    terminal.table(text_table(protocols.headings, protocols.rows))
    for note in made.truth.notes:
        terminal.paragraph(f"- {note}", "yellow", "")


def _show_progress(terminal: Terminal, name: str, progress: ExperimentProgress) -> None:
    from moot.views.costs import dollars

    for reason, debate in list(zip(progress.failures, progress.failed_debates, strict=True))[:3]:
        terminal.line(f"Failed: {reason}")
        terminal.line((f"  See it: moot show {debate}", "dim"))
    of_budget = f" of {dollars(progress.budget)}" if progress.budget is not None else ""
    failed = f"{progress.failed} failed" if progress.failed else ""
    running = f"{progress.running} running" if progress.running else ""
    terminal.line(
        (name, "bold"),
        ": ",
        join(
            (
                f"{progress.finished:,} of {progress.planned:,} debates held",
                running,
                failed,
                f"{progress.spent_text}{of_budget} spent"
                if progress.spent or not progress.unpriced
                else progress.spent_text,
            )
        ),
    )
