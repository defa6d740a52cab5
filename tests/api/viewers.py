"""Everybody who may look at a debate."""

from __future__ import annotations

from moot.core.state import Debate
from moot.core.visibility import OBSERVER, OWNER, Viewer


def viewers(debate: Debate) -> tuple[Viewer, ...]:
    return OWNER, OBSERVER, Viewer("judge"), *(Viewer("participant", seat.id) for seat in debate.seats)
