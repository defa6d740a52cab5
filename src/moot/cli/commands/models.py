"""`moot models`: what can argue here, what it costs, whether it works, and how to get more."""

from __future__ import annotations

import sys
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from moot.cli.options import command_group
from moot.cli.render.output import Terminal, add_row, make_table
from moot.cli.run_command import run
from moot.core.errors import Invalid

if TYPE_CHECKING:
    from moot.models.catalogue import CatalogueEntry
    from moot.models.discovery import AvailableModel
    from moot.models.model_files import ModelFiles

app = command_group("models", "List, install, test and remove models.")


@app.default
def models(
    provider: Annotated[
        str | None, Parameter(show_default=False, help="With --prices: the models of this one alone.")
    ] = None,
    /,
    *,
    prices: Annotated[
        bool, Parameter(negative="", show_default=False, help="What models can do, and what they cost.")
    ] = False,
) -> int:
    """List the available models, best first, and what the others lack."""

    if provider is not None and not prices:
        raise Invalid(f"`moot models` knows no {provider!r}. Its prices: moot models --prices {provider}")

    async def look() -> int:
        from moot.cli.commands import model_reports
        from moot.engine.arena import Arena

        async with Arena.open() as arena:
            if prices:
                return model_reports.print_prices(arena, provider)
            rows = await arena.providers.usable()
            _table(rows, await arena.providers.default_model())
        return 0

    return run(look())


@app.command
def test(
    model: Annotated[str, Parameter(help="provider/model, as after --model.")],
    /,
) -> int:
    """Make two short test calls and report what works. A service charges a few tokens."""

    async def ask() -> int:
        from moot.cli.commands import model_reports
        from moot.engine.arena import Arena

        async with Arena.open() as arena:
            return await model_reports.run_model_test(arena, model)

    return run(ask())


@app.command
def install(
    name: Annotated[
        str, Parameter(help="A name from `moot models`, hf:owner/repo/file.gguf, or ollama/NAME.")
    ],
    /,
    *,
    yes: Annotated[
        bool, Parameter(name=["--yes", "-y"], negative="", help="Do not ask before the download.")
    ] = False,
) -> int:
    """Download a model: by name, any GGUF file of the Hugging Face Hub, or with a running Ollama.

    Size, licence and memory are shown first. A download that was interrupted continues, its hash is checked,
    and no code is run. HF_TOKEN is used for gated models, HF_ENDPOINT for another hub.
    """
    if name.startswith("ollama/"):
        return run(_pull(name))
    from moot.cli.render.progress import install_bar
    from moot.models import openmp

    manager = _manager()
    entry = _entry(manager, name)
    if manager.is_installed(entry):
        openmp.install(manager)
        Terminal.out().line("It is installed already: ", (f"local/{entry.name}", "bold"))
        return 0
    if entry.hub is not None and not _confirmed(entry, yes):
        return 1
    with install_bar() as report:
        path = manager.install_entry(entry, report)
        openmp.install(manager)
    Terminal.out().line("Installed: ", (str(path), "bold"))
    Terminal.out().line(f'Use it with: moot "MOTION" --model local/{entry.name}')
    return 0


def _entry(manager: ModelFiles, name: str) -> CatalogueEntry:
    """The model with what the hub says of it now. Raises Invalid, with the nearest name, and Unavailable."""
    from moot.models import hub

    if name.startswith(hub.PREFIX):
        return manager.look_up(name)
    model = name.removeprefix("local/")
    entry = manager.catalogue.get(model)
    if entry is None:
        close = get_close_matches(model.lower(), manager.catalogue, n=1)
        hint = f"Did you mean {close[0]}?" if close else f"Known: {', '.join(manager.catalogue)}."
        others = "Others are named hf:owner/repo/file.gguf or ollama/NAME."
        raise Invalid(f"There is no model {name!r} to install. {hint} {others}")
    if entry.hub is None or manager.is_installed(entry):
        return entry
    return manager.look_up(entry.hub.reference)


def _confirmed(entry: CatalogueEntry, yes: bool) -> bool:
    """Show what will be downloaded; at a terminal, ask whether to."""
    from moot.models.requirements import check_memory, gigabytes, laptop_speed, memory_needed

    check_memory(entry.title, entry.size)
    terminal = Terminal.err()
    terminal.line((entry.title, "bold"), f" ({entry.hub.reference if entry.hub else ''})")
    terminal.line(f"  download {gigabytes(entry.size)}, licence {entry.licence}")
    speed = f"about {laptop_speed(entry.size)} tokens a second on a laptop"
    terminal.line(f"  needs about {gigabytes(memory_needed(entry.size))} of memory, {speed} (estimates)")
    if yes or not (sys.stdin.isatty() and terminal.rich):
        return True
    terminal.line("Download it? [Y/n]")
    return sys.stdin.readline().strip().lower() in ("", "y", "yes")


async def _pull(name: str) -> int:
    """Have a running Ollama pull a model."""
    from moot.cli.render.progress import install_bar
    from moot.engine.arena import Arena
    from moot.models import ollama
    from moot.models.model_files import InstallProgress

    model = name.removeprefix(ollama.PREFIX)
    ollama.check_name(model)
    async with Arena.open() as arena:
        with install_bar() as report:
            await arena.providers.pull_with_ollama(
                model, lambda done, total: report(InstallProgress(name, "fetching", 1, 1, done, total))
            )
    Terminal.out().line(f'Ollama has it. Use it with: moot "MOTION" --model {name}')
    return 0


@app.command
def remove(name: Annotated[str, Parameter(help="A name from `moot models`.")], /) -> int:
    """Remove the file of an installed model."""

    if name.startswith("ollama/"):
        raise Invalid(f"Ollama keeps this model. Remove it with: ollama rm {name.removeprefix('ollama/')}")
    removed = _manager().remove(name.removeprefix("local/"))
    Terminal.out().line("Removed." if removed else "It was not installed.")
    return 0


def _manager() -> ModelFiles:
    from moot import settings
    from moot.models.model_files import ModelFiles

    here = settings.load()
    return ModelFiles(here.models, environ=here.environ, offline=here.offline)


def _table(rows: tuple[AvailableModel, ...], default: str) -> None:
    terminal = Terminal.out()
    table = make_table("", "model", "", "what to do")
    table.columns[1].no_wrap = True
    for model in sorted(rows, key=_rank):
        works = ("●", "green") if model.proven else ("?", "yellow")
        mark = works if model.usable else ("○", "dim")
        name = (model.name, "bold" if model.usable else "")
        add_row(table, mark, name, (_about(model), "dim"), model.todo)
    terminal.table(table)
    terminal.line("")
    terminal.line(("  Memory and speed are estimates, the speed that of a laptop's processor.", "dim"))
    terminal.line("  Without --model a debate uses ", (default, "bold"), ".")


def _about(model: AvailableModel) -> str:
    from moot.models.requirements import gigabytes

    size = f", {gigabytes(model.size)}" if model.size else ""
    if model.kind != "catalogue" or not model.memory:
        return model.why + size
    return f"{model.why}{size}, {gigabytes(model.memory)} of memory, {model.speed} tokens/s"


def _rank(model: AvailableModel) -> int:
    """What works, then what is one command away, then the rest."""
    return 0 if model.usable else 1 if model.kind == "catalogue" else 2
