"""A single word that is almost a command is a slip of the finger, not a motion."""

from __future__ import annotations

from difflib import get_close_matches

from moot.core.errors import Invalid


def refuse_mistyped_command(motion: str) -> None:
    from moot.cli.app import COMMANDS

    if " " in motion.strip():
        return
    close = get_close_matches(motion.lower(), [name for _, name, _, _ in COMMANDS], n=1, cutoff=0.75)
    if close:
        raise Invalid(f"There is no command {motion!r}. Did you mean `moot {close[0]}`?")
