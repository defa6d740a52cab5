"""A speech on its way to the page: what the speaker thinks, what it says, and the figures when it is over."""

from __future__ import annotations

from moot.cli.render.output import join
from moot.cli.render.wrapping import Flow
from moot.core.state import Turn
from moot.core.word_count import count
from moot.views.costs import dollars
from moot.views.transcript import by_hand

MOMENT_MS = 100


class Voice:
    def __init__(self, turn: Turn, width: int) -> None:
        self.turn = turn
        self.width = width
        self.begin_again()

    def begin_again(self) -> None:
        self.thought, self.said = Flow(self.width, label="Thinks: "), Flow(self.width)
        self.thought_done = False


def facts(turn: Turn) -> str:
    about = "about " if turn.usage.estimated else ""
    words = turn.words or count(turn.text)
    return join(
        (
            f"{words} word{'' if words == 1 else 's'}" + (" by hand" if by_hand(turn) else ""),
            f"{about}{turn.usage.output:,} tokens" if turn.usage.output else "",
            f"{turn.latency_ms / 1000:.1f} s" if turn.latency_ms >= MOMENT_MS else "",
            "" if turn.cost is None or not turn.cost else dollars(turn.cost),
        )
    )
