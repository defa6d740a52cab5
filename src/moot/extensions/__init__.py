"""The extensions that come with Moot. Each owns everything of one feature, and none imports another.

`NAMES` is the list of them. Each module has `EXTENSION`, a value of `moot.extension.Extension`. The core does
not know them: it reads what they bring through `moot.extension.loaded()`.
"""

from __future__ import annotations

NAMES: tuple[str, ...] = (
    "conversations",
    "quick_api",
    "arena_api",
    "turn_sessions",
    "beliefs",
    "experiments",
    "mcp",
)
