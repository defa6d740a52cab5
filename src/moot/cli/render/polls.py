"""What the audience came to, as lines of text: the result, a row for each choice, and how sure it is."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from moot.cli.render import verdict
from moot.cli.render.output import pad, styled
from moot.judging.audience_votes import AudienceTally
from moot.views.poll_results import PollReport

NAME_WIDTH = 20
FIGURE_WIDTH = 9


def poll_lines(results: PollReport, width: int) -> Iterator[Text]:
    if results.headline:
        yield styled("  ", (results.headline, "bold"))
    yield from poll_rows(results)
    for words in (results.account, *results.doubts):
        yield from verdict.paragraph(words, width)


def poll_rows(results: PollReport) -> Iterator[Text]:
    """Where nothing is to be told yet, only how many have voted."""
    tally = results.tally
    if tally.sealed:
        for count in tally.counts:
            state = "open" if count.open else "closed"
            votes = f"{count.votes} {'vote' if count.votes == 1 else 'votes'}"
            yield styled("  ", pad(f"{count.poll} the debate", NAME_WIDTH), f"{votes}, ", (state, "dim"))
        return
    polls = [count.poll for count in tally.counts]
    changed = ["change"] if tally.pairs else []
    yield styled(
        "  ", (pad("", NAME_WIDTH) + "".join(f"{name:>{FIGURE_WIDTH}}" for name in (*polls, *changed)), "dim")
    )
    for option in results.options:
        votes = [count.by_choice.get(option.id, 0) for count in tally.counts]
        figures = [f"{number:>{FIGURE_WIDTH}}" for number in votes]
        yield styled("  ", pad(option.name, NAME_WIDTH), *figures, _change(tally, option.id))


def _change(tally: AudienceTally, choice: str) -> str:
    points = next((change.points for change in tally.changes if change.choice == choice), None)
    return "" if points is None or not tally.pairs else f"{points:+.1f}".replace("-", "−").rjust(FIGURE_WIDTH)
