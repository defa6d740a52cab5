"""Moot: language models argue a motion; people watch, steer and judge.

    async with Arena.open() as arena:
        async for recorded in arena.debate("Cats make better pets than dogs", format="oxford", rounds=2):
            print(recorded.seq, recorded.event)

What stands in `__all__` is for programs that use Moot as a library; everything else may change. The names are
loaded when they are first used, so that `import moot` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from moot.client import AsyncClient, Client
    from moot.core.events import Event, Recorded
    from moot.core.evolve import fold
    from moot.core.state import Debate
    from moot.engine.arena import Arena
    from moot.rules.debate_setup import Setup
    from moot.settings import Settings

__version__ = "0.1.0"
__all__ = ["Arena", "AsyncClient", "Client", "Debate", "Event", "Recorded", "Settings", "Setup", "fold"]

_HOMES = {
    "Arena": "moot.engine.arena",
    "AsyncClient": "moot.client",
    "Client": "moot.client",
    "Debate": "moot.core.state",
    "Event": "moot.core.events",
    "Recorded": "moot.core.events",
    "Settings": "moot.settings",
    "Setup": "moot.rules.debate_setup",
    "fold": "moot.core.evolve",
}


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'moot' has no attribute {name!r}")
