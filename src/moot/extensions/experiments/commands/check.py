"""`moot experiment check`: what an experiment would hold, cost and show, before it is run."""

from __future__ import annotations

from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from moot.cli.render.output import Terminal, add_row, make_table
from moot.extensions.experiments.commands.stored_experiment import in_arena
from moot.installation import install_command
from moot.views.text import plural

if TYPE_CHECKING:
    from moot.core.terms import Money
    from moot.engine.arena import Arena
    from moot.extensions.experiments.measuring.definition import ExperimentDefinition
    from moot.extensions.experiments.runner import ExperimentRunner
    from moot.extensions.experiments.setups import ExperimentEstimate

EXIT_UNUSABLE = 2
MOST_MATCHUPS_SHOWN = 10_000
"""For more than these `check` would take longer than a second."""
DefinitionFile = Annotated[Path, Parameter(help="The experiment, a .toml file: docs/experiments.md.")]


def check(file: DefinitionFile, /) -> int:
    """How many debates an experiment has, and what it may cost. Nothing is started, and no key is needed.

    Exits with 2 where a model cannot be used yet, and says what all of them lack.
    """
    from moot.extensions.experiments.measuring.definition import read_definition

    definition = read_definition(file)
    terminal = Terminal.out()

    async def look(arena: Arena) -> tuple[ExperimentEstimate, list[str], tuple[str, ...]]:
        from moot.extensions.experiments.models import missing_for
        from moot.extensions.experiments.runner import ExperimentRunner

        runner = ExperimentRunner(arena, definition)
        found, missing = await runner.estimate(), missing_for(arena.providers, runner.models())
        return found, not_installed(arena, runner), missing

    found, to_install, missing = in_arena(look, plan_only=True)
    _show_estimate(terminal, definition, found)
    show_not_installed(terminal, to_install)
    for sentence in missing:
        terminal.line((sentence, "yellow"))
    if own := definition.judging_debaters:
        terminal.line(
            f"Also argue in the debates that they judge: {', '.join(own)}. They are not asked in their own "
            "debates where another judge is left, unless `options` has recuse = false."
        )
    if not definition.questions:
        _show_widths(terminal, definition, found.debates // found.matchups)
    if missing or to_install:
        return EXIT_UNUSABLE
    terminal.line(f"Run it: moot experiment run {file}")
    return 0


def not_installed(arena: Arena, runner: ExperimentRunner) -> list[str]:
    """The names of the local models of an experiment that are in the catalogue and not on this machine."""
    files = arena.providers.model_files
    installed = files.installed()
    local = dict.fromkeys(model.name for model in runner.models() if model.provider == "local")
    return [name for name in local if name in files.catalogue and name not in installed]


def show_not_installed(terminal: Terminal, names: list[str]) -> None:
    for name in names:
        terminal.line(f"local/{name} is not installed. Install it: moot models install {name}")


def _show_estimate(terminal: Terminal, definition: ExperimentDefinition, found: ExperimentEstimate) -> None:
    from moot.views.costs import dollars

    if definition.questions:
        asked = f"{plural(len(definition.questions), 'question')}, {plural(len(definition.judges), 'judge')}"
        held = f"each question twice under {plural(len(definition.protocols), 'protocol')}"
    else:
        asked = f"{plural(len(definition.motions), 'motion')}, {definition.format}"
        held = plural(found.matchups, "side-swapped matchup")
    terminal.line((definition.name, "bold"), f": {plural(len(definition.models), 'model')}, {asked}")
    _show_protocols(terminal, found)
    for warning in found.warnings:
        terminal.line((warning, "yellow"))
    terminal.line(
        f"{held}, {plural(found.debates, 'debate')}, {found.calls[0]:,} to {found.calls[1]:,} calls"
    )
    if found.low is None or found.high is None:
        terminal.line(f"The price of {', '.join(found.unpriced)} is not known, so neither is the cost.")
        return
    limit = f", never more than {dollars(definition.budget)}" if definition.budget else ""
    terminal.line(f"Cost: {_cost_range(found.low, found.high)}{limit}")
    if (cheaper := found.cheaper) is not None:
        terminal.line(
            f'With service_tier = "{cheaper.tier}" for {", ".join(cheaper.models)}: about '
            f"{dollars(cheaper.amount)} less ({cheaper.share:.0%}), for slower answers."
        )


def _cost_range(low: Money | None, high: Money | None) -> str:
    """One amount where both are the same in writing."""
    from moot.views.costs import dollars

    if low is None or high is None:
        return "not known"
    first, last = dollars(low), dollars(high)
    return first if first == last else f"{first} to {last}"


def _show_protocols(terminal: Terminal, found: ExperimentEstimate) -> None:
    if not found.protocols:
        return
    table = make_table("protocol", "debates", "calls", "cost")
    for each in found.protocols:
        add_row(
            table,
            (each.protocol, "bold"),
            f"{each.debates:,}",
            f"{each.calls[0]:,} to {each.calls[1]:,}",
            _cost_range(each.low, each.high),
        )
    terminal.table(table)


def _show_widths(terminal: Terminal, definition: ExperimentDefinition, teams: int) -> None:
    """How much the experiment can show, where numpy is installed."""
    from moot.extensions.experiments.measuring.pairing import round_robin
    from moot.extensions.experiments.measuring.planned_debates import all_legs

    try:
        from moot.extensions.experiments.measuring.adaptive_pairing import (
            expected_team_widths,
            expected_widths,
        )
    except ModuleNotFoundError:
        terminal.line(f"How wide the intervals will be needs numpy: {install_command('experiments')}")
        return
    judges = len(definition.judges) or 1
    pairs = comb(len(definition.models), teams)
    if pairs * len(definition.motions) * definition.repeats > MOST_MATCHUPS_SHOWN:
        terminal.line("How wide the intervals will be is not computed for so many possible matchups.")
        return
    if teams > 2:
        legs = all_legs(definition, teams)[::teams]
        motions = [leg.motion for leg in legs]
        widths = expected_team_widths([leg.models for leg in legs], motions=motions, judges=judges)
    else:
        plan = round_robin(
            definition.models, definition.motions, repeats=definition.repeats, seed=definition.seed
        )
        widths = expected_widths(plan[: definition.matchups], judges=judges)
    if widths.motions < 2:
        terminal.line(
            "What it can show: nothing about other motions. With one motion there are no intervals."
        )
        return
    terminal.line(
        f"What it can show: a rating has an interval about {widths.rating_width:.0f} points wide. Two models "
        f"must be {widths.detectable:.0f} points apart, where the better one wins "
        f"{_win_share(widths.detectable):.0%} of the debates, to be told apart in 80 of 100 such experiments."
    )
    for note in widths.notes:
        terminal.line(note)


def _win_share(points: float) -> float:
    """How often the better of two models wins that are so many points apart."""
    return 1 / (1 + 10 ** (-points / 400))
