"""A section that an extension tells of a debate, as HTML in the document of its transcript."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from moot.views.participants import ParticipantView
from moot.views.report_blocks import (
    Bullet,
    Bullets,
    DebateBlock,
    Folded,
    Listing,
    Note,
    Picture,
    ReportSection,
    ReportTable,
    Sentences,
    VoteCount,
)
from moot.views.text import escape_line, escape_text
from moot.views.verdict_html import votes


def section_html(section: ReportSection, seats: tuple[ParticipantView, ...]) -> Iterator[str]:
    """The blocks in an element of their own; votes have their own already."""
    parts = [part for block in section.blocks for part in _block(block, seats)]
    if any(isinstance(block, VoteCount) for block in section.blocks):
        yield from parts
        return
    parts[0] = f'<section class="verdict">{parts[0]}'
    parts[-1] += "</section>"
    yield from parts


def _block(block: DebateBlock, seats: tuple[ParticipantView, ...]) -> Iterator[str]:
    match block:
        case Note(text=text):
            yield f'<p class="facts">{escape_line(text)}</p>'
        case Sentences(texts=texts):
            yield from (f'<p dir="auto">{escape_line(text)}</p>' for text in texts)
        case Bullets(items=items, title=title):
            if title:
                yield f"<h3>{escape_line(title)}</h3>"
            yield from map(_bullet, items)
        case ReportTable():
            yield _table(block)
        case Folded(title=title, table=table):
            yield f"<details><summary>{escape_line(title)}</summary>{_table(table)}</details>"
        case Listing(title=title, text=text):
            yield f"<details><summary>{escape_line(title)}</summary><pre>{escape_text(text)}</pre></details>"
        case Picture(html=html):
            yield html
        case VoteCount(report=report):
            yield from votes(report, seats, figures_only=False)
        case _:
            assert_never(block)


def _bullet(item: Bullet) -> str:
    mark = f' <a class="mark" href="#s{item.turn}">S{item.turn}</a>' if item.turn else ""
    return f'<p class="account" dir="auto">{escape_line(item.text)}{mark}</p>'


def _table(table: ReportTable) -> str:
    caption = f"<caption>{escape_line(table.title)}</caption>" if table.title else ""
    heads = "".join(f'<th scope="col">{escape_line(head)}</th>' for head in table.headings)
    rows = "".join(
        f'<tr><th scope="row" dir="auto">{escape_line(first)}</th>'
        + "".join(f"<td>{escape_line(cell)}</td>" for cell in rest)
        + "</tr>"
        for first, *rest in table.rows
    )
    note = f'<p class="facts">{escape_line(table.note)}</p>' if table.note else ""
    return (
        f'<table class="figures">{caption}<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>{note}'
    )
