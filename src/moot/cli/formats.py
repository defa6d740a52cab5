"""`moot formats`: the debate formats, one of them in full, and a check for your own file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from moot.cli.helping import Columns

if TYPE_CHECKING:
    from moot.terms import Format, Phase

app = App(
    name="formats",
    help="The debate formats, and a check for your own.",
    help_format="plaintext",
    help_formatter=Columns(),
)


@app.default
def formats() -> int:
    """The debate formats."""
    from moot import formats as shelf
    from moot.cli.page import Page, row, table

    page = Page.out()
    made = table("format", "length", "seats", "")
    for name in shelf.names():
        fmt = shelf.load(name)
        row(made, (name, "bold"), _length(fmt), f"{fmt.min_seats}-{fmt.max_seats}", fmt.summary)
    for column in (0, 1, 2):
        made.columns[column].no_wrap = True
    page.table(made)
    page.line("")
    page.line("  moot formats show NAME prints the table of speeches.")
    return 0


@app.command
def show(name: Annotated[str, Parameter(help="A format by name, or a .toml file.")], /) -> int:
    """The speeches of a format, in order."""
    from moot import formats as shelf

    _table(shelf.load(name))
    return 0


@app.command
def check(file: Annotated[Path, Parameter(help="A .toml file.")], /) -> int:
    """Whether a format file is right; if not, what is wrong and where."""
    from moot import formats as shelf
    from moot.cli.page import Page
    from moot.errors import Invalid

    try:
        words = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(f"{file} cannot be read: {error}.") from error
    fmt = shelf.parse(words, str(file))
    _table(fmt)
    Page.out().line(("It is right.", "green"))
    return 0


def _length(fmt: Format) -> str:
    if fmt.turns:
        return f"{fmt.turns} turns"
    return f"{fmt.rounds} rounds" if not fmt.scripted else f"{len(fmt.phases)} rows"


def _table(fmt: Format) -> None:
    from moot.cli.page import Page, row, table

    page = Page.out()
    page.line((fmt.title, "bold"), f"  {fmt.summary}")
    page.gap()
    made = table("round", "speech", "speakers", "words", "")
    for column in (0, 3):
        made.columns[column].no_wrap = True
    for number, rows in _rounds(fmt):
        for place, (title, speakers, words, rules) in enumerate(rows):
            row(made, "" if place else number, title, speakers, words, (rules, "dim"))
    page.table(made)
    page.gap()


Row = tuple[str, str, str, str]


def _rounds(fmt: Format) -> list[tuple[str, list[Row]]]:
    """Each round's speeches as rows; rounds that are alike stand together."""
    from moot.schedule import schedule
    from moot.terms import FREE, Limits, Model, Seat

    anyone = Model("any", "any", price=FREE)
    seats = tuple(
        Seat(id=f"seat_{place}", name=chair.name, side=chair.side, role=chair.role, model=anyone)
        for place, chair in enumerate(fmt.chairs)
    )
    names = {seat.id: seat.name for seat in seats}
    rounds: dict[int, dict[int, list[str]]] = {}
    for slot in schedule(fmt, seats, Limits(rounds=fmt.rounds, turns=fmt.turns)):
        speakers = rounds.setdefault(slot.round, {}).setdefault(slot.phase, [])
        if names[slot.seat] not in speakers:
            speakers.append(names[slot.seat])
    alike: list[tuple[int, int, list[Row]]] = []
    for number, phases in rounds.items():
        rows = [_row(fmt.phases[phase], speakers) for phase, speakers in phases.items()]
        if alike and alike[-1][2] == rows:
            alike[-1] = (alike[-1][0], number, rows)
        else:
            alike.append((number, number, rows))
    return [(f"{first}" if first == last else f"{first}-{last}", rows) for first, last, rows in alike]


def _row(phase: Phase, speakers: list[str]) -> Row:
    questions = phase.kind in ("cross-examination", "crossfire")
    rules = (
        f"{phase.exchanges} questions" if questions else "",
        "" if phase.new_arguments else "no new arguments",
        "all at once" if phase.simultaneous else "",
    )
    between = " asks " if questions else ", "
    return phase.title, between.join(speakers), str(phase.words), ", ".join(rule for rule in rules if rule)
