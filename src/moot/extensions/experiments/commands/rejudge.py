"""`moot experiment rejudge`: stored debates judged again, by other judges or with other prompts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from moot.cli.render.output import Terminal
from moot.core.errors import Invalid
from moot.extensions.experiments.commands.stored_experiment import find_experiment, in_arena, runner_of
from moot.views.text import plural

if TYPE_CHECKING:
    from moot.engine.arena import Arena

EXIT_INCOMPLETE = 1


def rejudge(
    name: Annotated[
        str | None,
        Parameter(help="The name of an experiment. Without it, all finished debates that the options name."),
    ] = None,
    /,
    *,
    judge: Annotated[
        list[str] | None,
        Parameter(
            negative="",
            metavar="MODEL",
            help="A judge; repeat it for several. [default: those of the experiment]",
        ),
    ] = None,
    prompt: Annotated[
        list[Path] | None,
        Parameter(
            negative="",
            metavar="FILE",
            help="A text file that tells the judges how to judge; with several, they judge once with each.",
        ),
    ] = None,
    repeats: Annotated[int, Parameter(metavar="N", help="How often each panel judges a debate.")] = 1,
    criterion: Annotated[
        list[str] | None, Parameter(negative="", metavar="TEXT", help="What they judge by; several times.")
    ] = None,
    allowance: Annotated[
        str | None, Parameter(metavar="USD", help="What each judging may cost at most; needed with a budget.")
    ] = None,
    search: Annotated[str, Parameter(help="Only debates whose motion contains this.")] = "",
    model: Annotated[str, Parameter(help="Only debates in which this model speaks or judges.")] = "",
    since: Annotated[date | None, Parameter(help="Only debates of this day or later: 2026-11-18.")] = None,
    until: Annotated[date | None, Parameter(help="Only debates of this day or earlier.")] = None,
) -> int:
    """Have all debates of an experiment, or other stored debates, judged again; the ballots are added.

    Exits with 1 where the budget of the experiment ended it early.
    """
    from moot.engine.resolve_setup import money
    from moot.store.contract import DebateFilter

    prompts = _read_prompts(prompt or ())
    every = DebateFilter(statuses=("completed",))
    filters = DebateFilter(statuses=("completed",), search=search, model=model, since=since, until=until)
    if repeats < 1:
        raise Invalid("--repeats must be at least 1.")
    if (name is None) == (filters == every):
        raise Invalid("Give the name of an experiment, or --search, --model, --since, --until.")

    async def judge_again(arena: Arena) -> tuple[int, str]:
        """How often a debate was judged, and why no more were."""
        from moot.extensions.experiments.rejudging import rejudge_stored

        how: dict[str, Any] = {
            "criteria": criterion or (),
            "allowance": money(allowance),
            "prompts": prompts,
            "repeats": repeats,
        }
        if name is None:
            return await rejudge_stored(arena, filters, judge or (), **how), ""
        runner = runner_of(arena, await find_experiment(arena, name))
        return await runner.rejudge(judge or (), **how), runner.stopped_by

    several = len(prompts) > 1 or repeats > 1
    (times, stopped_by), terminal = in_arena(judge_again), Terminal.out()
    terminal.line(
        f"{plural(times, 'judging')} held." if several else f"{plural(times, 'debate')} judged again."
    )
    if stopped_by == "budget":
        terminal.line(
            "The budget allows no further judging. Raise it in the file (moot experiment run FILE) or give a "
            "smaller --allowance, and repeat this."
        )
    elif stopped_by:
        terminal.line("Stopped. Repeat this to judge the others.")
    return EXIT_INCOMPLETE if stopped_by else 0


def _read_prompts(paths: Sequence[Path]) -> dict[str, str]:
    """The text of each file by its name without the suffix, under which it stands in reports."""
    prompts: dict[str, str] = {}
    for path in paths:
        try:
            text = path.read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise Invalid(f"{path} cannot be read: {error}.") from None
        if not text:
            raise Invalid(f"{path} is empty.")
        if path.stem in prompts:
            raise Invalid(f"Two prompts are called {path.stem}: give their files different names.")
        prompts[path.stem] = text
    return prompts
