"""Blocks of a report as Markdown: the same sentences and tables as in HTML, without the pictures.

Motions and the names of models and judges come from files and services: they are escaped, as in transcripts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import assert_never

from moot.extensions.experiments.measuring.report_blocks import (
    Block,
    Curves,
    ForestPlot,
    ReportDocument,
    ShareMatrix,
)
from moot.views.report_blocks import Bullet, Bullets, Listing, ReportTable, Sentences
from moot.views.transcript_markdown import code_block, code_span, escape_one

_FIGURES = re.compile(r"[-–+≥≤$\d.,:%() ]*(?:(?:to|of|tied|e|no interval|unknown)[-–+≥≤$\d.,:%() ]*)*")


def report_markdown(document: ReportDocument) -> str:
    return "\n\n".join(_parts(document)) + "\n"


def markdown_block(block: Block) -> Iterator[str]:
    """The paragraphs of a block."""
    match block:
        case Sentences(texts=texts):
            yield from map(escape_one, texts)
        case Bullets(items=items, title=title):
            if title:
                yield f"### {escape_one(title)}"
            yield "\n".join(f"- {_bullet(item)}" for item in items)
        case ReportTable():
            yield _caption("Table", block)
            yield markdown_table(block)
            if block.note:
                yield escape_one(block.note)
        case ForestPlot() | ShareMatrix() | Curves():
            yield _caption("Figure", block)
            if block.note:
                yield escape_one(block.note)
        case Listing(title=title, text=text):
            yield f"### {escape_one(title)}"
            yield code_block(text)
        case _:
            assert_never(block)


def markdown_table(table: ReportTable) -> str:
    """A table of texts and figures, in which no cell is markup."""
    lines = ["| " + " | ".join(map(_cell, row)) + " |" for row in (table.headings, *table.rows)]
    ruler = "|".join("---" if at in table.words else "---:" for at in range(len(table.headings)))
    return "\n".join([lines[0], f"|{ruler}|", *lines[1:]])


def _parts(document: ReportDocument) -> Iterator[str]:
    yield f"# {escape_one(document.title)}"
    yield escape_one(document.lead)
    for section in document.sections:
        yield f"## {escape_one(section.title)}"
        for block in section.blocks:
            yield from markdown_block(block)
    if document.closing:
        yield escape_one(document.closing)


def _caption(kind: str, block: ReportTable | ForestPlot | ShareMatrix | Curves) -> str:
    number = f"{kind} {block.number}. " if block.number else ""
    rests_on = f" {escape_one(block.rests_on)}" if isinstance(block, ReportTable) and block.rests_on else ""
    return f"**{number}{escape_one(block.title)}.**{rests_on}"


def _bullet(item: Bullet) -> str:
    about = f" ({code_span(item.debate)})" if item.debate else ""
    return escape_one(item.text) + about


def _cell(text: str) -> str:
    """Figures have no markup: they stand as they are."""
    return text if _FIGURES.fullmatch(text) else escape_one(text)
