"""A debate as it was asked for on the command line, and how it is to be shown: here as on a server."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from moot.core.terms import HUMAN, Effort, OpeningSide, Verbosity, WinningRule

DEFAULT_FORMAT, DEFAULT_ROUNDS = "oxford", 3
"""Short enough for a small model on a laptop, long enough to be a debate."""
NO_JUDGE = "none"
DEFAULT_SECONDS, DEFAULT_PERSON_SECONDS = 120.0, 300.0


T = TypeVar("T")


class DebateCliOptions(Struct, frozen=True, kw_only=True):
    """Pairs are for the first seat and the second."""

    motion: str
    format: str | None = None
    models: tuple[str | None, str | None] = (None, None)
    model: str | None = None
    judges: tuple[str, ...] = ()
    stand_in: str | None = None
    personas: tuple[str, str] = ("", "")
    objectives: tuple[str, str] = ("", "")
    effort: Effort | None = None
    efforts: tuple[Effort | None, Effort | None] = (None, None)
    verbosity: Verbosity | None = None
    verbosities: tuple[Verbosity | None, Verbosity | None] = (None, None)
    rounds: int | None = None
    turns: int | None = None
    intensity: int = 3
    seed: int | None = None
    manual: bool = False
    winning: WinningRule | None = None
    """Whoever names a judge wants to be judged, whatever an audience thinks of it."""
    objective: str = ""
    prep: bool = False
    blind: bool = False
    opens: OpeningSide | None = None
    audience: float | None = None
    tools: tuple[str, ...] = ()
    cost_limit: str | None = None
    warn_at: str | None = None
    timeout: float = DEFAULT_SECONDS
    person_seconds: float = DEFAULT_PERSON_SECONDS

    @property
    def speaker(self) -> str | None:
        """The first model that is named; a person is asked for nothing but their own seat."""
        return next((name for name in (self.model, *self.models) if name and name != HUMAN), None)

    def models_for(self, chairs: int) -> list[str | None]:
        """Who sits in so many chairs; None takes the default."""
        sides = [name or self.model for name in self.models]
        return [*sides, *[self.speaker] * (chairs - len(sides))]


def seat_option(pair: tuple[T, T], index: int, otherwise: T) -> T:
    """What was said of the seat at this place; of a format's further chairs nothing was."""
    return pair[index] if index < len(pair) else otherwise


class DisplayOptions(Struct, frozen=True, kw_only=True):
    output: Path | None = None
    json: bool = False
    plain: bool = False
    reasoning: bool = True
