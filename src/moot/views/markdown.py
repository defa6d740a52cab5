"""A transcript as Markdown: readable as it stands, and shown exactly as it was said once rendered.

Whatever a model or a user wrote is escaped, so that it cannot forge a heading, a link, an image or a verdict
of its own. `unescape` is the way back: it gives the words as they were.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from moot.views.cleaning import clean, line
from moot.views.costs import bill
from moot.views.durations import in_words
from moot.views.transcript import Participant, Remark, Result, Speech, Transcript

_INLINE = re.compile(r"[\\`*_\[\]<>&|~$]")
_BLOCK = re.compile(r"^([#+=:-]|\d{1,9}(?=[.)](?:\s|$)))")
_LINKING = re.compile(r"(?<=https)(?=:)|(?<=http)(?=:)|(?<=ftp)(?=:)|(?<=www)(?=\.)", re.IGNORECASE)
_INDENT = re.compile(r"^[ \t]+")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~\n])|&(nbsp|emsp);")


def to_markdown(page: Transcript) -> str:
    return "\n".join(_lines(page)).rstrip() + "\n"


def escape(text: str) -> str:
    """Text that renders as itself. Single line breaks are kept."""
    lines = [_escape_line(one) for one in clean(text).strip("\n").split("\n")]
    for place, following in enumerate(lines[1:]):
        if lines[place] and following:
            lines[place] += "\\"
    return "\n".join(lines)


def unescape(text: str) -> str:
    def back(match: re.Match[str]) -> str:
        return match[1] or {"nbsp": " ", "emsp": "\t"}[match[2]]

    return _ESCAPED.sub(back, text)


def _escape_line(text: str) -> str:
    text = text.rstrip()
    indent = _INDENT.match(text)
    margin = indent[0].replace(" ", "&nbsp;").replace("\t", "&emsp;") if indent else ""
    body = _LINKING.sub(r"\\", _INLINE.sub(r"\\\g<0>", text.lstrip(" \t")))
    return margin + _BLOCK.sub(_escape_block, body)


def _escape_block(match: re.Match[str]) -> str:
    """A list number is not punctuation: it is the point after it that takes the backslash."""
    return f"{match[0]}\\" if match[0].isdigit() else f"\\{match[0]}"


def _one(text: str) -> str:
    return escape(line(text))


def _lines(page: Transcript) -> Iterator[str]:
    yield f"# Debate: {_one(page.motion)}"
    yield ""
    yield f"**Format:** {_one(page.format_title)}\\"
    yield f"**Date:** {page.created_at:%Y-%m-%d}\\"
    yield f"**Duration:** {in_words(page.seconds)}"
    yield ""
    yield "## Participants"
    yield ""
    for number, seat in enumerate(page.participants, 1):
        yield f"{number}. {_bold(seat)} - {seat.side.capitalize()}"
        yield f"   - Model: {_one(seat.model)}"
        yield ""
    for judge in page.judges:
        yield f"**Judge:** {_one(judge.name)}, {_one(judge.model)}"
        yield ""
    for part in page.rounds:
        yield f"## Round {part.number}"
        yield ""
        for speech in part.speeches:
            for remark in page.remarks:
                if remark.before == speech.turn:
                    yield from _remark(remark)
            yield from _speech(speech)
    for remark in page.remarks:
        if remark.before is None:
            yield from _remark(remark)
    if page.verdict:
        yield from _verdict(page.verdict)
    elif page.ending:
        yield from ("## Result", "", f"No verdict. {_one(page.ending)}", "")
    yield from _costs(page)


def _bold(seat: Participant) -> str:
    return f"**{_one(seat.name)}**"


def _speech(speech: Speech) -> Iterator[str]:
    yield f"### {_one(speech.speaker.name)}"
    yield f"*{_one(speech.title)}*"
    yield ""
    if speech.reasoning:
        yield "> *Thinking, hidden from the others:*"
        yield ">"
        yield from (f"> {one}".rstrip() for one in escape(speech.reasoning).split("\n"))
        yield ""
    if speech.counts and speech.text:
        yield escape(speech.text)
        yield ""
    for note in speech.notes:
        yield f"*({_one(note)})*"
        yield ""


def _remark(remark: Remark) -> Iterator[str]:
    yield f"> **Remark from the floor{' by ' + _one(remark.by) if remark.by else ''}:**"
    yield ">"
    yield from (f"> {one}".rstrip() for one in escape(remark.text).split("\n"))
    yield ""


def _verdict(result: Result) -> Iterator[str]:
    yield "## Judge's Verdict"
    yield ""
    yield f"**Winner:** {_one(result.winner.name) if result.winner else 'none: ' + result.headline.lower()}"
    yield ""
    for doubt in result.doubts:
        yield f"*{_one(doubt)}*"
        yield ""
    if result.scores:
        yield "**Scores:**"
        yield ""
        yield from (f"- {_one(score.seat.name)}: {score.score:g}/100" for score in result.scores)
        yield ""
        flips = f" · changed minds: {result.flips}" if result.ballots else ""
        yield f"Margin: {_one(result.margin_words)} · agreement: {result.agreement:.0%}{flips}"
        yield ""
    if result.reasoning:
        yield "**Reasoning:**"
        yield ""
        yield escape(result.reasoning)
        yield ""
    for score in result.scores:
        yield from _marks(score.seat, score.strengths, score.weaknesses)
    if result.criteria:
        yield "**Criteria:**"
        yield ""
        yield from (f"- {_one(name)}: {_one(text)}" for name, text in result.criteria.items())
        yield ""


def _marks(seat: Participant, strengths: tuple[str, ...], weaknesses: tuple[str, ...]) -> Iterator[str]:
    if not strengths and not weaknesses:
        return
    yield f"{_bold(seat)}:"
    yield ""
    yield from (f"- strength: {_one(text)}" for text in strengths)
    yield from (f"- weakness: {_one(text)}" for text in weaknesses)
    yield ""


def _costs(page: Transcript) -> Iterator[str]:
    yield "## Costs"
    yield ""
    total = _one(bill(page.costs, " USD")).replace("\\$", "$")
    yield f"- Total: {total}"
    about = "about " if page.costs.estimated else ""
    yield f"- Total Tokens: {about}{page.costs.usage.total:,}"
    for model in page.costs.models:
        yield f"- {_one(model.model)}: {model.usage.input:,} in, {model.usage.output:,} out"
