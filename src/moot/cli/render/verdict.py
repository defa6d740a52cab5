"""Verdicts, ballots and votes as lines of text: points as bars, each judge as two linked dots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from moot.cli.render.output import (
    INDENT,
    Terminal,
    cell,
    figures_row,
    join,
    pad,
    paragraph,
    seat_colour,
    shorten,
    styled,
)
from moot.cli.render.wrapping import narrower, wrap
from moot.core.state import Debate
from moot.judging.audience_votes import AudienceTally
from moot.views.outcome import READING_NAMES, JudgeMargins
from moot.views.participants import ParticipantView, participants
from moot.views.poll_results import PollReport
from moot.views.text import plural, single_line
from moot.views.transcript import speech_title
from moot.views.transcript_shapes import JudgeBallot
from moot.views.verdict_views import JudgeOpinion, VerdictView, verdict_views

NAME_WIDTH = 18


def verdict_lines(result: VerdictView, width: int | None) -> Iterator[Text]:
    winner = result.winning_seat
    style = f"bold {seat_colour(winner.place)}" if winner and not result.coin_flip else "bold"
    yield styled(INDENT, (single_line(result.title), style))
    for doubt in result.doubts:
        yield from paragraph(doubt, width)
    if result.scores:
        yield styled("")
        for seat, score in result.scored_seats:
            yield score_bar(seat.shown, score.score, f"{score.score:7.1f}", width, seat_colour(seat.place))
        if result.ballot_count:
            yield score_bar(
                "agreement", 100 * result.agreement, f"{result.agreement:7.0%}", width, style="dim"
            )
    if result.leanings:
        yield styled("")
        yield from margin_axis(result, width)
    if result.scores:
        yield styled("")
        if result.sentence:
            yield from paragraph(result.sentence, width)
        if result.ballot_count:
            ballots = join((plural(result.ballot_count, "ballot"), result.readings))
            yield styled(INDENT, (shorten(ballots, narrower(width, 2)), "dim"))
    if result.reasoning:
        yield styled("")
        yield from paragraph(result.reasoning, width)


def score_bar(
    name: str, share: float, figure: str, width: int | None, colour: str = "", style: str = ""
) -> Text:
    """`share` of a hundred; a pipe gets the figure without the bar."""
    if width is None:
        return styled(INDENT, cell(name, NAME_WIDTH, width), figure.strip())
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


def margin_axis(result: VerdictView, width: int | None) -> Iterator[Text]:
    """A judge whose two dots stand on either side of the middle leaned another way in each reading.

    A pipe gets the margins in words.
    """
    (first, _), (second, _), *_ = result.scored_seats
    if width is None:
        for leaning in result.leanings:
            margins = [_margin_words(margin, first, second) for margin in leaning.margins]
            yield styled(INDENT, "\t".join((_judge_name(leaning), *margins)))
        return
    room = _bar_width(width)
    margins = [margin for leaning in result.leanings for margin in leaning.margins]
    reach = max(10.0, *(abs(margin) for margin in margins))
    for leaning in result.leanings:
        yield _dots(leaning, room, reach)
    left, right = shorten(first.shown, room // 2 - 4), shorten(second.shown, room // 2 - 4)
    middle = "level".center(room - len(left) - len(right))
    margin = " " * (NAME_WIDTH + 1)
    yield styled(
        INDENT, margin, (left, seat_colour(first.place)), (middle, "dim"), (right, seat_colour(second.place))
    )


def _margin_words(margin: float, first: ParticipantView, second: ParticipantView) -> str:
    if not margin:
        return "level"
    return f"{abs(margin):g} for {single_line((first if margin > 0 else second).shown)}"


def _judge_name(leaning: JudgeMargins) -> str:
    return single_line(leaning.judge) + (", flipped" if leaning.flipped else "")


def _dots(leaning: JudgeMargins, room: int, reach: float) -> Text:
    half = room // 2
    spots = [half - round(half * margin / reach) for margin in leaning.places(reach / half)]
    low, high = min(spots), max(spots)
    drawn = styled(INDENT, pad(_judge_name(leaning), NAME_WIDTH) + " ")
    for place in range(room):
        if place in spots:
            both = low == high
            drawn.append("◉" if both else "●" if place == spots[0] else "○", style="bold")
        elif low < place < high:
            drawn.append("┿" if place == half else "━")
        else:
            drawn.append("┼" if place == half else "─", style="dim")
    return drawn


BRIEF_LINES = 2
"""Lines of a reason in sight where several judges have one."""
MARGIN = "    "


def brief_lines(debate: Debate, result: VerdictView, width: int | None) -> Iterator[Text]:
    """Below a verdict: its key speeches and, where several judged, how each of them decided."""
    if result.ranking:
        places = ", ".join(
            f"{rank}. {single_line(seat.shown)}" for rank, seat in enumerate(result.ranked_seats, 1)
        )
        yield from paragraph(places, width)
    if rests := cited_text(debate, result.cites):
        yield from paragraph(rests, width, "dim")
    if len(result.opinions) < 2:
        return
    for opinion in result.opinions:
        yield styled("")
        yield from _decision(opinion, width)
        if opinion.ballots:
            yield from _beginning(single_line(opinion.ballots[0].reasoning), width)


def print_verdicts(debate: Debate, terminal: Terminal) -> None:
    """Print every verdict with every ballot as it was cast."""
    judged = verdict_views(debate)
    if not judged:
        terminal.line("There is no verdict yet." if not debate.final else "There is no verdict.")
    for index, result in enumerate(judged):
        terminal.blank_line()
        terminal.line(("The verdict" if index == 0 else f"Judged again, {index}", "dim"))
        for one in (
            *verdict_lines(result, terminal.width),
            *ballot_lines(debate, result, terminal.width),
        ):
            terminal.print(one)


def ballot_lines(debate: Debate, result: VerdictView, width: int | None) -> Iterator[Text]:
    for opinion in result.opinions:
        yield styled("")
        yield from _decision(opinion, width)
        for ballot in opinion.ballots:
            yield from _ballot_lines(debate, result, opinion, ballot, width)


def cited_text(debate: Debate, cites: Sequence[int]) -> str:
    turns = [turn for number in cites if (turn := debate.turn(number)) is not None]
    named = [
        f"{single_line(participants(debate)[turn.seat].shown)}, {single_line(speech_title(debate, turn))}"
        f" (speech {turn.number})"
        for turn in turns
    ]
    return f"Key speeches: {'; '.join(named)}." if named else ""


def _decision(opinion: JudgeOpinion, width: int | None) -> Iterator[Text]:
    spoiled = opinion.problem or (f"{opinion.spoiled} unreadable" if opinion.spoiled else "")
    yield styled(
        "  ", (single_line(opinion.judge.name), "bold"), (f"  {single_line(opinion.judge.who)}", "dim")
    )
    yield from paragraph(join((opinion.decision, spoiled)), width, margin=MARGIN)


def _beginning(reason: str, width: int | None) -> Iterator[Text]:
    lines = [words for _, words in wrap(reason, narrower(width, len(MARGIN) + 2))]
    cut = " …" if len(lines) > BRIEF_LINES else ""
    for number, words in enumerate(lines[:BRIEF_LINES], 1):
        yield styled(MARGIN, (words + (cut if number == BRIEF_LINES else ""), "dim"))


def _ballot_lines(
    debate: Debate, result: VerdictView, opinion: JudgeOpinion, ballot: JudgeBallot, width: int | None
) -> Iterator[Text]:
    names = {id: single_line(seat.shown) for id, seat in result.seats.items()}
    winner, reading = names.get(ballot.winner, "a tie"), READING_NAMES[ballot.order]
    points = ", ".join(f"{names[seat]} {score.score:g}" for seat, score in ballot.scores.items())
    if facts := points if opinion.judge.person else join((winner, points, reading)):
        yield styled(MARGIN, (facts, "dim"))
    yield from paragraph(ballot.reasoning, width, margin=MARGIN)
    for name, row in (ballot.rubric or {}).items():
        points = ", ".join(f"{names[seat]} {value:g}" for seat, value in row.items())
        times = opinion.weights.get(name, 1.0)
        weight = f", counts {times:g} times" if times != 1 else ""
        yield from paragraph(f"{single_line(name)}: {points}{weight}", width, "dim", margin=MARGIN)
    if rests := cited_text(debate, ballot.cites):
        yield from paragraph(rests, width, "dim", margin=MARGIN)


CHOICE_WIDTH = 20
FIGURE_WIDTH = 9


def poll_lines(results: PollReport, width: int | None) -> Iterator[Text]:
    if results.headline:
        yield styled("  ", (results.headline, "bold"))
    yield from poll_rows(results, width)
    for words in (results.account, *results.doubts):
        yield from paragraph(words, width)


def poll_rows(results: PollReport, width: int | None) -> Iterator[Text]:
    """A row for each choice; while the result is hidden, only how many have voted."""
    tally = results.tally
    if tally.sealed:
        for count in tally.counts:
            state = "open" if count.open else "closed"
            votes = f"{count.votes} {'vote' if count.votes == 1 else 'votes'}"
            yield styled(
                "  ", cell(f"{count.poll} the debate", CHOICE_WIDTH, width), f"{votes}, ", (state, "dim")
            )
        return
    polls = [count.poll for count in tally.counts]
    changed = ["change"] if tally.pairs else []
    rooms = (CHOICE_WIDTH, FIGURE_WIDTH)
    yield styled("  ", (figures_row("", (*polls, *changed), rooms, width), "dim"))
    for option in results.options:
        votes = [str(count.by_choice.get(option.id, 0)) for count in tally.counts]
        yield styled("  ", figures_row(option.name, (*votes, *_change(tally, option.id)), rooms, width))


def _change(tally: AudienceTally, choice: str) -> Iterator[str]:
    points = next((change.points for change in tally.changes if change.choice == choice), None)
    if points is not None and tally.pairs:
        yield f"{points:+.1f}".replace("-", "−")
