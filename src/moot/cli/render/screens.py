"""What shows a debate: `DebateView` for people, or `EventLines`, one event a line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Protocol

from moot.cli.render.live import DebateView
from moot.cli.render.output import Terminal
from moot.core.events import Recorded, VoteCast, encode
from moot.core.state import Debate
from moot.core.visibility import OWNER, visible_event
from moot.views.text import clean_json

HINT_PLAYING, HINT_WATCHING = "Ctrl-C pauses", "Ctrl-C stops watching"


class Screen(Protocol):
    """One that inherits from this does nothing on the calls that it does not define."""

    def show(self, debate: Debate, recorded: Recorded) -> None: ...

    def catch_up(self, debate: Debate) -> None:
        """Begin in the middle of a debate."""

    def suspend(self, turn: int | None = None) -> None:
        """Draw nothing while a person types, as speech `turn`."""

    def resume(self) -> None:
        """Draw again."""

    def tick(self) -> None:
        """Some time has passed."""

    def flush(self) -> None:
        """No more events follow."""

    def close(self) -> None:
        """Nothing more is shown."""


class EventLines(Screen):
    """The log: one event a line, in JSON. Votes stay secret here too."""

    def show(self, debate: Debate, recorded: Recorded) -> None:
        voted = isinstance(recorded.event, VoteCast)
        visible = visible_event(debate, recorded, OWNER) if voted else recorded
        sys.stdout.write(clean_json(encode(visible or recorded).decode()) + "\n")
        sys.stdout.flush()


def now() -> datetime:
    return datetime.now(UTC)


@contextmanager
def open_screen(
    *,
    json: bool = False,
    plain: bool = False,
    reasoning: bool = True,
    moving: bool = True,
    hint: str = HINT_PLAYING,
    remark: str = "",
    ending: str = "",
    clock: Callable[[], datetime] = now,
) -> Generator[Screen]:
    """`remark` is printed below the heading, `ending` after every command that is suggested."""
    if json:
        yield EventLines()
        return
    terminal = Terminal.out(plain=plain)
    moving = moving and not plain
    view = DebateView(
        terminal, clock, reasoning=reasoning, moving=moving, hint=hint, remark=remark, ending=ending
    )
    with view:
        yield view
