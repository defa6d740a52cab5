"""A report as a list of blocks: sentences, bullets and tables as in `views/report_blocks.py`, and figures.

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
from moot.views.report_blocks import Bullet, Bullets, ReportTable, Sentences, TextBlock


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


Figure = ForestPlot | ShareMatrix | Curves
Block = TextBlock | Figure


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
