"""A transcript as one HTML file that needs nothing else: no script, no font, no picture, no request.

Every word is escaped, and a policy in the file itself forbids all but its own style, so that it is inert
wherever it is opened. The look is that of a book page: the motion, one colour per seat, the speeches, the
votes of the audience, and verdicts whose doubts are drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files

from moot.views.costs import bill, dollars
from moot.views.durations import in_words
from moot.views.html_escape import hue, one, plural, text
from moot.views.participants import Participant
from moot.views.tool_uses import Use
from moot.views.transcript import Offer, Remark, Speech, Transcript
from moot.views.verdict_html import verdict
from moot.views.votes_html import votes

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def to_html(page: Transcript) -> str:
    motion = one(page.motion)
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


def _body(page: Transcript) -> Iterator[str]:
    yield f'<p class="over">{one(page.format_title)} · {page.created_at:%d %B %Y}</p>'
    yield f'<h1 dir="auto">{one(page.motion)}</h1>'
    yield '<ul class="seats">'
    yield from (_seat(seat) for seat in page.participants)
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
        yield from verdict(page, page.verdict)
    else:
        yield f'<p class="facts">No verdict. {one(page.ending)}</p>'
    if page.audience and page.audience.tally.counts:
        yield "<h2>Audience</h2>"
        yield from votes(page.audience, page.participants, told=page.by_vote)
    for result in page.again:
        yield "<h2>Judged again</h2>"
        yield from verdict(page, result)
    yield from _accidents(page)
    yield from _footer(page)


def _seat(seat: Participant) -> str:
    side = f"{seat.side}, {one(seat.team)}" if seat.team else seat.side
    about = f"<span>{side} · {one(seat.who)}</span>"
    return f'<li class="seat" style="{hue(seat)}"><b dir="auto">{one(seat.name)}</b>{about}</li>'


def _speech(speech: Speech) -> Iterator[str]:
    yield f'<article class="speech" id="s{speech.turn}" style="{hue(speech.speaker)}">'
    mark = f'<a class="mark" href="#s{speech.turn}">S{speech.turn}</a>'
    facts = " · ".join((one(speech.title), *_facts(speech), mark))
    yield f'<header><h3 dir="auto">{one(speech.speaker.name)}</h3> {facts}</header>'
    if speech.reasoning:
        thought = f'<div class="thought" dir="auto">{text(speech.reasoning)}</div>'
        yield f"<details><summary>Thinking, hidden from the others</summary>{thought}</details>"
    if said := "".join(map(_part, speech.told)):
        yield said if speech.counts else f"<details><summary>Struck</summary>{said}</details>"
    if speech.unheard and speech.counts:
        rest = f'<div class="unheard" dir="auto">{text(speech.unheard.lstrip())}</div>'
        yield f"<details><summary>Beyond its budget, heard by nobody</summary>{rest}</details>"
    for note in speech.notes:
        yield f'<p class="note">{one(note)}</p>'
    yield "</article>"
    yield from (_point(point) for point in speech.points)


def _part(part: str | Use) -> str:
    if isinstance(part, str):
        return f'<div class="said" dir="auto">{text(part)}</div>'
    failed = " · failed" if part.failed else ""
    label = "Unknown item" if part.unknown else "Tool"
    head = f"{label}: <b><bdi>{one(part.title or part.name)}</bdi></b> <bdi>{one(part.asked)}</bdi>{failed}"
    if not part.gave:
        return f'<p class="note">{head}</p>'
    gave = f'<p class="gave" dir="auto">{one(part.gave)}</p>'
    return f'<details class="tool"><summary>{head}</summary>{gave}</details>'


def _facts(speech: Speech) -> Iterator[str]:
    if speech.speaks_as:
        yield one(speech.speaks_as)
    over = f" for a budget of {speech.budget:,}" if speech.clipped else ""
    yield f"{plural(speech.words, 'word')}{over}"
    if speech.by_hand:
        yield "given by a person"
    else:
        yield f"{'about ' if speech.usage.estimated else ''}{speech.usage.total:,} tokens"


def _point(point: Offer) -> str:
    who = f'<b dir="auto">{one(point.by.name)}</b>'
    if not point.accepted:
        words = f"{who} rose on a point of information, and was declined."
        return f'<p class="point declined" style="{hue(point.by)}">{words}</p>'
    words = f'<span class="said" dir="auto">{text(point.text)}</span>'
    return f'<div class="point" style="{hue(point.by)}"><p>{who} on a point of information</p>{words}</div>'


def _remark(remark: Remark) -> str:
    by = f" by {one(remark.author)}" if remark.author else ""
    to = f" to {one(remark.to_name)}" if remark.question and remark.to_name else ""
    kind = "question" if remark.question else "remark"
    words = f"A {kind} from the floor{by}{to}: {text(remark.text)}"
    return f'<blockquote class="remark" dir="auto">{words}</blockquote>'


def _accidents(page: Transcript) -> Iterator[str]:
    if not page.accidents.count:
        return
    yield '<h2>Accidents</h2><ul class="accidents">'
    for seat, words, turns in page.mishaps():
        links = ", ".join(f'<a class="mark" href="#s{turn}">S{turn}</a>' for turn in turns)
        yield f'<li style="{hue(seat)}"><b dir="auto">{one(seat.name)}</b> {words}: {links}</li>'
    yield "</ul>"


def _footer(page: Transcript) -> Iterator[str]:
    about = "about " if page.costs.estimated else ""
    facts = [in_words(page.seconds), f"{about}{page.costs.usage.total:,} tokens", one(bill(page.costs))]
    yield f"<footer><p>{' · '.join(facts)}</p>"
    judges = ", ".join(f"{one(judge.name)} ({one(judge.who)})" for judge in page.judges if not judge.recused)
    if judges:
        yield f"<p>Judged by {judges}. {one(page.ending)}</p>"
    for judge in page.judges:
        if judge.recused:
            yield f"<p>{one(judge.name)} ({one(judge.who)}) was not asked: {one(judge.recused)}</p>"
    yield '<table class="bill">'
    for model in page.costs.models:
        tokens = f"{model.usage.input:,} in, {model.usage.output:,} out"
        yield f"<tr><td>{one(model.model)}</td><td>{tokens}</td><td>{dollars(model.cost)}</td></tr>"
    yield "</table>"
    yield f"<p>{one(page.id)}, set by Moot.</p></footer>"
