"""A verdict as lines of text: who won, the doubts in words, points as bars, each judge as two linked dots."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from moot.cli.render.output import join, pad, seat_colour, shorten, styled
from moot.cli.render.wrapping import clean_text, wrap
from moot.views.outcome import JudgeMargins
from moot.views.text import single_line
from moot.views.verdict_views import VerdictView

NAME_WIDTH = 18
INDENT = "  "


def verdict_lines(result: VerdictView, width: int) -> Iterator[Text]:
    style = f"bold {seat_colour(result.winner.place)}" if result.winner else "bold"
    yield styled(INDENT, (single_line(result.headline), style))
    for doubt in result.doubts:
        yield from paragraph(doubt, width)
    if result.scores:
        yield styled("")
        for score in result.scores:
            yield score_bar(
                score.seat.name, score.score, f"{score.score:7.1f}", width, seat_colour(score.seat.place)
            )
        if result.ballots:
            yield score_bar(
                "agreement", 100 * result.agreement, f"{result.agreement:7.0%}", width, style="dim"
            )
    if result.leanings:
        yield styled("")
        yield from margin_axis(result, width)
    if result.scores:
        yield styled("")
        ballots = f"{result.ballots} ballots, both orders" if result.ballots else ""
        yield styled(INDENT, (shorten(join((result.margin_words, ballots)), width - 2), "dim"))
    if result.reasoning:
        yield styled("")
        yield from paragraph(result.reasoning, width)


def paragraph(words: str, width: int, style: str = "", margin: str = INDENT) -> Iterator[Text]:
    for _, one in wrap(clean_text(words).strip(), width - len(margin)):
        yield styled(margin, (one, style)) if one else styled("")


def score_bar(name: str, share: float, figure: str, width: int, colour: str = "", style: str = "") -> Text:
    """`share` of a hundred."""
    room = _bar_width(width)
    filled = round(room * min(100.0, max(0.0, share)) / 100)
    return styled(
        INDENT,
        (pad(name, NAME_WIDTH) + " ", style),
        ("━" * filled, colour),
        ("─" * (room - filled), "dim"),
        figure,
    )


def _bar_width(width: int) -> int:
    """An odd number of cells, so that an axis has a middle."""
    return max(8, width - NAME_WIDTH - 14) // 2 * 2 + 1


def margin_axis(result: VerdictView, width: int) -> Iterator[Text]:
    """A judge whose two dots stand on either side of the middle leaned another way in each order."""
    room = _bar_width(width)
    margins = [margin for leaning in result.leanings for margin in leaning.margins]
    reach = max(10.0, *(abs(margin) for margin in margins))
    for leaning in result.leanings:
        yield _dots(leaning, room, reach)
    first, second = result.scores[0].seat, result.scores[1].seat
    left, right = shorten(second.name, room // 2 - 4), shorten(first.name, room // 2 - 4)
    middle = "level".center(room - len(left) - len(right))
    margin = " " * (NAME_WIDTH + 1)
    yield styled(
        INDENT, margin, (left, seat_colour(second.place)), (middle, "dim"), (right, seat_colour(first.place))
    )


def _dots(leaning: JudgeMargins, room: int, reach: float) -> Text:
    half = room // 2
    spots = [half + round(half * margin / reach) for margin in leaning.margins]
    low, high = min(spots), max(spots)
    drawn = styled(INDENT, pad(leaning.judge + (", flipped" if leaning.flipped else ""), NAME_WIDTH) + " ")
    for cell in range(room):
        if cell in spots:
            both = low == high
            drawn.append("◉" if both else "●" if cell == spots[0] else "○", style="bold")
        elif low < cell < high:
            drawn.append("┿" if cell == half else "━")
        else:
            drawn.append("┼" if cell == half else "─", style="dim")
    return drawn
