"""A verdict as lines of text: who won, the doubts in words, points as bars, each judge as two linked dots."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from moot.cli.render.output import hue, join, pad, shorten, text
from moot.cli.render.wrapping import fold, tidy
from moot.views.outcome import Leaning
from moot.views.safe_text import line
from moot.views.verdict_views import Result

NAME = 18
INDENT = "  "


def verdict(result: Result, width: int) -> Iterator[Text]:
    style = f"bold {hue(result.winner.place)}" if result.winner else "bold"
    yield text(INDENT, (line(result.headline), style))
    for doubt in result.doubts:
        yield from paragraph(doubt, width)
    if result.scores:
        yield text("")
        for score in result.scores:
            yield bar(score.seat.name, score.score, f"{score.score:7.1f}", width, hue(score.seat.place))
        if result.ballots:
            yield bar("agreement", 100 * result.agreement, f"{result.agreement:7.0%}", width, style="dim")
    if result.leanings:
        yield text("")
        yield from axis(result, width)
    if result.scores:
        yield text("")
        ballots = f"{result.ballots} ballots, both orders" if result.ballots else ""
        yield text(INDENT, (shorten(join((result.margin_words, ballots)), width - 2), "dim"))
    if result.reasoning:
        yield text("")
        yield from paragraph(result.reasoning, width)


def paragraph(words: str, width: int, style: str = "", margin: str = INDENT) -> Iterator[Text]:
    for _, one in fold(tidy(words).strip(), width - len(margin)):
        yield text(margin, (one, style)) if one else text("")


def bar(name: str, share: float, figure: str, width: int, colour: str = "", style: str = "") -> Text:
    """`share` of a hundred."""
    room = _room(width)
    filled = round(room * min(100.0, max(0.0, share)) / 100)
    return text(
        INDENT, (pad(name, NAME) + " ", style), ("━" * filled, colour), ("─" * (room - filled), "dim"), figure
    )


def _room(width: int) -> int:
    """An odd number of cells, so that an axis has a middle."""
    return max(8, width - NAME - 14) // 2 * 2 + 1


def axis(result: Result, width: int) -> Iterator[Text]:
    """A judge whose two dots stand on either side of the middle leaned another way in each order."""
    room = _room(width)
    margins = [margin for leaning in result.leanings for margin in leaning.margins]
    reach = max(10.0, *(abs(margin) for margin in margins))
    for leaning in result.leanings:
        yield _dots(leaning, room, reach)
    first, second = result.scores[0].seat, result.scores[1].seat
    left, right = shorten(second.name, room // 2 - 4), shorten(first.name, room // 2 - 4)
    middle = "level".center(room - len(left) - len(right))
    margin = " " * (NAME + 1)
    yield text(INDENT, margin, (left, hue(second.place)), (middle, "dim"), (right, hue(first.place)))


def _dots(leaning: Leaning, room: int, reach: float) -> Text:
    half = room // 2
    spots = [half + round(half * margin / reach) for margin in leaning.margins]
    low, high = min(spots), max(spots)
    drawn = text(INDENT, pad(leaning.judge + (", flipped" if leaning.flipped else ""), NAME) + " ")
    for cell in range(room):
        if cell in spots:
            both = low == high
            drawn.append("◉" if both else "●" if cell == spots[0] else "○", style="bold")
        elif low < cell < high:
            drawn.append("┿" if cell == half else "━")
        else:
            drawn.append("┼" if cell == half else "─", style="dim")
    return drawn
