"""Blocks of a report as one HTML file without scripts and without a request to anywhere: it can be published.

Every text from outside (names, motions) is escaped. `server` is the address to which debates are linked,
where there is one. On a narrow screen the rows of a wide table fold, in print they fit the page.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from typing import assert_never

from moot.extensions.experiments import measuring
from moot.extensions.experiments.measuring.report_blocks import (
    Block,
    Curves,
    ForestPlot,
    ReportDocument,
    Section,
    ShareMatrix,
)
from moot.extensions.experiments.measuring.report_figures import figure_html
from moot.views.report_blocks import Bullet, Bullets, Listing, ReportTable, Sentences

MEASURED = re.compile(r"(.+?) \((.+)\)")
"""A figure and its interval, which may stand below it."""
NEGATIVE = re.compile(r"(?<![\w–])-(?=\d)")
FOLDING = 4
"""A table of so many columns folds on a narrow screen."""
STACKED = 3
"""In a table with so many columns of figures with intervals, each interval stands below its figure."""
LONG = 30
"""A table of more rows scrolls in a box of its own on a screen."""


def report_html(document: ReportDocument, server: str = "") -> str:
    style = files(measuring).joinpath("report.css").read_text("utf-8")
    sections = "".join(_section(each, server) for each in document.sections)
    contents = "".join(
        f'<li><a href="#{each.anchor}">{escape(each.title)}</a></li>' for each in document.sections
    )
    return f"""<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{escape(document.title)}: {escape(document.over)}</title><style>{style}</style></head>
<body><main>
<header><p class="over">{escape(document.over)}</p><h1>{escape(document.title)}</h1>
<p class="lead">{escape(document.lead)}</p></header>
<nav aria-label="Contents"><ol>{contents}</ol></nav>
{sections}<footer><p>{escape(document.closing)}</p></footer>
</main></body></html>
"""


def _section(section: Section, server: str) -> str:
    body = "".join(_block(block, server) for block in section.blocks)
    return (
        f'<section aria-labelledby="{section.anchor}"><h2 id="{section.anchor}">{escape(section.title)}</h2>'
        f"{body}</section>\n"
    )


def _block(block: Block, server: str) -> str:
    match block:
        case Sentences(texts=texts):
            return "".join(f"<p>{escape(text)}</p>" for text in texts)
        case Bullets(items=items, title=title):
            heading = f"<h3>{escape(title)}</h3>" if title else ""
            return f"{heading}<ul>{''.join(f'<li>{_bullet(item, server)}</li>' for item in items)}</ul>"
        case ReportTable():
            return _table(block)
        case ForestPlot() | ShareMatrix() | Curves():
            return figure_html(block)
        case Listing(title=title, text=text):
            return f"<details><summary>{escape(title)}</summary><pre>{escape(text)}</pre></details>"
        case _:
            assert_never(block)


def _bullet(item: Bullet, server: str) -> str:
    text = escape(item.text)
    if not item.debate:
        return text
    known = f" <code>{escape(item.debate)}</code>"
    if not server:
        return text + known
    place = f"#turn-{item.turn}" if item.turn else "/replay"
    return f'<a href="{escape(server)}/debate/{escape(item.debate)}{place}">{text}</a>{known}'


def _table(table: ReportTable) -> str:
    named = next(iter(table.words), 0)
    heads = "".join(
        f'<th scope="col" role="columnheader"{_kind(at, table.words)}>{escape(name)}</th>'
        for at, name in enumerate(table.headings)
    )
    rows = "".join(f'<tr role="row">{_cells(row, table, named)}</tr>' for row in table.rows)
    number = f"Table {table.number}. " if table.number else ""
    rests_on = f" <span>{escape(table.rests_on)}</span>" if table.rests_on else ""
    note = f'<p class="note">{escape(table.note)}</p>' if table.note else ""
    name = f"table-{table.number}"
    return (
        f'<div class="{_shape(table)}" tabindex="0" role="region" aria-labelledby="{name}-title">'
        f'<table role="table" id="{name}">'
        f'<caption><b id="{name}-title">{number}{escape(table.title)}.</b>{rests_on}</caption>'
        f'<thead role="rowgroup"><tr role="row">{heads}</tr></thead><tbody role="rowgroup">{rows}</tbody>'
        f"</table></div>{note}"
    )


def _shape(table: ReportTable) -> str:
    measured = sum(
        any(MEASURED.fullmatch(row[at]) for row in table.rows)
        for at in range(len(table.headings))
        if at not in table.words
    )
    shapes = {
        "folds": len(table.headings) >= FOLDING,
        "long": len(table.rows) > LONG,
        "stacked": measured >= STACKED,
    }
    return " ".join(["scroll", *(name for name, has in shapes.items() if has)])


def _cells(row: Sequence[str], table: ReportTable, named: int) -> str:
    return "".join(
        f'<th scope="row" role="rowheader" class="words">{escape(cell)}</th>'
        if at == named
        else f'<td role="cell" data-label="{escape(table.headings[at])}"{_kind(at, table.words)}>'
        f"{escape(cell) if at in table.words else _figure(cell)}</td>"
        for at, cell in enumerate(row)
    )


def _figure(cell: str) -> str:
    """The interval of a figure may stand on a line of its own."""
    text = NEGATIVE.sub("−", escape(cell))
    found = MEASURED.fullmatch(text)
    return f"<b>{found[1]}</b> <small>{found[2]}</small>" if found else f"<b>{text}</b>"


def _kind(at: int, words: Sequence[int]) -> str:
    return ' class="words"' if at in words else ""
