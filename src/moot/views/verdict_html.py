"""A verdict on an HTML page: who won, what weakens it, and each judge with the speeches it rests on."""

from __future__ import annotations

from collections.abc import Iterator

from moot.views.html_escape import hue, one, text
from moot.views.outcome import Leaning
from moot.views.participants import Participant
from moot.views.transcript import Transcript
from moot.views.verdict_views import Opinion, Paper, Result, SeatScore


def verdict(page: Transcript, result: Result) -> Iterator[str]:
    yield '<section class="verdict">'
    yield f'<h3 dir="auto">{one(result.headline)}</h3>'
    if result.doubts:
        yield f'<ul class="doubts">{"".join(f"<li>{one(doubt)}</li>" for doubt in result.doubts)}</ul>'
    if result.ranking:
        places = "".join(
            f'<li style="{hue(seat)}" dir="auto">{one(seat.name)}</li>' for seat in result.ranking
        )
        yield f'<ol class="ranking">{places}</ol>'
    for score in result.scores:
        yield _bar(score)
    if result.leanings and len(result.scores) >= 2:
        yield _axis(result.leanings, result.scores[0].seat, result.scores[1].seat)
    facts = " · ".join(_facts(result))
    if facts:
        yield f'<p class="facts">{facts}</p>'
    if result.reasoning and len(result.opinions) <= 1:
        yield f'<div class="said" dir="auto">{text(result.reasoning)}</div>'
    yield from _opinions(page, result)
    yield from _marks(result)
    yield from _rubric(result)
    yield "</section>"


def _facts(result: Result) -> Iterator[str]:
    if result.scores:
        yield one(result.margin_words)
        yield f"agreement {result.agreement:.0%}"
    if result.ballots:
        yield "1 ballot" if result.ballots == 1 else f"{result.ballots} ballots"
    if result.last_word:
        yield f"last word: {one(result.last_word.name)}"


def _bar(score: SeatScore) -> str:
    share = min(100.0, max(0.0, score.score))
    bar = f'<i><b style="width: {share:.1f}%"></b></i>'
    name = f'<span dir="auto">{one(score.seat.name)}</span>'
    return f'<div class="score" style="{hue(score.seat)}">{name}{bar}<em>{score.score:g}</em></div>'


def _axis(leanings: tuple[Leaning, ...], first: Participant, second: Participant) -> str:
    """Each judge is two linked dots, one per order; on either side of the middle they name another winner."""
    reach = max(10.0, *(abs(margin) for leaning in leanings for margin in leaning.margins))
    height = 30 + 36 * len(leanings)
    drawn = [
        f'<line class="zero" x1="300" y1="4" x2="300" y2="{height - 22}"/>',
        f'<line class="rule" x1="0" y1="{height - 22}" x2="600" y2="{height - 22}"/>',
        f'<text x="0" y="{height - 5}">{one(second.name[:40])}</text>',
        f'<text x="300" y="{height - 5}" text-anchor="middle">level</text>',
        f'<text x="600" y="{height - 5}" text-anchor="end">{one(first.name[:40])}</text>',
    ]
    for place, leaning in enumerate(leanings):
        y = 26 + 36 * place
        spots = [300 + 280 * margin / reach for margin in leaning.margins]
        name = one(leaning.judge) + (" · changed its mind" if leaning.flipped else "")
        drawn.append(f'<text x="0" y="{y - 14}">{name}</text>')
        drawn.append(f'<line class="link" x1="{min(spots):.1f}" y1="{y}" x2="{max(spots):.1f}" y2="{y}"/>')
        for order, spot in enumerate(spots):
            kind = "first" if order == 0 else "second"
            drawn.append(f'<circle class="{kind}" cx="{spot:.1f}" cy="{y}" r="5"/>')
    label = "The margin of each judge in both orders"
    return (
        f'<svg class="axis" viewBox="0 0 600 {height}" role="img" aria-label="{label}">{"".join(drawn)}</svg>'
    )


def _opinions(page: Transcript, result: Result) -> Iterator[str]:
    """With several judges a card for each; of one judge the verdict has told the reasons already."""
    if len(result.opinions) == 1:
        yield _rests_on(page, result.cites)
        yield from (_again(page, paper) for paper in result.opinions[0].papers[1:])
        return
    for opinion in result.opinions:
        yield from _card(page, opinion)


def _card(page: Transcript, opinion: Opinion) -> Iterator[str]:
    seat = opinion.papers[0].winner if opinion.papers and not opinion.flipped else None
    style = f' style="{hue(seat)}"' if seat else ""
    yield f'<div class="ballot"{style}>'
    yield f'<h4 dir="auto">{one(opinion.judge.name)} <span>{one(opinion.judge.who)}</span></h4>'
    yield f'<p class="decision" dir="auto">{one(opinion.decision)}</p>'
    for paper in opinion.papers[:1]:
        yield f'<div class="said" dir="auto">{text(paper.reasoning)}</div>'
        yield _rests_on(page, paper.cites)
    yield from (_again(page, paper) for paper in opinion.papers[1:])
    yield "</div>"


def _again(page: Transcript, paper: Paper) -> str:
    """What the same judge said when it was shown the seats the other way round."""
    winner = one(paper.winner.name) if paper.winner else "a tie"
    reason = f'<div class="other" dir="auto">{text(paper.reasoning)}</div>'
    cites = _rests_on(page, paper.cites)
    return f"<details><summary>In the other order: {winner}</summary>{reason}{cites}</details>"


def _rests_on(page: Transcript, cites: tuple[int, ...]) -> str:
    speeches = [speech for turn in cites if (speech := page.speech(turn))]
    if not speeches:
        return ""
    links = "".join(
        f'<li style="{hue(speech.speaker)}"><a href="#s{speech.turn}">S{speech.turn} '
        f"<bdi>{one(speech.speaker.name)}</bdi>, {one(speech.title)}</a></li>"
        for speech in speeches
    )
    return f'<ul class="cites"><li>Rests on</li>{links}</ul>'


def _marks(result: Result) -> Iterator[str]:
    if not any(score.strengths or score.weaknesses for score in result.scores) and not result.criteria:
        return
    yield '<div class="marks">'
    for score in result.scores:
        plus = "".join(f'<li class="plus">{one(remark)}</li>' for remark in score.strengths)
        minus = "".join(f'<li class="minus">{one(remark)}</li>' for remark in score.weaknesses)
        yield f'<div><h4 dir="auto">{one(score.seat.name)}</h4><ul>{plus}{minus}</ul></div>'
    if result.criteria:
        rows = "".join(f"<li>{one(name)}: {one(remark)}</li>" for name, remark in result.criteria.items())
        yield f'<div class="wide"><h4>Criteria</h4><ul>{rows}</ul></div>'
    yield "</div>"


def _rubric(result: Result) -> Iterator[str]:
    rubric = result.rubric
    if not rubric:
        return
    yield "<details><summary>Rubric: a diagnosis beside the decision</summary>"
    heads = "".join(f'<th scope="col" dir="auto">{one(seat.name)}</th>' for seat, _ in rubric[0].points)
    yield f'<table class="figures"><tr><th scope="col">Criterion</th>{heads}</tr>'
    for row in rubric:
        points = "".join(f"<td>{value:g}</td>" for _, value in row.points)
        weight = f" <span>× {row.weight:g}</span>" if row.weight != 1 else ""
        yield f'<tr><th scope="row" dir="auto">{one(row.name)}{weight}</th>{points}</tr>'
    if result.totals:
        totals = "".join(f"<td>{total:g}</td>" for _, total in result.totals)
        yield f'<tr><th scope="row">As weighted</th>{totals}</tr>'
    yield "</table></details>"
