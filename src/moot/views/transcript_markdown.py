"""A transcript as Markdown: readable as it stands, and shown exactly as it was said once rendered.

Whatever a model or a user wrote is escaped, so that it cannot forge a heading, a link, an image or a verdict
of its own. `unescape` is the way back: it gives the words as they were. What tools were asked, and what they
gave, stands as code. The lines that v1's document has in its example stand here as they stand there; whatever
it does not have (judge, phase, doubts, figures) has lines of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import assert_never

from moot.views.costs import bill
from moot.views.participants import ParticipantView
from moot.views.poll_results import POLLS, PollReport
from moot.views.report_blocks import (
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
from moot.views.text import clean, duration_words, plural, single_line
from moot.views.tool_uses import ToolUse
from moot.views.transcript import SpeechView, Transcript, remark_source
from moot.views.transcript_shapes import Score, TranscriptPoint, TranscriptRemark
from moot.views.verdict_views import JudgeOpinion, VerdictView

_INLINE = re.compile(r"[\\`*_\[\]<>&|~$]")
_BLOCK = re.compile(r"^([#+=:-]|\d{1,9}(?=[.)](?:\s|$)))")
_LINKING = re.compile(r"(?<=https)(?=:)|(?<=http)(?=:)|(?<=ftp)(?=:)|(?<=www)(?=\.)", re.IGNORECASE)
_INDENT = re.compile(r"^[ \t]+")
_TICKS = re.compile("`+")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])| {2}(\n)|&(nbsp|emsp);")
BREAK = "  "
"""A hard line break. No line has other spaces at its end."""


def to_markdown(page: Transcript) -> str:
    return "\n".join(_lines(page)).rstrip() + "\n"


def escape(text: str) -> str:
    """Text that renders as itself. Single line breaks are kept."""
    lines = [_escape_line(one) for one in clean(text).strip("\n").split("\n")]
    for index, following in enumerate(lines[1:]):
        if lines[index] and following:
            lines[index] += BREAK
    return "\n".join(lines)


def unescape(text: str) -> str:
    def back(match: re.Match[str]) -> str:
        return match[1] or match[2] or {"nbsp": " ", "emsp": "\t"}[match[3]]

    return _ESCAPED.sub(back, text)


def _escape_line(text: str) -> str:
    text = text.rstrip()
    indent = _INDENT.match(text)
    margin = indent[0].replace(" ", "&nbsp;").replace("\t", "&emsp;") if indent else ""
    body = _LINKING.sub(r"\\", _INLINE.sub(r"\\\g<0>", text.lstrip(" \t")))
    return margin + _BLOCK.sub(_escape_block, body)


def _escape_block(match: re.Match[str]) -> str:
    """A list number is not punctuation: the backslash goes before the point after it."""
    return f"{match[0]}\\" if match[0].isdigit() else f"\\{match[0]}"


def escape_one(text: str) -> str:
    """Text that renders as itself, on one line."""
    return escape(single_line(text))


_one = escape_one


def _lines(page: Transcript) -> Iterator[str]:
    yield f"# Debate: {_one(page.motion)}"
    yield ""
    yield f"**Format:** {_one(_format(page.format_title))}"
    yield f"**Date:** {page.created_at:%Y-%m-%d}"
    yield f"**Duration:** {duration_words(page.seconds)}"
    yield from (f"**{_one(fact.label)}:** {_one(fact.text)}" for fact in page.facts)
    yield ""
    yield "## Participants"
    yield ""
    for number, seat in enumerate(page.participants, 1):
        yield f"{number}. {_bold(seat)} - {seat.side.capitalize()}"
        yield from (f"   - {one}" for one in _about(seat))
        yield ""
    for judge in page.judges:
        recused = f" (not asked: {_one(judge.recused)})" if judge.recused else ""
        yield f"**Judge:** {_one(judge.name)}, {_one(judge.who)}{recused}"
        yield ""
    if page.first_words_note:
        yield from (f"*{_one(page.first_words_note)}*", "")
    for number, speeches in page.rounds.items():
        yield f"## Round {number}"
        yield ""
        for speech in speeches:
            for remark in page.remarks_before(speech.turn):
                yield from _remark(page, remark)
            yield from _speech(speech)
    for remark in page.remarks_before(None):
        yield from _remark(page, remark)
    if page.early_end:
        yield from (f"*{_one(page.early_end)}*", "")
    if page.verdict:
        yield from ("## Judge's Verdict", "")
        yield from _verdict(page, page.verdict)
    elif page.ending:
        yield from ("## Result", "", f"No verdict. {_one(page.ending)}", "")
    for result in page.later_verdicts:
        names = ", ".join(judge.name for judge in result.judges)
        yield from (f"## Judged again: {_one(names)}", "")
        yield from _verdict(page, result)
    if page.audience and page.audience.tally.counts:
        yield from ("## Audience", "")
        yield from _audience(page.audience, figures_only=page.by_vote)
    for report in page.reports:
        for section in report.sections:
            yield from _section(section)
    yield from _accidents(page)
    yield from _costs(page)


def _format(title: str) -> str:
    """The title of the format with "Debate" after it, unless it contains that word."""
    return title if "debate" in title.lower() or "辩论" in title else f"{title} Debate"


def _bold(seat: ParticipantView) -> str:
    return f"**{_one(seat.name)}**"


def _about(seat: ParticipantView) -> Iterator[str]:
    yield f"Model: {_one(seat.who)}"
    if seat.team:
        yield f"Team: {_one(seat.team)}"
    if seat.person and seat.stand_in:
        yield f"Stand-in: {_one(seat.stand_in)}"


def _quote(text: str) -> Iterator[str]:
    yield ">"
    yield from (f"> {one}" if one else ">" for one in escape(text).split("\n"))
    yield ""


def _speech(speech: SpeechView) -> Iterator[str]:
    # Nothing stands between the name and the words: v1's document has them so.
    by_hand = "given by a person" if speech.by_hand else ""
    begun = f"first {plural(speech.first_words, 'word')} by Moot" if speech.first_words else ""
    facts = (speech.title, speech.speaks_as, by_hand, begun)
    yield from (f"*{_one(', '.join(filter(None, facts)))}*", "")
    yield f"### {_one(speech.speaker.name)}"
    if speech.reasoning:
        yield "> *Thinking, hidden from the others:*"
        yield from _quote(speech.reasoning)
    for part in speech.parts if speech.counts else ():
        yield from _use(part) if isinstance(part, ToolUse) else (escape(part), "")
    for note in speech.notes:
        yield f"*({_one(note)})*"
        yield ""
    if speech.counts and speech.unheard:
        yield "> *Beyond its budget, heard by nobody:*"
        yield from _quote(speech.unheard.strip())
    for point in speech.points:
        yield from _point(point)


def _use(use: ToolUse) -> Iterator[str]:
    arguments = f" {_code(use.arguments)}" if use.arguments else ""
    label = "Unknown item" if use.unknown else "Tool"
    yield f"> *{label}:* {_one(use.title or use.name)}{arguments}" + (BREAK if use.output else "")
    if use.output:
        verb = "It holds" if use.unknown else "It failed" if use.failed else "It gave"
        yield f"> *{verb}:* {_code(use.output)}"
    yield ""


def code_span(text: str) -> str:
    """A line as code, in which nothing is markup and nothing becomes a link."""
    line = single_line(text)
    fence = "`" * (1 + max(map(len, _TICKS.findall(line)), default=0))
    margin = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{margin}{line}{margin}{fence}"


_code = code_span


def code_block(text: str) -> str:
    """Lines as code."""
    fence = "`" * (3 + max(map(len, _TICKS.findall(text)), default=0))
    return f"{fence}\n{text}\n{fence}"


def _point(point: TranscriptPoint) -> Iterator[str]:
    who = _one(point.participant)
    if not point.accepted:
        yield from (f"*({who} offered a point of information; it was declined.)*", "")
        return
    yield f"> **Point of information, {who}:**"
    yield from _quote(point.text)


def _remark(page: Transcript, remark: TranscriptRemark) -> Iterator[str]:
    kind = "Question" if remark.question else "Remark"
    to = f" to {_one(page.seat(remark.to).name)}" if remark.question and remark.to else ""
    yield f"> **{kind} from {_one(remark_source(remark))}{to}:**"
    yield from _quote(remark.text)


def _verdict(page: Transcript, result: VerdictView) -> Iterator[str]:
    winner = None if result.coin_flip else result.winning_seat
    yield f"**Winner:** {_one(winner.name) if winner else 'none: ' + _one(result.headline.lower())}"
    yield ""
    for doubt in result.doubts:
        yield f"*{_one(doubt)}*"
        yield ""
    if result.ranking:
        yield "**Ranking:**"
        yield from (f"{rank}. {_one(seat.name)}" for rank, seat in enumerate(result.ranked_seats, 1))
        yield ""
    if result.scores:
        yield "**Scores:**"
        yield from (f"- {_one(seat.name)}: {score.score:g}/100" for seat, score in result.scored_seats)
        yield ""
        flips = f" · changed minds: {result.flips}" if result.ballot_count else ""
        margin = f"Margin: {_one(result.margin_words)} · agreement" if result.margin_words else "Agreement"
        yield f"{margin}: {result.agreement:.0%}{flips}"
        yield ""
    if result.reasoning:
        yield "**Reasoning:**"
        yield escape(result.reasoning)
        yield ""
    for seat, score in () if result.coin_flip else result.scored_seats:
        yield from _marks(seat, score)
    if result.criteria and not result.coin_flip:
        yield "**Criteria:**"
        yield from (f"- {_one(name)}: {_one(text)}" for name, text in result.criteria.items())
        yield ""
    yield from _rubric(result)
    if len(result.opinions) > 1:
        yield "**Ballots:**"
        for opinion in result.opinions:
            yield from _opinion(page, opinion)
    elif result.cites:
        yield from (f"Key speeches: {_cited(page, result.cites)}", "")
    if result.last_speaker:
        yield from (f"Last word: {_one(result.last_speaker.name)}", "")


def _opinion(page: Transcript, opinion: JudgeOpinion) -> Iterator[str]:
    yield f"- **{_one(opinion.judge.name)}** ({_one(opinion.judge.who)}): {_one(opinion.decision)}"
    for paper in opinion.ballots[:1]:
        yield f"  - {_one(paper.reasoning)}"
        if paper.cites:
            yield f"  - Key speeches: {_cited(page, paper.cites)}"
    yield ""


def _cited(page: Transcript, cites: tuple[int, ...]) -> str:
    speeches = [(turn, page.speech(turn)) for turn in cites]
    return ", ".join(
        f"S{turn} ({_one(speech.speaker.name)}, {_one(speech.title)})" for turn, speech in speeches if speech
    )


def _rubric(result: VerdictView) -> Iterator[str]:
    if not result.rubric:
        return
    seats = [result.seats[seat] for seat in next(iter(result.rubric.values()))]
    yield from ("**Rubric** (a diagnosis beside the decision):", "")
    yield _row("Criterion", *(_one(seat.name) for seat in seats))
    yield _row("---", *("---:" for _ in seats))
    for criterion, points in result.rubric.items():
        yield _row(_one(criterion), *(f"{value:g}" for value in points.values()))
    if result.totals:
        yield _row("As weighted", *(f"{total:g}" for total in result.totals.values()))
    yield ""


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _section(section: ReportSection) -> Iterator[str]:
    """A section that an extension tells of the debate."""
    yield from (f"## {_one(section.title)}", "")
    for block in section.blocks:
        yield from _block(block)


def _block(block: DebateBlock) -> Iterator[str]:
    match block:
        case Note(text=text):
            yield from (f"*{_one(text)}*", "")
        case Sentences(texts=texts):
            for text in texts:
                yield from (_one(text), "")
        case Bullets(items=items, title=title):
            if title:
                yield from (f"**{_one(title)}**", "")
            yield from (f"- {_one(item.text)}{f' (S{item.turn})' if item.turn else ''}" for item in items)
            yield ""
        case ReportTable():
            yield from _table(block)
        case Folded(table=table):
            yield from _table(table)
        case Listing(title=title, text=text):
            yield from (f"**{_one(title)}**", "", code_block(text), "")
        case VoteCount(report=report):
            yield from _audience(report, figures_only=False)
        case Picture():
            return
        case _:
            assert_never(block)


def _table(table: ReportTable) -> Iterator[str]:
    if table.title:
        yield from (f"**{_one(table.title)}**", "")
    yield _row(*map(_one, table.headings))
    yield _row(*("---" if at in table.words else "---:" for at in range(len(table.headings))))
    yield from (_row(*map(_one, row)) for row in table.rows)
    yield ""
    if table.note:
        yield from (_one(table.note), "")


def _audience(report: PollReport, *, figures_only: bool) -> Iterator[str]:
    """The result of the votes. With `figures_only` they are the verdict, which is shown above: then only the
    figures are returned.
    """
    tally, names = report.tally, [_one(option.name) for option in report.options]
    models = tally.voters == "models"
    if report.headline and not figures_only:
        choice = "The models' choice" if models else "People's choice"
        yield from (f"**{choice}:** {_one(report.headline)}", "")
    for doubt in () if figures_only else report.doubts:
        yield from (f"*{_one(doubt)}*", "")
    if tally.sealed:
        yield from (f"- {POLLS[count.poll]}: {count.votes:,} votes, sealed" for count in tally.counts)
        yield ""
        return
    if not figures_only:
        yield from (_one(report.account), "")
    yield _row("Vote", *names, "In all")
    yield _row("---", *("---:" for _ in (*names, "")))
    for count in tally.counts:
        cells = (f"{votes:,} ({count.share(choice):g}%)" for choice, votes in count.by_choice.items())
        yield _row(POLLS[count.poll], *cells, f"{count.votes:,}")
    yield ""
    if report.moved:
        yield from (f"**Who moved, of the {tally.pairs:,} {'that' if models else 'who'} voted twice:**", "")
        yield _row("From \\\\ to", *names)
        yield _row("---", *("---:" for _ in names))
        yield from (_row(name, *map(str, row)) for name, row in zip(names, tally.table, strict=True))
        yield _row("Change", *(f"{change.points:+g} points" for change in tally.changes))
        yield ""


def _marks(seat: ParticipantView, score: Score) -> Iterator[str]:
    if not score.strengths and not score.weaknesses:
        return
    yield f"{_bold(seat)}:"
    yield from (f"- strength: {_one(text)}" for text in score.strengths)
    yield from (f"- weakness: {_one(text)}" for text in score.weaknesses)
    yield ""


def _accidents(page: Transcript) -> Iterator[str]:
    if not (page.issues.count or page.early_end):
        return
    yield from ("## Issues", "")
    if page.early_end:
        yield f"- {_one(page.early_end)}"
    for seat, words, turns in page.issue_rows():
        yield f"- {_one(seat.name)} {words}: {', '.join(f'S{turn}' for turn in turns)}"
    yield ""


def _costs(page: Transcript) -> Iterator[str]:
    yield "## Costs"
    total = _one(bill(page.costs, " USD")).replace("\\$", "$")
    yield f"- Total: {total}"
    about = "about " if page.costs.estimated else ""
    yield f"- Total Tokens: {about}{page.costs.usage.total:,}"
    for model, used in page.costs.models.items():
        yield f"- {_one(model)}: {used.usage.input:,} in, {used.usage.output:,} out"
