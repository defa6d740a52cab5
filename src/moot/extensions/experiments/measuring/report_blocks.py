"""A report as a list of blocks: sentences, bullets, tables and figures, each as a reader would see it.

`report_document.py` builds the blocks from an `ExperimentReport`, once. `report_html.py` and
`report_markdown.py` write them down and know nothing of experiments; the terminal shows the same tables, and
the page asks for the blocks as JSON. Texts in blocks are plain: whoever writes them down escapes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count

from msgspec import Struct
from msgspec.structs import replace

from moot.extensions.experiments.measuring.calibration import CalibrationBin


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


class ForestLine(Struct, frozen=True):
    """A figure with its interval. An end that is None is open; both None: no interval is known."""

    name: str
    value: float
    low: float | None
    high: float | None
    label: str
    """The figure and its interval as text."""


class ForestPlot(Struct, frozen=True, tag="forest"):
    """A dot for each figure and a line for its interval, on one scale. A table says the same in numbers."""

    title: str
    lines: tuple[ForestLine, ...]
    middle: float | None = None
    """Where a dashed line stands: the mean, or no effect."""
    note: str = ""
    number: int = 0


class ShareMatrix(Struct, frozen=True, tag="matrix"):
    """How often, in per cent, each row won against each column. A table says the same with intervals."""

    title: str
    names: tuple[str, ...]
    shares: tuple[tuple[float | None, ...], ...]
    """By row and column; None where two never met, and on the diagonal."""
    note: str = ""
    number: int = 0


class CurvePanel(Struct, frozen=True):
    name: str
    points: tuple[CalibrationBin, ...]


class Curves(Struct, frozen=True, tag="curves"):
    """Accuracy by confidence, a panel for each name. A table says the same in numbers."""

    title: str
    panels: tuple[CurvePanel, ...]
    note: str = ""
    number: int = 0


class Listing(Struct, frozen=True, tag="listing"):
    """A longer text to look something up in, such as the definition of the experiment."""

    title: str
    text: str


Figure = ForestPlot | ShareMatrix | Curves
Block = Sentences | Bullets | ReportTable | Figure | Listing


class Section(Struct, frozen=True):
    title: str
    blocks: tuple[Block, ...]

    @property
    def anchor(self) -> str:
        return self.title.lower().replace(" ", "-").replace(",", "")


class ReportDocument(Struct, frozen=True, kw_only=True):
    """A whole report. Tables and figures are numbered through."""

    title: str
    over: str
    """What kind of document it is, above the title."""
    lead: str
    """What was done, in a sentence or two."""
    sections: tuple[Section, ...]
    closing: str = ""
    """Versions, seeds and time, at the end."""

    @property
    def tables(self) -> tuple[ReportTable, ...]:
        blocks = (block for section in self.sections for block in section.blocks)
        return tuple(block for block in blocks if isinstance(block, ReportTable))


def sentences(*texts: str) -> Iterator[Sentences]:
    """The texts that say anything, as a block; none where all are empty."""
    if said := tuple(text for text in texts if text):
        yield Sentences(said)


def bullets(texts: Iterable[str], title: str = "") -> Iterator[Bullets]:
    if items := tuple(Bullet(text) for text in texts):
        yield Bullets(items, title)


def section(title: str, blocks: Iterable[Block]) -> Iterator[Section]:
    """The section, or nothing where it has no blocks. Tables without rows are left out."""
    kept = tuple(block for block in blocks if not (isinstance(block, ReportTable) and not block.rows))
    if kept:
        yield Section(title, kept)


def numbered(sections: Sequence[Section]) -> tuple[Section, ...]:
    """The sections with their tables and figures numbered through, each kind from 1."""
    tables, figures = count(1), count(1)

    def number(block: Block) -> Block:
        if isinstance(block, ReportTable):
            return replace(block, number=next(tables))
        return replace(block, number=next(figures)) if isinstance(block, Figure) else block

    return tuple(replace(each, blocks=tuple(map(number, each.blocks))) for each in sections)
