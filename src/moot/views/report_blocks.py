"""Blocks of a report: sentences, bullets, tables and pictures, each as a reader would see it.

An extension tells what it knows of a debate as a list of them (`moot.extension.DebateReport`), and the page,
the exports and the terminal write them down; the reports of extensions are made of the same. Texts in blocks
are plain: whoever writes them down escapes them.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from moot.views.poll_results import PollReport


class ReportTable(Struct, frozen=True, tag="table"):
    """A table of texts. In Markdown, in HTML and in the terminal its cells are the same."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    rests_on: str = ""
    """How much it rests on: 108 ballots on 54 debates, 9 motions."""
    note: str = ""
    """How to read it, in a sentence or two."""
    words: tuple[int, ...] = (0,)
    """The columns that hold words and not figures."""
    number: int = 0

    def without_empty_columns(self) -> ReportTable:
        """What the data does not say has no column."""
        return self._only(
            [at for at in range(len(self.headings)) if any(row[at] not in EMPTY for row in self.rows)]
        )

    def without(self, *headings: str) -> ReportTable:
        return self._only([at for at, name in enumerate(self.headings) if name not in headings])

    def _only(self, kept: Sequence[int]) -> ReportTable:
        return replace(
            self,
            headings=tuple(self.headings[at] for at in kept),
            rows=tuple(tuple(row[at] for at in kept) for row in self.rows),
            words=tuple(place for place, at in enumerate(kept) if at in self.words),
        )


EMPTY = ("", "–")


class Sentences(Struct, frozen=True, tag="sentences"):
    """Paragraphs, one for each text."""

    texts: tuple[str, ...]


class Bullet(Struct, frozen=True):
    text: str
    debate: str = ""
    """The debate that it is about, which is linked where there is a server."""
    turn: int = 0
    """The speech of that debate, from 1."""


class Bullets(Struct, frozen=True, tag="bullets"):
    items: tuple[Bullet, ...]
    title: str = ""


class Listing(Struct, frozen=True, tag="listing"):
    """A longer text to look something up in, such as a definition."""

    title: str
    text: str


class Note(Struct, frozen=True, tag="note"):
    """What is to be known of the section before it is read. The terminal leaves it out."""

    text: str


class Picture(Struct, frozen=True, tag="picture"):
    """A drawing, for documents in HTML alone: other blocks say the same."""

    html: str
    """SVG and what belongs to it, in which whatever came from outside is escaped."""


class Folded(Struct, frozen=True, tag="folded"):
    """A table that has the numbers of a picture: in HTML it is folded."""

    title: str
    table: ReportTable


class VoteCount(Struct, frozen=True, tag="votes"):
    """The result of a vote."""

    report: PollReport


TextBlock = Sentences | Bullets | ReportTable | Listing
DebateBlock = TextBlock | Note | Picture | Folded | VoteCount


class ReportSection(Struct, frozen=True):
    """A section of what is told of a debate."""

    title: str
    blocks: tuple[DebateBlock, ...]
    called: str = ""
    """How a sentence names it, where that is not the title: `The arguments`."""
