"""A transcript as one HTML file that needs nothing else: no script, no font, no picture, no request.

Every word is escaped, and a policy in the file itself forbids all but its own style, so that it is inert
wherever it is opened. The look is that of a book page: the motion, one colour per seat, the speeches, the
votes of the audience, and verdicts whose doubts are drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files

from moot.views.costs import bill, dollars
from moot.views.markdown_html import markdown_html
from moot.views.participants import ParticipantView, seat_style
from moot.views.report_html import section_html
from moot.views.text import duration_words, escape_line, escape_text, plural
from moot.views.tool_uses import ToolUse
from moot.views.transcript import SpeechView, Transcript, remark_source
from moot.views.transcript_shapes import TranscriptPoint, TranscriptRemark
from moot.views.verdict_html import verdict, votes

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def to_html(page: Transcript) -> str:
    motion = escape_line(page.motion)
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
    yield f'<p class="over">{escape_line(page.format_title)} · {page.created_at:%d %B %Y}</p>'
    yield f'<h1 dir="auto">{escape_line(page.motion)}</h1>'
    yield '<ul class="seats">'
    yield from (_seat(seat) for seat in page.participants)
    yield "</ul>"
    if page.first_words_note:
        yield f'<p class="facts">{escape_line(page.first_words_note)}</p>'
    for number, speeches in page.rounds.items():
        yield f"<h2>Round {number}</h2>"
        for speech in speeches:
            yield from (_remark(page, remark) for remark in page.remarks_before(speech.turn))
            yield from _speech(page, speech)
    yield from (_remark(page, remark) for remark in page.remarks_before(None))
    if page.early_end:
        yield f'<p class="early-end" dir="auto">{escape_line(page.early_end)}</p>'
    yield "<h2>Verdict</h2>"
    if page.verdict:
        yield from verdict(page, page.verdict)
    else:
        yield f'<p class="facts">No verdict. {escape_line(page.ending)}</p>'
    if page.audience and page.audience.tally.counts:
        yield "<h2>Audience</h2>"
        yield from votes(page.audience, page.participants, figures_only=page.by_vote)
    for result in page.later_verdicts:
        yield "<h2>Judged again</h2>"
        yield from verdict(page, result)
    for report in page.reports:
        for section in report.sections:
            yield f"<h2>{escape_line(section.title)}</h2>"
            yield from section_html(section, page.participants)
    yield from _accidents(page)
    yield from _footer(page)


def _seat(seat: ParticipantView) -> str:
    side = f"{seat.side}, {escape_line(seat.team)}" if seat.team else seat.side
    name = f"{escape_line(seat.name)} · " if seat.shown != seat.name else ""
    about = f"<span>{name}{side} · {escape_line(seat.who)}</span>"
    return (
        f'<li class="seat" style="{seat_style(seat)}"><b dir="auto">{escape_line(seat.shown)}</b>{about}</li>'
    )


def _speech(page: Transcript, speech: SpeechView) -> Iterator[str]:
    yield f'<article class="speech" id="s{speech.turn}" style="{seat_style(speech.speaker)}">'
    mark = f'<a class="mark" href="#s{speech.turn}">S{speech.turn}</a>'
    facts = " · ".join((escape_line(speech.title), *_facts(speech), mark))
    yield f'<header><h3 dir="auto">{escape_line(speech.speaker.shown)}</h3> {facts}</header>'
    if speech.reasoning:
        thought = f'<div class="thought" dir="auto">{escape_text(speech.reasoning)}</div>'
        yield f"<details><summary>Thinking, hidden from the others</summary>{thought}</details>"
    if body := "".join(map(_part, speech.parts)):
        yield body if speech.counts else f"<details><summary>Struck</summary>{body}</details>"
    if speech.unheard and speech.counts:
        unheard = f'<div class="unheard" dir="auto">{escape_text(speech.unheard.lstrip())}</div>'
        yield f"<details><summary>Beyond its budget, heard by nobody</summary>{unheard}</details>"
    for note in speech.notes:
        yield f'<p class="note">{escape_line(note)}</p>'
    yield "</article>"
    yield from (_point(page.seat(point.participant_id), point) for point in speech.points)


def _part(part: str | ToolUse) -> str:
    if isinstance(part, str):
        return f'<div class="said" dir="auto">{markdown_html(part)}</div>'
    failed = " · failed" if part.failed else ""
    label = "Unknown item" if part.unknown else "Tool"
    name, arguments = escape_line(part.title or part.name), escape_line(part.arguments)
    head = f"{label}: <b><bdi>{name}</bdi></b> <bdi>{arguments}</bdi>{failed}"
    if not part.output:
        return f'<p class="note">{head}</p>'
    gave = f'<p class="gave" dir="auto">{escape_line(part.output)}</p>'
    return f'<details class="tool"><summary>{head}</summary>{gave}</details>'


def _facts(speech: SpeechView) -> Iterator[str]:
    if speech.speaks_as:
        yield escape_line(speech.speaks_as)
    over = f" for a budget of {speech.budget:,}" if speech.clipped else ""
    begun = f", the first {speech.first_words} by Moot" if speech.first_words else ""
    yield f"{plural(speech.words, 'word')}{over}{begun}"
    if speech.by_hand:
        yield "given by a person"
    else:
        yield f"{'about ' if speech.usage.estimated else ''}{speech.usage.output:,} tokens"


def _point(seat: ParticipantView, point: TranscriptPoint) -> str:
    who = f'<b dir="auto">{escape_line(seat.shown)}</b>'
    if not point.accepted:
        words = f"{who} rose on a point of information, and was declined."
        return f'<p class="point declined" style="{seat_style(seat)}">{words}</p>'
    words = f'<span class="said" dir="auto">{escape_text(point.text)}</span>'
    style = seat_style(seat)
    return f'<div class="point" style="{style}"><p>{who} on a point of information</p>{words}</div>'


def _remark(page: Transcript, remark: TranscriptRemark) -> str:
    to = f" to {escape_line(page.seat(remark.to).name)}" if remark.question and remark.to else ""
    kind = "question" if remark.question else "remark"
    words = f"A {kind} from {escape_line(remark_source(remark))}{to}: {escape_text(remark.text)}"
    return f'<blockquote class="remark" dir="auto">{words}</blockquote>'


def _accidents(page: Transcript) -> Iterator[str]:
    if not (page.issues.count or page.early_end):
        return
    yield '<h2>Issues</h2><ul class="accidents">'
    if page.early_end:
        yield f'<li dir="auto">{escape_line(page.early_end)}</li>'
    for seat, words, turns in page.issue_rows():
        links = ", ".join(f'<a class="mark" href="#s{turn}">S{turn}</a>' for turn in turns)
        name = escape_line(seat.shown)
        yield f'<li style="{seat_style(seat)}"><b dir="auto">{name}</b> {words}: {links}</li>'
    yield "</ul>"


def _footer(page: Transcript) -> Iterator[str]:
    about = "about " if page.costs.estimated else ""
    facts = [
        duration_words(page.seconds),
        f"{about}{page.costs.usage.input:,} tokens in, {page.costs.usage.output:,} out",
        escape_line(bill(page.costs)),
        *(f"{escape_line(fact.label)}: {escape_line(fact.text)}" for fact in page.facts),
    ]
    yield f"<footer><p>{' · '.join(facts)}</p>"
    judges = ", ".join(
        f"{escape_line(judge.name)} ({escape_line(judge.who)})" for judge in page.judges if not judge.recused
    )
    if judges:
        yield f"<p>Judged by {judges}. {escape_line(page.ending)}</p>"
    for judge in page.judges:
        if judge.recused:
            name, who, reason = (escape_line(one) for one in (judge.name, judge.who, judge.recused))
            yield f"<p>{name} ({who}) was not asked: {reason}</p>"
    yield '<table class="bill">'
    for model, used in page.costs.models.items():
        tokens, cost = f"{used.usage.input:,} in, {used.usage.output:,} out", dollars(used.known_cost)
        yield f"<tr><td>{escape_line(model)}</td><td>{tokens}</td><td>{cost}</td></tr>"
    yield "</table>"
    yield f"<p>{escape_line(page.id)}, set by Moot.</p></footer>"
