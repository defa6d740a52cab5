"""Templates and helpers for rendering them: sections of `*.md`, clipping, seeds.

The texts are versioned, and a debate keeps the version that it was opened with. The files beside this one are
the current version; `version_1` holds only the texts that were different then.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

VERSION = 2
"""The version of the texts with which new debates are opened."""
CONCEDE = "[I concede]"
"""The line with which a debater concedes, where the winning condition allows it."""
SIDES = {
    "for": "you argue for the motion",
    "against": "you argue against the motion",
    "neutral": "you are bound to neither side and say what you think is right",
}
FOR_SIDE = {"for": "for the motion", "against": "against the motion", "neutral": "as you see it"}
SPOKE = {**FOR_SIDE, "neutral": "for neither side"}
"""The side of a debater, for others."""


def seed(base: int | None, turn: int, attempt: int) -> int | None:
    """A different seed for each turn and attempt, the same in every run of the same debate."""
    return None if base is None else (base * 1_000_003 + turn * 101 + attempt) % 2**31


def clip(text: str, most_bytes: int) -> str:
    data = text.encode()
    if len(data) <= most_bytes or most_bytes <= 0:
        return text
    return data[:most_bytes].decode(errors="ignore") + " …"


def intensity(level: int) -> str:
    lines = template("intensity").splitlines()
    return next(line.partition(": ")[2] for line in lines if line.startswith(f"{level}:"))


def section(file: str, name: str, version: int = VERSION, /, **values: object) -> str:
    return _sections(file, version)[name].format(**values)


@cache
def template(name: str, version: int = VERSION) -> str:
    """The text of this version; the current text where that version had no other."""
    folder = files("moot.prompts")
    old = folder.joinpath(f"version_{version}").joinpath(f"{name}.md")
    return (old if old.is_file() else folder.joinpath(f"{name}.md")).read_text("utf-8").rstrip("\n")


@cache
def _sections(file: str, version: int) -> dict[str, str]:
    current, old = (
        re.split(r"^## (.+)$", text, flags=re.MULTILINE) for text in (template(file), template(file, version))
    )
    return {
        name.strip(): text.strip()
        for parts in (current, old)
        for name, text in zip(parts[1::2], parts[2::2], strict=True)
    }
