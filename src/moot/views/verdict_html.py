"""Verdicts and votes on an HTML page: the result, its doubts, each judge with the key speeches."""

from __future__ import annotations

import re
from collections.abc import Iterator

from moot.judging.audience_votes import MIN_VOTERS, AudienceTally, ConfidenceInterval, PollTotals
from moot.views.outcome import JudgeMargins
from moot.views.participants import ParticipantView, seat_style
from moot.views.poll_results import POLLS, PollOption, PollReport
from moot.views.text import escape_line, escape_text, plural
from moot.views.transcript import Transcript
from moot.views.transcript_shapes import JudgeBallot
from moot.views.verdict_views import JudgeOpinion, VerdictView


def verdict(page: Transcript, result: VerdictView) -> Iterator[str]:
    yield '<section class="verdict">'
    yield f'<h3 dir="auto">{escape_line(result.title)}</h3>'
    if result.doubts:
        doubts = "".join(f"<li>{escape_line(doubt)}</li>" for doubt in result.doubts)
        yield f'<ul class="doubts">{doubts}</ul>'
    if result.ranking:
        places = "".join(
            f'<li style="{seat_style(seat)}" dir="auto">{escape_line(seat.shown)}</li>'
            for seat in result.ranked_seats
        )
        yield f'<ol class="ranking">{places}</ol>'
    for seat, score in result.scored_seats:
        yield _bar(seat, score.score)
    if result.leanings and len(result.scores) >= 2:
        (first, _), (second, _), *_ = result.scored_seats
        yield _axis(result.leanings, first, second)
    if result.sentence:
        yield f'<p dir="auto">{escape_line(result.sentence)}</p>'
    facts = " · ".join(_facts(result))
    if facts:
        yield f'<p class="facts">{facts}</p>'
    if result.reasoning and len(result.opinions) <= 1:
        yield f'<div class="said" dir="auto">{_with_links(page, result.reasoning)}</div>'
    yield from _opinions(page, result)
    if not result.coin_flip:
        yield from _marks(result)
    yield from _rubric(result)
    yield "</section>"


def _facts(result: VerdictView) -> Iterator[str]:
    if result.scores:
        yield f"agreement {result.agreement:.0%}"
    if result.ballot_count:
        yield plural(result.ballot_count, "ballot")
    if result.last_speaker:
        yield f"last word: {escape_line(result.last_speaker.shown)}"


def _bar(seat: ParticipantView, points: float) -> str:
    share = min(100.0, max(0.0, points))
    bar = f'<i><b style="width: {share:.1f}%"></b></i>'
    name = f'<span dir="auto">{escape_line(seat.shown)}</span>'
    return f'<div class="score" style="{seat_style(seat)}">{name}{bar}<em>{points:g}</em></div>'


def _axis(leanings: tuple[JudgeMargins, ...], first: ParticipantView, second: ParticipantView) -> str:
    """Each judge is two linked dots, one per reading; on either side of the middle they name another winner.

    With level points a dot is a little on the side of the party that the ballot names.
    """
    reach = max(10.0, *(abs(margin) for leaning in leanings for margin in leaning.margins))
    height = 30 + 36 * len(leanings)
    drawn = [
        f'<line class="zero" x1="300" y1="4" x2="300" y2="{height - 22}"/>',
        f'<line class="rule" x1="0" y1="{height - 22}" x2="600" y2="{height - 22}"/>',
        f'<text x="0" y="{height - 5}">{escape_line(first.shown[:34])}</text>',
        f'<text x="300" y="{height - 5}" text-anchor="middle">level on points</text>',
        f'<text x="600" y="{height - 5}" text-anchor="end">{escape_line(second.shown[:34])}</text>',
    ]
    for index, leaning in enumerate(leanings):
        y = 26 + 36 * index
        spots = [300 - 280 * margin / reach for margin in leaning.places(reach / 20)]
        name = escape_line(leaning.judge) + (" · changed its mind" if leaning.flipped else "")
        drawn.append(f'<text x="0" y="{y - 14}">{name}</text>')
        drawn.append(f'<line class="link" x1="{min(spots):.1f}" y1="{y}" x2="{max(spots):.1f}" y2="{y}"/>')
        for reading, spot in enumerate(spots):
            kind = "first" if reading == 0 else "second"
            drawn.append(f'<circle class="{kind}" cx="{spot:.1f}" cy="{y}" r="5"/>')
    label = "The margin of each judge in points, in both readings"
    return (
        f'<svg class="axis" viewBox="0 0 600 {height}" role="img" aria-label="{label}">{"".join(drawn)}</svg>'
    )


def _opinions(page: Transcript, result: VerdictView) -> Iterator[str]:
    """A card for each of several judges; the reasons of a single judge are in the verdict already."""
    if len(result.opinions) == 1:
        yield _rests_on(page, result.cites)
        yield from (_again(page, result, ballot) for ballot in result.ballots[1:])
        return
    for opinion in result.opinions:
        yield from _card(page, result, opinion)


def _card(page: Transcript, result: VerdictView, opinion: JudgeOpinion) -> Iterator[str]:
    seat = result.seats.get(opinion.ballots[0].winner) if opinion.ballots and not opinion.flipped else None
    style = f' style="{seat_style(seat)}"' if seat else ""
    yield f'<div class="ballot"{style}>'
    name, who = escape_line(opinion.judge.name), escape_line(opinion.judge.who)
    yield f'<h4 dir="auto">{name} <span>{who}</span></h4>'
    yield f'<p class="decision" dir="auto">{escape_line(opinion.decision)}</p>'
    for ballot in opinion.ballots[:1]:
        yield f'<div class="said" dir="auto">{_with_links(page, ballot.reasoning)}</div>'
        yield _rests_on(page, ballot.cites)
    yield from (_again(page, result, ballot) for ballot in opinion.ballots[1:])
    yield "</div>"


def _again(page: Transcript, result: VerdictView, ballot: JudgeBallot) -> str:
    """The ballot of the same judge after its second reading."""
    seat = result.seats.get(ballot.winner)
    winner = escape_line(seat.shown) if seat else "a tie"
    reason = f'<div class="other" dir="auto">{_with_links(page, ballot.reasoning)}</div>'
    cites = _rests_on(page, ballot.cites)
    return f"<details><summary>In the second reading: {winner}</summary>{reason}{cites}</details>"


def _with_links(page: Transcript, reason: str) -> str:
    """The words of a judge, with a link at each speech that they name."""

    def linked(match: re.Match[str]) -> str:
        turn = int(match[1])
        return f'<a href="#s{turn}">{match[0]}</a>' if page.speech(turn) else match[0]

    return re.sub(r"\b[Ss]peech (\d{1,4})\b", linked, escape_text(reason))


def _rests_on(page: Transcript, cites: tuple[int, ...]) -> str:
    speeches = [speech for turn in cites if (speech := page.speech(turn))]
    if not speeches:
        return ""
    links = "".join(
        f'<li style="{seat_style(speech.speaker)}"><a href="#s{speech.turn}">S{speech.turn} '
        f"<bdi>{escape_line(speech.speaker.shown)}</bdi>, {escape_line(speech.title)}</a></li>"
        for speech in speeches
    )
    return f'<ul class="cites"><li>Key speeches</li>{links}</ul>'


def _marks(result: VerdictView) -> Iterator[str]:
    if (
        not any(score.strengths or score.weaknesses for score in result.scores.values())
        and not result.criteria
    ):
        return
    yield '<div class="marks">'
    for seat, score in result.scored_seats:
        plus = "".join(f'<li class="plus">{escape_line(remark)}</li>' for remark in score.strengths)
        minus = "".join(f'<li class="minus">{escape_line(remark)}</li>' for remark in score.weaknesses)
        yield f'<div><h4 dir="auto">{escape_line(seat.shown)}</h4><ul>{plus}{minus}</ul></div>'
    if result.criteria:
        rows = "".join(
            f"<li>{escape_line(name)}: {escape_line(remark)}</li>" for name, remark in result.criteria.items()
        )
        yield f'<div class="wide"><h4>Criteria</h4><ul>{rows}</ul></div>'
    yield "</div>"


def _rubric(result: VerdictView) -> Iterator[str]:
    rubric = result.rubric
    if not rubric:
        return
    yield "<details><summary>Rubric: a diagnosis beside the decision</summary>"
    heads = "".join(
        f'<th scope="col" dir="auto">{escape_line(result.seats[seat].shown)}</th>'
        for seat in next(iter(rubric.values()))
    )
    yield f'<table class="figures"><tr><th scope="col">Criterion</th>{heads}</tr>'
    for name, values in rubric.items():
        points = "".join(f"<td>{value:g}</td>" for value in values.values())
        times = result.weights.get(name, 1.0)
        weight = f" <span>× {times:g}</span>" if times != 1 else ""
        yield f'<tr><th scope="row" dir="auto">{escape_line(name)}{weight}</th>{points}</tr>'
    if result.totals:
        totals = "".join(f"<td>{total:g}</td>" for total in result.totals.values())
        yield f'<tr><th scope="row">As weighted</th>{totals}</tr>'
    yield "</table></details>"


MIN_LABEL_PERCENT = 9.0
"""A smaller share of a bar is shown without its figure."""
SHADES = 4


def votes(report: PollReport, seats: tuple[ParticipantView, ...], *, figures_only: bool) -> Iterator[str]:
    """The result of the votes. With `figures_only` they are the verdict, which is shown above: then only the
    figures are returned.
    """
    tally = report.tally
    yield '<section class="verdict votes">'
    if tally.sealed:
        yield from (
            f'<p class="facts">{POLLS[c.poll]}: {plural(c.votes, "vote")}, sealed</p>' for c in tally.counts
        )
        yield "</section>"
        return
    if report.headline and not figures_only:
        choice = "The models’ choice" if tally.voters == "models" else "People’s choice"
        yield f'<p class="over">{choice}</p><h3 dir="auto">{escape_line(report.headline)}</h3>'
    if report.doubts and not figures_only:
        doubts = "".join(f"<li>{escape_line(doubt)}</li>" for doubt in report.doubts)
        yield f'<ul class="doubts">{doubts}</ul>'
    hues = _hues(report, seats)
    yield from (_poll_bar(count, report.options, hues) for count in tally.counts)
    yield _key(report.options, hues)
    if report.moved:
        yield from _moves(report, hues)
    if not figures_only:
        yield f'<p class="account" dir="auto">{escape_line(report.account)}</p>'
    yield "</section>"


def _hues(report: PollReport, seats: tuple[ParticipantView, ...]) -> dict[str, str]:
    colours = {seat.id: seat_style(seat) for seat in seats}
    return {option.id: colours.get(option.seat or "", "--seat: #8d877b") for option in report.options}


def _poll_bar(count: PollTotals, options: tuple[PollOption, ...], hues: dict[str, str]) -> str:
    """A bar of the choices, with undecided between the first and the others."""
    pieces = "".join(
        f'<b style="{hues[option.id]}; width: {share:.1f}%">'
        f"{f'{share:.0f}%' if share >= MIN_LABEL_PERCENT else ''}</b>"
        for option in _spread(options)
        if (share := count.share(option.id))
    )
    apart = [f"{count.late} late"] if count.late else []
    apart += [f"{count.single} only here"] if count.single else []
    more = f" · {', '.join(apart)}" if apart else ""
    head = f"<p><span>{POLLS[count.poll]}</span><span>{plural(count.votes, 'vote')}{more}</span></p>"
    return f'<div class="poll">{head}<div class="bar">{pieces}</div></div>'


def _key(options: tuple[PollOption, ...], hues: dict[str, str]) -> str:
    named = "".join(
        f'<li style="{hues[option.id]}" dir="auto">{escape_line(option.name)}</li>'
        for option in _spread(options)
    )
    return f'<ul class="key">{named}</ul>'


def _spread(options: tuple[PollOption, ...]) -> tuple[PollOption, ...]:
    first, *others = options
    return (first, others[-1], *others[:-1])


def _moves(report: PollReport, hues: dict[str, str]) -> Iterator[str]:
    tally = report.tally
    most = max(cell for row in tally.table for cell in row)
    heads = "".join(
        f'<th scope="col" style="{hues[option.id]}" dir="auto">{escape_line(option.name)}</th>'
        for option in report.options
    )
    yield '<table class="figures moves">'
    yield f"<caption>Who moved from what to what: {tally.pairs:,} who voted twice</caption>"
    yield f'<tr><th scope="col">from ↓ to →</th>{heads}</tr>'
    for index, (option, row) in enumerate(zip(report.options, tally.table, strict=True)):
        cells = "".join(_cell(number, most, unchanged=index == column) for column, number in enumerate(row))
        name = escape_line(option.name)
        yield f'<tr><th scope="row" style="{hues[option.id]}" dir="auto">{name}</th>{cells}</tr>'
    yield _row("Change", [f"{_signed(change.points)}" for change in tally.changes], "sum")
    yield _row("95 of 100 cases", [_interval(change.interval, tally) for change in tally.changes], "fine")
    won_over = [f"{change.won} of {change.persuadable}" for change in tally.changes[:-1]]
    yield _row("Won over", [*won_over, "–"], "fine")
    yield "</table>"


def _cell(number: int, most: int, *, unchanged: bool) -> str:
    shade = -(-SHADES * number // most)
    return f'<td class="{"kept" if unchanged else "moved"} d{shade}">{number or "·"}</td>'


def _row(title: str, cells: list[str], kind: str) -> str:
    return f'<tr class="{kind}"><th scope="row">{title}</th>{"".join(f"<td>{c}</td>" for c in cells)}</tr>'


def _signed(points: float) -> str:
    return f"{points:+g}".replace("-", "−") if points else "0"


def _interval(interval: ConfidenceInterval | None, tally: AudienceTally) -> str:
    if interval is None:
        return "too few" if tally.pairs < MIN_VOTERS else "–"
    return f"{_signed(interval.low)} to {_signed(interval.high)}"
