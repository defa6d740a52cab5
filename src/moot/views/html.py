"""A transcript as one HTML file that needs nothing else: no script, no font, no picture, no request.

Every word is escaped, and a policy in the file itself forbids all but its own style, so that it is inert
wherever it is opened. The look is that of a book page: the motion, one colour per seat, the speeches, and a
verdict whose doubts are drawn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape as _escape
from importlib.resources import files

from moot.views.cleaning import clean, line
from moot.views.costs import bill, dollars
from moot.views.durations import in_words
from moot.views.outcome import Leaning
from moot.views.transcript import Participant, Remark, Result, SeatScore, Speech, Transcript

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
PALETTE = ("#0b6e6e", "#b3432b", "#6d4aa2", "#8a6d1b")
_HEX = re.compile(r"#[0-9a-fA-F]{6}\Z|#[0-9a-fA-F]{3}\Z")


def to_html(page: Transcript) -> str:
    motion = _one(page.motion)
    body = "\n".join(_body(page))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="Moot">
<title>{motion}</title>
<style>
{files("moot.views").joinpath("page.css").read_text("utf-8")}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


def _text(text: str) -> str:
    return _escape(clean(text))


def _one(text: str) -> str:
    return _escape(line(text))


def _hue(seat: Participant) -> str:
    """The seat's own colour, where it is one: a style is no place for anything else."""
    colour = seat.colour if _HEX.match(seat.colour) else PALETTE[seat.place % len(PALETTE)]
    return f'style="--seat: {colour}"'


def _body(page: Transcript) -> Iterator[str]:
    yield f'<p class="over">{_one(page.format_title)} · {page.created_at:%d %B %Y}</p>'
    yield f'<h1 dir="auto">{_one(page.motion)}</h1>'
    yield '<ul class="seats">'
    for seat in page.participants:
        side = {"for": "for", "against": "against", "neutral": "neutral"}[seat.side]
        about = f"<span>{side} · {_one(seat.model)}</span>"
        yield f'<li class="seat" {_hue(seat)}><b dir="auto">{_one(seat.name)}</b>{about}</li>'
    yield "</ul>"
    for part in page.rounds:
        yield f"<h2>Round {part.number}</h2>"
        for speech in part.speeches:
            for remark in page.remarks:
                if remark.before == speech.turn:
                    yield _remark(remark)
            yield from _speech(speech)
    yield from (_remark(remark) for remark in page.remarks if remark.before is None)
    yield "<h2>Verdict</h2>"
    if page.verdict:
        yield from _verdict(page, page.verdict)
    else:
        yield f'<p class="facts">No verdict. {_one(page.ending)}</p>'
    yield from _footer(page)


def _speech(speech: Speech) -> Iterator[str]:
    yield f'<article class="speech" {_hue(speech.speaker)}>'
    tokens = f"{'about ' if speech.usage.estimated else ''}{speech.usage.total:,} tokens"
    facts = " · ".join((_one(speech.title), f"{speech.words:,} words", tokens))
    yield f'<header><h3 dir="auto">{_one(speech.speaker.name)}</h3> {facts}</header>'
    if speech.reasoning:
        thought = f'<div class="thought" dir="auto">{_text(speech.reasoning)}</div>'
        yield f"<details><summary>Thinking, hidden from the others</summary>{thought}</details>"
    said = f'<div class="said" dir="auto">{_text(speech.text)}</div>'
    if speech.text:
        yield said if speech.counts else f"<details><summary>Struck</summary>{said}</details>"
    for note in speech.notes:
        yield f'<p class="note">{_one(note)}</p>'
    yield "</article>"


def _remark(remark: Remark) -> str:
    by = f" by {_one(remark.by)}" if remark.by else ""
    words = f"A remark from the floor{by}: {_text(remark.text)}"
    return f'<blockquote class="remark" dir="auto">{words}</blockquote>'


def _verdict(page: Transcript, result: Result) -> Iterator[str]:
    yield '<section class="verdict">'
    yield f'<h3 dir="auto">{_one(result.headline)}</h3>'
    if result.doubts:
        yield f'<ul class="doubts">{"".join(f"<li>{_one(doubt)}</li>" for doubt in result.doubts)}</ul>'
    for score in result.scores:
        yield _bar(score)
    if result.leanings and len(page.participants) >= 2:
        yield _axis(result.leanings, result.scores[0].seat, result.scores[1].seat)
    if result.scores:
        facts = [_one(result.margin_words), f"agreement {result.agreement:.0%}"]
        if result.ballots:
            facts.append(f"{result.ballots} ballots, both orders")
        yield f'<p class="facts">{" · ".join(facts)}</p>'
    if result.reasoning:
        yield f'<div class="said" dir="auto">{_text(result.reasoning)}</div>'
    yield from _marks(result)
    yield "</section>"


def _bar(score: SeatScore) -> str:
    share = min(100.0, max(0.0, score.score))
    bar = f'<i><b style="width: {share:.1f}%"></b></i>'
    name = f'<span dir="auto">{_one(score.seat.name)}</span>'
    return f'<div class="score" {_hue(score.seat)}>{name}{bar}<em>{score.score:g}</em></div>'


def _axis(leanings: tuple[Leaning, ...], first: Participant, second: Participant) -> str:
    """Each judge is two linked dots, one per order; on either side of the middle they name another winner."""
    reach = max(10.0, *(abs(margin) for leaning in leanings for margin in leaning.margins))
    height = 30 + 36 * len(leanings)
    drawn = [
        f'<line class="zero" x1="300" y1="4" x2="300" y2="{height - 22}"/>',
        f'<line class="rule" x1="0" y1="{height - 22}" x2="600" y2="{height - 22}"/>',
        f'<text x="0" y="{height - 5}">{_one(second.name[:40])}</text>',
        f'<text x="300" y="{height - 5}" text-anchor="middle">level</text>',
        f'<text x="600" y="{height - 5}" text-anchor="end">{_one(first.name[:40])}</text>',
    ]
    for place, leaning in enumerate(leanings):
        y = 26 + 36 * place
        spots = [300 + 280 * margin / reach for margin in leaning.margins]
        name = _one(leaning.judge) + (" · changed its mind" if leaning.flipped else "")
        drawn.append(f'<text x="0" y="{y - 14}">{name}</text>')
        drawn.append(f'<line class="link" x1="{min(spots):.1f}" y1="{y}" x2="{max(spots):.1f}" y2="{y}"/>')
        for order, spot in enumerate(spots):
            kind = "first" if order == 0 else "second"
            drawn.append(f'<circle class="{kind}" cx="{spot:.1f}" cy="{y}" r="5"/>')
    label = "The margin of each judge in both orders"
    return (
        f'<svg class="axis" viewBox="0 0 600 {height}" role="img" aria-label="{label}">{"".join(drawn)}</svg>'
    )


def _marks(result: Result) -> Iterator[str]:
    if not any(score.strengths or score.weaknesses for score in result.scores) and not result.criteria:
        return
    yield '<div class="marks">'
    for score in result.scores:
        plus = "".join(f'<li class="plus">{_one(text)}</li>' for text in score.strengths)
        minus = "".join(f'<li class="minus">{_one(text)}</li>' for text in score.weaknesses)
        yield f'<div><h4 dir="auto">{_one(score.seat.name)}</h4><ul>{plus}{minus}</ul></div>'
    if result.criteria:
        rows = "".join(f"<li>{_one(name)}: {_one(text)}</li>" for name, text in result.criteria.items())
        yield f'<div class="wide"><h4>Criteria</h4><ul>{rows}</ul></div>'
    yield "</div>"


def _footer(page: Transcript) -> Iterator[str]:
    about = "about " if page.costs.estimated else ""
    facts = [in_words(page.seconds), f"{about}{page.costs.usage.total:,} tokens", _one(bill(page.costs))]
    yield f"<footer><p>{' · '.join(facts)}</p>"
    judges = ", ".join(f"{_one(judge.name)} ({_one(judge.model)})" for judge in page.judges)
    if judges:
        yield f"<p>Judged by {judges}. {_one(page.ending)}</p>"
    yield "<table>"
    for model in page.costs.models:
        tokens = f"{model.usage.input:,} in, {model.usage.output:,} out"
        yield f"<tr><td>{_one(model.model)}</td><td>{tokens}</td><td>{dollars(model.cost)}</td></tr>"
    yield "</table>"
    yield f"<p>{_one(page.id)}, set by Moot.</p></footer>"
