"""`moot formats`: the debate formats, one of them in full, and a check for your own file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from moot.cli.error_messages import USAGE
from moot.cli.options import command_group
from moot.cli.render.output import Terminal, add_row, make_table
from moot.core.errors import Invalid
from moot.core.terms import EXCHANGE_KINDS, DebateLimits, Format, Phase

app = command_group("formats", "List the debate formats, and check your own.")

RESULT_TEXTS = {
    "majority": "the majority of the judges",
    "consensus": "the judges, if they are of one mind",
    "ranking": "a ranking of all teams, from first to last",
    "swing": "the side that has moved more of the audience; without an audience, the majority of the judges",
    "summary": "no winner, but a summary",
    "none": "no winner",
}


@app.default
def formats() -> int:
    """The debate formats."""
    from moot import formats as format_files
    from moot import settings

    terminal = Terminal.out()
    folder = settings.load().formats
    table = make_table("format", "length", "seats", "")
    for name in format_files.names(folder):
        fmt = format_files.load(name, folder)
        add_row(
            table,
            (name, "bold"),
            _length(fmt),
            f"{fmt.min_seats}-{fmt.max_seats}",
            format_files.described(fmt),
        )
    for column in (0, 1, 2):
        table.columns[column].no_wrap = True
    terminal.table(table)
    terminal.line("")
    for _, user_format in format_files.user_formats(folder):
        if isinstance(user_format, Invalid):
            terminal.raw(f"{user_format}\n")
    terminal.line("  moot formats show NAME prints the table of speeches.")
    terminal.line(f"  Formats of your own are .toml files in {folder}.")
    return 0


@app.command
def show(name: Annotated[str, Parameter(help="A format by name, or a .toml file.")], /) -> int:
    """Show the speeches of a format, in order."""
    from moot import formats as format_files
    from moot import settings

    _table(format_files.load(name, settings.load().formats))
    return 0


@app.command
def check(file: Annotated[Path, Parameter(help="A .toml file.")], /) -> int:
    """Check a format file, and show what is wrong and where."""
    from moot import formats as format_files

    try:
        words = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(f"{file} cannot be read: {error}.") from error
    try:
        fmt = format_files.parse(words, str(file))
    except Invalid as error:
        # As compilers say it, so that editors find the place: one line each, however long.
        Terminal.err().raw(f"{error}\n")
        return USAGE
    _table(fmt)
    Terminal.out().line(("The format is valid.", "green"))
    return 0


def _length(fmt: Format) -> str:
    if fmt.turns:
        return f"{fmt.turns} turns"
    speeches = sum(phase.kind != "vote" for phase in fmt.phases)
    return f"{fmt.rounds} rounds" if not fmt.scripted else f"{speeches} rows"


# --- the table of speeches ----------------------------------------------------------------------------


def _table(fmt: Format) -> None:
    from moot.formats import described

    terminal = Terminal.out()
    terminal.line((fmt.title, "bold"), f"  {described(fmt)}")
    terminal.blank_line()
    table = make_table("round", "speech", "speaker", "min", "words", "")
    for column in (0, 3, 4):
        table.columns[column].no_wrap = True
    for column in (3, 4):
        table.columns[column].justify = "right"
    for number, rows in _rounds(fmt):
        for index, (title, who, minutes, words, rules) in enumerate(rows):
            add_row(table, "" if index else number, title, who, minutes, words, (rules, "dim"))
    terminal.table(table)
    terminal.blank_line()
    _terms(terminal, fmt)
    terminal.blank_line()


def _terms(terminal: Terminal, fmt: Format) -> None:
    """What a table of speeches does not say."""

    names = ", ".join(chair.name for chair in fmt.chairs)
    prep = f"{fmt.prep_words} words of private notes for each team, where there is prep"
    table = make_table("", "")
    table.show_header = False
    add_row(table, ("result", "dim"), RESULT_TEXTS[fmt.result])
    add_row(table, ("last word", "dim"), fmt.last_word or "not fixed")
    add_row(table, ("prep", "dim"), prep if fmt.prep_words else "none")
    add_row(table, ("seats", "dim"), f"{fmt.min_seats} to {fmt.max_seats}: {names}")
    terminal.table(table)


Row = tuple[str, str, str, str, str]


def _rounds(fmt: Format) -> list[tuple[str, list[Row]]]:
    """Each round's rows; rounds that are alike stand together."""
    from moot.core.schedule import played_rows, schedule
    from moot.formats.checking import template_seats

    seats, limits = template_seats(fmt), DebateLimits(rounds=fmt.rounds, turns=fmt.turns)
    names = {seat.id: seat.name for seat in seats}
    speakers: dict[tuple[int, int], list[str]] = {}
    for slot in schedule(fmt, seats, limits):
        speaking = speakers.setdefault((slot.round, slot.phase), [])
        if names[slot.seat] not in speaking:
            speaking.append(names[slot.seat])
    rounds: dict[int, list[Row]] = {}
    for number, index in played_rows(fmt, seats, limits):
        phase = fmt.phases[index]
        rounds.setdefault(number, []).append(_row(fmt, phase, speakers.get((number, index), [])))
    alike: list[tuple[int, int, list[Row]]] = []
    for number, rows in rounds.items():
        if alike and alike[-1][2] == rows:
            alike[-1] = (alike[-1][0], number, rows)
        else:
            alike.append((number, number, rows))
    return [(f"{first}" if first == last else f"{first}-{last}", rows) for first, last, rows in alike]


def _row(fmt: Format, phase: Phase, names: list[str]) -> Row:
    minutes = f"{phase.minutes:g}" if phase.minutes else ""
    if phase.kind == "vote":
        return phase.title, "the audience", "", "", ""
    return phase.title, _speaker(fmt, phase, names), minutes, str(phase.words), ", ".join(_rules(phase))


def _speaker(fmt: Format, phase: Phase, names: list[str]) -> str:
    """Who speaks, and as whom; of a team with several speakers, which of them."""
    if phase.kind in EXCHANGE_KINDS and len(names) > 1:
        asker = _numbered(fmt, names[0], phase.speaker)
        answerer = _numbered(fmt, names[1], phase.to_speaker)
        return f"{asker} {'asks' if phase.kind == 'cross-examination' else 'and'} {answerer}"
    named = phase.speaks_as and phase.speaks_as not in phase.title
    return phase.speaks_as if named else ", ".join(names)


def _numbered(fmt: Format, name: str, speaker: int) -> str:
    if not any(phase.speaks_as for phase in fmt.phases):
        return name
    return f"{name} {speaker}" if speaker else f"all of {name}"


def _rules(phase: Phase) -> list[str]:
    questions = phase.kind in ("cross-examination", "crossfire")
    rules = (
        f"{phase.exchanges} questions" if questions else "",
        f"in turn, {phase.clock} words a side" if phase.clock else "",
        f"{phase.exchanges} turns each" if phase.kind == "exchange" and not phase.clock else "",
        "if there are questions" if phase.kind == "questions" else "",
        "points of information" if phase.points_of_information else "",
        "" if phase.new_arguments or questions else "no new arguments",
        "all at once" if phase.simultaneous else "",
    )
    return [rule for rule in rules if rule]
