"""`moot models`: what can argue here, what it costs, whether it works, and how to get more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from moot.cli.options import command_group
from moot.cli.render.output import Terminal, add_row, make_table
from moot.cli.running import run
from moot.core.errors import Invalid

if TYPE_CHECKING:
    from moot.models.discovery import AvailableModel
    from moot.models.model_files import ModelFiles

app = command_group("models", "The models that can argue here, and how to get more.")


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
    """The models that can argue here, best first, and what is missing where one cannot."""

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
    """Ask a model two tiny questions and say what works. A service charges a few tokens for it."""

    async def ask() -> int:
        from moot.cli.commands import model_reports
        from moot.engine.arena import Arena

        async with Arena.open() as arena:
            return await model_reports.run_model_test(arena, model)

    return run(ask())


@app.command
def install(name: Annotated[str, Parameter(help="A name from `moot models`.")], /) -> int:
    """Fetch a model, checked by its hash. It goes on where it was broken off, and runs no code."""
    from moot.cli.render.progress import install_bar

    manager = _manager()
    model = name.removeprefix("local/")
    with install_bar() as report:
        path = manager.install(model, report)
    Terminal.out().line("Installed: ", (str(path), "bold"))
    return 0


@app.command
def remove(name: Annotated[str, Parameter(help="A name from `moot models`.")], /) -> int:
    """Remove the file of an installed model."""

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
        mark = ("●", "green") if model.usable else ("○", "dim")
        name = (model.name, "bold" if model.usable else "")
        size = f", {model.size / 1e6:,.0f} MB" if model.size else ""
        add_row(table, mark, name, (model.why + size, "dim"), model.todo)
    terminal.table(table)
    terminal.line("")
    terminal.line("  Without --model a debate uses ", (default, "bold"), ".")


def _rank(model: AvailableModel) -> int:
    """What works, then what is one command away, then the rest."""
    return 0 if model.usable else 1 if model.kind == "catalogue" else 2
