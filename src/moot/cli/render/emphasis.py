"""Markdown of speeches in a terminal: bold, italic and code as styles, without their marks.

Lines are printed as they become final, so emphasis that was opened in one line goes on in the next, up to a
blank line. A mark that has been opened and not closed yet is not shown either. Tables, links and fenced code
stay as written: in a terminal they are readable so.
"""

from __future__ import annotations

import re

from moot.cli.render.output import StyledText

MARK = re.compile(r"\*\*|__|\*|_|`")
STYLES = {"**": "bold", "__": "bold", "*": "italic", "_": "italic", "`": "cyan"}
HEADING = re.compile(r"#{1,6}\s+")
ITEM = re.compile(r"^(\s*)[-*+]\s+")


class EmphasisReader:
    """Reads the lines of one speech in order. `copy` reads lines that may still change."""

    def __init__(self, open_marks: tuple[str, ...] = ()) -> None:
        self._open = list(open_marks)

    def copy(self) -> EmphasisReader:
        return EmphasisReader(tuple(self._open))

    def parts(self, line: str) -> list[StyledText]:
        if not line.strip():
            self._open.clear()
            return [line]
        heading = HEADING.match(line)
        line = line[heading.end() :] if heading else ITEM.sub(r"\1• ", line, count=1)
        found: list[StyledText] = []
        start = 0
        for mark in MARK.finditer(line):
            if not self._counts(mark[0], line[: mark.start()], line[mark.end() :]):
                continue
            self._add(found, line[start : mark.start()], bold=heading is not None)
            self._toggle(mark[0])
            start = mark.end()
        self._add(found, line[start:], bold=heading is not None)
        return found

    def _counts(self, mark: str, before: str, after: str) -> bool:
        """Whether the mark opens or closes something, rather than being a sign of its own."""
        if "`" in self._open and mark != "`":
            return False
        if mark in self._open:
            return mark == "`" or not before or not before[-1].isspace()
        opens = bool(after) and not after[0].isspace()
        within_a_word = bool(before) and before[-1].isalnum() and opens and after[0].isalnum()
        return opens and not (within_a_word and mark in ("_", "__", "*"))

    def _toggle(self, mark: str) -> None:
        if mark in self._open:
            self._open.remove(mark)
        else:
            self._open.append(mark)

    def _add(self, found: list[StyledText], text: str, *, bold: bool) -> None:
        names = [STYLES[mark] for mark in self._open]
        if bold:
            names.append("bold")
        if text:
            found.append((text, " ".join(sorted(set(names)))))
