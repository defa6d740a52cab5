"""Writes the tables of docs/figures.md between two marks, and the picture beside it.

The text outside the marks is written by hand and stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.bench.chart import svg
from tests.bench.figures import COLUMNS, Result, cells

BEGIN = "<!-- Written by `make bench ARGS=--write-docs`; edit the benchmarks instead. -->"
END = "<!-- End of the written part. -->"
PICTURE = "images/figures.svg"


def write_page(page: Path, results: Sequence[Result], sections: Mapping[str, tuple[str, str]]) -> None:
    """`sections` has the title of each benchmark, and what it measures."""
    picture = page.parent / PICTURE
    picture.write_text(picture_of(results), "utf-8")
    page.write_text(replaced(page.read_text("utf-8"), tables(results, sections)), "utf-8")


def picture_of(results: Sequence[Result]) -> str:
    figures = [figure for result in results for figure in result.figures if figure.main]
    machines = sorted({result.machine for result in results})
    dates = sorted({result.date for result in results})
    notes = sorted({result.note for result in results if result.note})
    period = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}" if dates else ""
    return svg(figures, "; ".join([f"measured {period}", *machines, *notes]))


def tables(results: Sequence[Result], sections: Mapping[str, tuple[str, str]]) -> str:
    """Markdown: the picture, then for each benchmark what it measures, when and where, and its figures."""
    blocks = [f"![Main figures beside their limits and goals]({PICTURE})"]
    for result in results:
        runs = max((len(figure.runs) for figure in result.figures), default=0)
        about = f"*{result.date}, {result.machine}, {runs} run{'s' if runs != 1 else ''}"
        title, description = sections[result.bench]
        blocks += [
            f"## {title}",
            f"`make bench ARGS={result.bench}`: {description}",
            f"{about}{f'; {result.note}' if result.note else ''}.*",
            _markdown(result),
        ]
    return "\n\n".join(blocks)


def _markdown(result: Result) -> str:
    columns = (*COLUMNS, "note")
    rows = [(*cells(figure), figure.note) for figure in result.figures]
    lines = [columns, ("---",) * len(columns), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)


def replaced(text: str, written: str) -> str:
    """The page with its written part replaced. Raises ValueError where the marks are missing."""
    before, begin, remaining = text.partition(BEGIN)
    _, end, after = remaining.partition(END)
    if not begin or not end:
        raise ValueError(f"The page needs the marks {BEGIN} and {END}.")
    return f"{before}{BEGIN}\n\n{written}\n\n{END}{after}"
