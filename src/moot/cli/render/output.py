"""All output goes through `Terminal`, which cleans it and wraps it to the width.

It is a terminal or a pipe. Colours are the terminal's own sixteen, and NO_COLOR turns them off. A pipe gets
plain text: every line whole, without escape codes or blanks at its end, and tabs between columns.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TextIO

from rich.cells import cell_len
from rich.console import Console
from rich.style import Style
from rich.table import Table
from rich.text import Text

from moot.cli.render.wrapping import clean_text, line_width, narrower, wrap
from moot.views.text import clean, single_line

StyledText = str | tuple[str, str]
"""Words, or words and their style."""

INDENT = "  "
ANSI_SEAT_COLOURS = ("cyan", "red", "magenta", "yellow")
"""The terminal's own colours that come next to `terms.SEAT_COLOURS`, one for each."""
MAX_WIDTH = 92
"""Longer lines are hard to read, however wide the screen."""


class Terminal:
    """A terminal, or with `piped` anything else: a pipe, a file."""

    def __init__(self, console: Console, *, piped: bool = False) -> None:
        self.console = console
        self._piped = piped
        self._blank = False

    @classmethod
    def out(cls, *, plain: bool = False) -> Terminal:
        return cls._of(sys.stdout, plain=plain)

    @classmethod
    def err(cls) -> Terminal:
        return cls._of(sys.stderr)

    @classmethod
    def _of(cls, stream: TextIO, *, plain: bool = False) -> Terminal:
        piped = line_width(stream) is None
        return cls(_console(stream, plain=plain or piped), piped=piped)

    @property
    def rich(self) -> bool:
        """Whether it can show colours and moving parts."""
        return self.console.is_terminal and not self.console.is_dumb_terminal

    @property
    def width(self) -> int | None:
        """How wide a line may be; None for a pipe, where every line is left whole."""
        return None if self._piped else max(24, min(self.console.width, MAX_WIDTH))

    def line(self, *parts: StyledText) -> None:
        self.print(styled(*parts))

    def print(self, what: Text) -> None:
        """Print a text. Where it is indented and too long, its further lines are indented alike."""
        self._blank = not what.plain.strip()
        if self._piped:
            self.raw("".join(f"{line.rstrip()}\n" for line in what.plain.split("\n")))
            return
        margin = len(what.plain) - len(what.plain.lstrip(" "))
        if margin and not self._blank and what.cell_len > self.console.width > 2 * margin:
            what = _hanging(what, margin, self.console)
        self.console.print(what, highlight=False, markup=False, emoji=False, soft_wrap=False)

    def print_lines(self, lines: Iterable[Text]) -> None:
        for line in lines:
            self.print(line)

    def paragraph(self, words: str, style: str = "", margin: str = INDENT) -> None:
        self.print_lines(paragraph(words, self.width, style, margin))

    def prompt(self, *parts: StyledText) -> None:
        """Print the words before what a person types, on the same line."""
        self._blank = False
        self.console.print(styled(*parts), end="", highlight=False, soft_wrap=True)

    def blank_line(self) -> None:
        """Print one empty line, unless the last line was empty."""
        if not self._blank:
            self.line()

    def table(self, table: Table) -> None:
        """In a pipe each row is one line, with tabs between its cells."""
        self._blank = False
        if not self._piped:
            self.console.print(table)
            return
        heads = [[str(column.header) for column in table.columns]] if table.show_header else []
        rows = zip(*(map(str, column.cells) for column in table.columns), strict=True)
        lines = ["\t".join(cells).rstrip() for cells in (*heads, *rows)]
        self.raw("".join(f"{line}\n" for line in lines))

    def next_page(self, count: int, total: int) -> None:
        """Below a list that has more rows: print how to see them, but not among the rows of a pipe."""
        if count < total:
            (Terminal.err() if self._piped else self).line(
                (f"{count} of {total}; the next ones: --offset {count}", "dim")
            )

    def raw(self, words: str) -> None:
        """Print a document, cleaned but neither wrapped nor styled."""
        self.console.file.write(clean(words))
        self.console.file.flush()


def _hanging(text: Text, margin: int, console: Console) -> Text:
    lines = text[margin:].wrap(console, console.width - margin)
    return Text("\n").join(Text(" " * margin) + line for line in lines)


def styled(*parts: StyledText) -> Text:
    text = Text()
    for part in parts:
        words, style = (part, "") if isinstance(part, str) else part
        text.append(clean(words), style=Style.parse(style) if style else None)
    return text


def paragraph(words: str, width: int | None, style: str = "", margin: str = INDENT) -> Iterator[Text]:
    """Yield the lines of a text, wrapped to `width` with a margin before each."""
    for _, one in wrap(clean_text(words).strip(), narrower(width, len(margin))):
        yield styled(margin, (one, style)) if one else styled("")


def make_table(*headings: str) -> Table:
    """Columns without a frame; `add_row` fills it."""
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="dim", pad_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table


def add_row(table: Table, *cells: StyledText) -> None:
    table.add_row(*(styled(_on_one_line(cell)) for cell in cells))


def text_table(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> Table:
    """A whole table of texts."""
    table = make_table(*headings)
    for row in rows:
        add_row(table, *row)
    return table


def _on_one_line(cell: StyledText) -> StyledText:
    return single_line(cell) if isinstance(cell, str) else (single_line(cell[0]), cell[1])


def seat_colour(index: int) -> str:
    return ANSI_SEAT_COLOURS[index % len(ANSI_SEAT_COLOURS)]


def cell(words: str, room: int, width: int | None) -> str:
    """Return a cell that has another to its right: filled to `room`, or in a pipe with a tab behind it."""
    return single_line(words) + "\t" if width is None else pad(words, room)


def figures_row(name: str, figures: Iterable[str], rooms: tuple[int, int], width: int | None) -> str:
    """Return a name and its figures, flush right; `rooms` are the widths of their columns."""
    if width is None:
        return "\t".join((single_line(name), *figures))
    left, right = rooms
    return pad(name, left) + "".join(shorten(figure, right - 1).rjust(right) for figure in figures)


def shorten(words: str, width: int | None) -> str:
    """Return as much as fits into `width` cells, with an ellipsis where something is left out."""
    words = single_line(words)
    if width is None or cell_len(words) <= width:
        return words
    shortened = ""
    for char in words:
        if cell_len(shortened + char) > width - 1:
            break
        shortened += char
    return shortened.rstrip() + "…"


def pad(words: str, width: int) -> str:
    """Return the words cut or filled to exactly `width` cells."""
    words = shorten(words, width)
    return words + " " * (width - cell_len(words))


def join(parts: Iterable[str], between: str = " · ") -> str:
    return between.join(part for part in parts if part)


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """The reader of the pipe has closed it: `app.run` returns the exit code for that."""
        self.quiet = True
        raise BrokenPipeError


def _console(file: TextIO, *, plain: bool) -> Console:
    return _Console(
        file=file,
        force_terminal=not plain,
        no_color=True if plain else None,
        color_system=None if plain else "auto",
        highlight=False,
        markup=False,
        emoji=False,
    )
