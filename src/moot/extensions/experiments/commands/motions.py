"""`moot motions`: the bank of motions, filtered, searched or drawn at random."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from moot.cli.render.output import Terminal, add_row, make_table
from moot.cli.run_command import run
from moot.core.errors import Invalid
from moot.extensions.experiments.tables import EXPERIMENTS
from moot.views.text import plural

if TYPE_CHECKING:
    from moot.extensions.experiments.measuring.bank_motions import BankMotion
    from moot.extensions.experiments.measuring.motion_balance import MotionBalance


def motions(
    *search: Annotated[str, Parameter(help="Words that must occur.")],
    theme: Annotated[str | None, Parameter(help="One theme: economy, health, law …")] = None,
    kind: Annotated[
        Literal["empirical", "normative", "mixed"] | None,
        Parameter(help="What is so, what ought to be, or both."),
    ] = None,
    difficulty: Annotated[
        Literal["easy", "medium", "hard"] | None, Parameter(help="How much a speaker has to weigh.")
    ] = None,
    random: Annotated[
        int | None, Parameter(metavar="N", help="So many at random, evenly over the themes.")
    ] = None,
    seed: Annotated[int, Parameter(help="Of the random choice. [default: 0]")] = 0,
    output: Annotated[
        Literal["table", "text", "toml", "jsonl"],
        Parameter(name="--format", help="A table, or for files and scripts. [default: table]"),
    ] = "table",
) -> int:
    """Motions to debate: about 300, by theme, kind and difficulty."""
    from moot.extensions.experiments.measuring import bank_motions as bank

    found = bank.find_motions(theme=theme, kind=kind, difficulty=difficulty, search=" ".join(search))
    if random is not None:
        if random < 1:
            raise Invalid("--random must be 1 or more.")
        found = bank.draw_motions(found, random, seed)
    terminal = Terminal.out()
    match output:
        case "text":
            terminal.raw("".join(f"{motion.text}\n" for motion in found))
        case "toml":
            terminal.raw(bank.motions_as_toml(found))
        case "jsonl":
            terminal.raw(bank.motions_as_jsonl(found))
        case "table":
            _table(terminal, found, run(_measured()))
    return 0


async def _measured() -> Mapping[str, MotionBalance]:
    """What the experiments of this store have shown of motions."""
    from moot.engine.arena import Arena
    from moot.extensions.experiments.measuring.motion_balance import motion_balances
    from moot.settings import load

    settings = load()
    if settings.cluster.store is None and not settings.database.exists():
        return {}  # a look at the bank creates no store
    async with Arena.open(settings, run=False) as arena:
        return motion_balances(await arena.store.tables(EXPERIMENTS).side_shares())


def _table(terminal: Terminal, found: Sequence[BankMotion], balances: Mapping[str, MotionBalance]) -> None:
    from moot.extensions.experiments.measuring.bank_motions import themes
    from moot.extensions.experiments.measuring.motion_balance import balance_text

    if not found:
        terminal.line("No motion fits.")
        return
    known = {motion.text: balance_text(balances[motion.text]) for motion in found if motion.text in balances}
    table = make_table("motion", "theme", "kind", "difficulty", *(["in experiments"] if known else []))
    for motion in found:
        cells = (motion.theme, motion.kind, motion.difficulty)
        add_row(table, (motion.text, "bold"), *cells, *([known.get(motion.text, "")] if known else []))
    terminal.table(table)
    terminal.blank_line()
    terminal.line((f"{plural(len(found), 'motion')}. Themes: {', '.join(themes())}.", "dim"))
    if known:
        terminal.line(
            ("In experiments: how often the side for the motion won; the 95 % interval of its share.", "dim")
        )
