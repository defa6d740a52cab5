"""Moot: language models debate a motion; people watch, steer and judge.

    async with Arena.open() as arena:
        async for recorded in arena.debate("Cats make better pets than dogs", format="oxford", rounds=2):
            print(recorded.seq, recorded.event)

The names in `__all__` are the public interface (docs/library.md); all other modules may change without
notice. Each name is imported when it is first used, so `import moot` is fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from moot.client import AsyncClient, Client
    from moot.core import events
    from moot.core.events import Event, Recorded
    from moot.core.evolve import fold
    from moot.core.state import Debate
    from moot.engine.arena import Arena
    from moot.rules import commands
    from moot.rules.debate_setup import Setup
    from moot.settings import Settings

__version__ = "0.1.0"
__all__ = [
    "Arena",
    "AsyncClient",
    "Client",
    "Debate",
    "Event",
    "Recorded",
    "Settings",
    "Setup",
    "commands",
    "events",
    "fold",
]

_MODULES = {"commands": "moot.rules.commands", "events": "moot.core.events"}
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
    """Import a public name at its first use."""
    if name in _MODULES:
        return import_module(_MODULES[name])
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'moot' has no attribute {name!r}")
