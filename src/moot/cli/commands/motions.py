"""`moot motions`: the bank of motions, filtered, searched or drawn at random."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from moot.cli.render.output import Terminal, add_row, make_table
from moot.core.errors import Invalid
from moot.views.text import plural


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
    from moot.experiments import bank_motions as bank

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
            _table(terminal, found)
    return 0


def _table(terminal: Terminal, found: tuple[object, ...]) -> None:
    from moot.experiments.bank_motions import BankMotion, themes

    if not found:
        terminal.line("No motion fits.")
        return
    table = make_table("motion", "theme", "kind", "difficulty")
    for motion in found:
        if isinstance(motion, BankMotion):
            add_row(table, (motion.text, "bold"), motion.theme, motion.kind, motion.difficulty)
    terminal.table(table)
    terminal.blank_line()
    terminal.line((f"{plural(len(found), 'motion')}. Themes: {', '.join(themes())}.", "dim"))
