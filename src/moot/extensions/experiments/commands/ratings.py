"""`moot experiment import` and `moot experiment ratings`: judgments from a file, and what they say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from moot.cli.render.output import Terminal, add_row, make_table, text_table
from moot.core.errors import Invalid
from moot.extensions.experiments.commands.judge_options import Exclude, Judges, Prompts, judge_filter
from moot.views.text import clean_json, plural

if TYPE_CHECKING:
    from moot.extensions.experiments.measuring import Judgment, RatingReport

Over = Annotated[
    Literal["motions", "judges"],
    Parameter(help="What intervals speak of: other motions; or other judges too. [default: motions]"),
]
RowsFile = Annotated[Path, Parameter(help="Judgments: JSON lines, JSON or CSV, ours or of other arenas.")]


def import_rows(
    file: RowsFile,
    /,
    *,
    output: Annotated[
        Path | None, Parameter(name=["--output", "-o"], help="Write the rows here, as .jsonl or .csv.")
    ] = None,
) -> int:
    """Read judgments of debates, say what is in them, and write them with our own columns."""
    from moot.extensions.experiments.measuring import read_judgments, write_csv, write_jsonl

    rows = read_judgments(file)
    terminal = Terminal.out()
    table = make_table("", "")
    table.show_header = False
    for name, text in _contents(rows):
        add_row(table, (name, "dim"), text)
    terminal.table(table)
    if output is None:
        terminal.line(f"Rate them: moot experiment ratings {file}")
        return 0
    try:
        output.write_text(write_csv(rows) if output.suffix == ".csv" else write_jsonl(rows), "utf-8")
    except OSError as error:
        raise Invalid(f"{output} cannot be written: {error}.") from error
    terminal.line(f"Written to {output}.")
    return 0


def _contents(rows: tuple[Judgment, ...]) -> list[tuple[str, str]]:
    def count(values: set[str], word: str) -> str:
        return plural(len(values), word)

    ties = sum(row.winner == "tie" for row in rows)
    undecided = sum(row.winner == "none" for row in rows)
    left = sum(not row.eligible for row in rows)
    return [
        ("judgments", f"{len(rows)}, with {ties} ties, {undecided} without a result, {left} not for ratings"),
        ("debates", f"{count({row.debate for row in rows}, 'debate')} in "
         f"{count({row.group for row in rows}, 'group')}, {count({row.motion for row in rows}, 'motion')}"),
        ("models", count({name for row in rows for name in (row.pro, row.con)}, "model")),
        ("judges", ", ".join(sorted({row.judge for row in rows}))),
    ]  # fmt: skip


def ratings(
    file: RowsFile,
    /,
    *,
    people: Annotated[
        Path | None, Parameter(help="Votes of people on the same debates, to compare the judges with.")
    ] = None,
    terms: Annotated[
        str,
        Parameter(help="Effects beside strength: side, last_word, order, length. [default: side]"),
    ] = "side",
    equal_pairs: Annotated[
        bool, Parameter(negative="", help="Count every pair the same, however often it met.")
    ] = False,
    judges: Judges = None,
    prompts: Prompts = None,
    exclude: Exclude = None,
    over: Over = "motions",
    json: Annotated[bool, Parameter(negative="", help="Print everything as JSON.")] = False,
    markdown: Annotated[bool, Parameter(negative="", help="All of it in Markdown.")] = False,
) -> int:
    """Leaderboard with intervals, side bias, agreement and biases of judges, reliability and costs."""
    from moot.extensions.experiments.measuring import (
        filter_judges,
        make_rating_report,
        rating_markdown,
        read_judgments,
    )

    rated = make_rating_report(
        filter_judges(read_judgments(file), judge_filter(judges, prompts, exclude)),
        read_judgments(people) if people else (),
        terms=tuple(term for term in terms.replace(",", " ").split() if term),
        pair_weight="equal" if equal_pairs else "held",
        over=over,
    )
    if json:
        import msgspec

        written = msgspec.json.format(msgspec.json.encode(rated), indent=2)
        Terminal.out().raw(clean_json(written.decode()) + "\n")
    elif markdown:
        Terminal.out().raw(rating_markdown(rated, f"Ratings of {file.stem}"))
    else:
        _show(rated)
    return 0


def _show(report: RatingReport) -> None:
    from moot.extensions.experiments.measuring.rating_report import METHOD, overview, rating_tables

    terminal = Terminal.out()
    terminal.line(overview(report))
    for part in rating_tables(report):
        terminal.blank_line()
        terminal.line((part.title, "bold"))
        terminal.table(text_table(part.headings, part.rows))
    terminal.blank_line()
    terminal.paragraph(METHOD, "dim", "")
    for note in report.notes:
        terminal.paragraph(f"- {note}", "yellow", "")
