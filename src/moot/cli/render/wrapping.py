"""How wide lines are, and growing text, printed line by line as soon as a line can no longer change.

What is not a terminal has no width: nothing is wrapped, cut or filled there. Wrapping is greedy, so a line is
final once the next one has begun. The last few lines are held back: the speech of a small model is cut back
to its last whole sentence when it ends.
"""

from __future__ import annotations

import io
import os
from typing import IO

from moot.views.text import clean

HELD_LINES = 3
DEFAULT_WIDTH = 80
"""Of a terminal that does not know its own."""


class PageText(io.StringIO):
    """Text in memory for a page on which this many characters fit beside one another."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width


def line_width(stream: IO[str]) -> int | None:
    """Return how wide the lines of a stream may be: COLUMNS or the width of the terminal; None for a pipe."""
    if isinstance(stream, PageText):
        return stream.width
    if not stream.isatty():
        return None
    columns = os.environ.get("COLUMNS", "")
    if columns.isdigit() and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size(stream.fileno()).columns or DEFAULT_WIDTH
    except OSError:
        return DEFAULT_WIDTH


def narrower(width: int | None, cells: int) -> int | None:
    return None if width is None else width - cells


def clean_text(text: str) -> str:
    return clean(text).replace("\t", "    ")


def wrap(text: str, width: int | None) -> list[tuple[int, str]]:
    """Return the lines of a text, none wider than `width`, each with the offset at which the next begins."""
    lines: list[tuple[int, str]] = []
    start = 0
    while start < len(text):
        end, begin = _break(text, start, width)
        lines.append((begin, text[start:end].rstrip()))
        start = begin
    return lines


def _break(text: str, start: int, width: int | None) -> tuple[int, int]:
    """Where the line that begins at `start` ends, and where the next one begins."""
    if width is None:
        end = text.find("\n", start)
        return (end, end + 1) if end >= 0 else (len(text), len(text))
    # Loaded here, because help in a pipe has no use for it.
    from rich.cells import cell_len

    width_left = width
    space: int | None = None
    for index in range(start, len(text)):
        char = text[index]
        if char == "\n":
            return index, index + 1
        if char == " ":
            space = index
        width_left -= cell_len(char)
        if width_left < 0 and char != " ":
            if space is None:
                return max(index, start + 1), max(index, start + 1)
            return space, space + 1
    return len(text), len(text)


class LineFlow:
    def __init__(self, width: int | None, held: int = HELD_LINES, label: str = "") -> None:
        self.width = width
        self.text = ""
        self._label = label
        self._held = held
        self._given = 0

    @property
    def words(self) -> int:
        return len(self.text.removeprefix(self._label).split())

    def add(self, text: str) -> None:
        text = clean_text(text)
        self.text += text if self.text else self._labelled(text)

    def ready(self) -> list[str]:
        """Return the lines that are final, except those held back."""
        lines = wrap(self.text[self._given :], self.width)
        ready = lines[: max(0, len(lines) - 1 - self._held)]
        if ready:
            self._given += ready[-1][0]
        return [words for _, words in ready]

    def remaining(self) -> list[str]:
        """Return the lines that `ready` has not returned yet."""
        return [words for _, words in wrap(self.text[self._given :], self.width)]

    def finish(self, final: str | None = None) -> tuple[list[str], str]:
        """Return the lines not printed yet, and a note where lines that were printed no longer hold."""
        note = ""
        if final is not None:
            note = self._settle(self._labelled(clean_text(final)).rstrip())
        lines = self.remaining()
        self._given = len(self.text)
        while lines and not lines[-1]:
            lines.pop()
        return lines, note

    def _labelled(self, text: str) -> str:
        text = text.lstrip()
        return self._label + text if text else ""

    def _settle(self, final: str) -> str:
        printed = self.text[: self._given]
        if final.startswith(printed.rstrip()):
            self.text, self._given = final, min(self._given, len(final))
            return ""
        if printed.startswith(final):
            self._given = len(self.text)
            return "The last words above were cut off and do not count."
        self.text, self._given = final, 0
        return "As it was finally given:"
