"""A speech on its way to the page: what the speaker thinks, what it says, and the figures when it is over."""

from __future__ import annotations

from moot.cli.render.output import join
from moot.cli.render.wrapping import LineFlow
from moot.core.state import Turn
from moot.core.word_count import count_words
from moot.views.costs import dollars
from moot.views.transcript import by_hand

MOMENT_MS = 100


class SpeechLines:
    def __init__(self, turn: Turn, width: int) -> None:
        self.turn = turn
        self.width = width
        self.restart()

    def restart(self) -> None:
        self.reasoning, self.text = LineFlow(self.width, label="Thinks: "), LineFlow(self.width)
        self.reasoning_done = False


def speech_figures(turn: Turn) -> str:
    about = "about " if turn.usage.estimated else ""
    words = turn.words or count_words(turn.text)
    return join(
        (
            f"{words} word{'' if words == 1 else 's'}" + (" by hand" if by_hand(turn) else ""),
            f"{about}{turn.usage.output:,} tokens" if turn.usage.output else "",
            f"{turn.latency_ms / 1000:.1f} s" if turn.latency_ms >= MOMENT_MS else "",
            "" if turn.cost is None or not turn.cost else dollars(turn.cost),
        )
    )
