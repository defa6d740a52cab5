"""Templates and the small tools of rendering: sections of `*.md`, fences, clipping, seeds."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from importlib.resources import files

from moot.debate import Debate

CONCEDE = "[I concede]"
"""A line of its own with which a debater gives way, where the winning condition lets it."""
SIDES = {
    "for": "you argue for the motion",
    "against": "you argue against the motion",
    "neutral": "you are bound to neither side and say what you think is right",
}
FOR_SIDE = {"for": "for the motion", "against": "against the motion", "neutral": "as you see it"}


def seed(base: int | None, turn: int, attempt: int) -> int | None:
    """Another seed for each turn and attempt, the same in every run of the same debate."""
    return None if base is None else (base * 1_000_003 + turn * 101 + attempt) % 2**31


def nonce(debate: Debate, reader: str) -> str:
    """A fence that only its reader sees; no speaker can close it from within."""
    digest = hashlib.sha256(f"{debate.id}\0{debate.created_at.isoformat()}\0{reader}".encode()).hexdigest()
    return f"quote-{digest[:10]}"


def fenced(text: str, fence: str) -> str:
    # The brackets keep what stands after from making a new fence.
    return re.sub(re.escape(fence), "[quote]", text, flags=re.IGNORECASE)


def unwrapped(reply: str) -> str:
    """Models like to wrap JSON in a Markdown fence; one wrapping is taken off."""
    match = re.fullmatch(r"\s*```(?:json)?\s*\n(.*?)\n?\s*```\s*", reply, re.DOTALL)
    return match[1] if match else reply


def clip(text: str, most_bytes: int) -> str:
    data = text.encode()
    if len(data) <= most_bytes or most_bytes <= 0:
        return text
    return data[:most_bytes].decode(errors="ignore") + " …"


def intensity(level: int) -> str:
    lines = template("intensity").splitlines()
    return next(line.partition(": ")[2] for line in lines if line.startswith(f"{level}:"))


def section(file: str, name: str, **values: object) -> str:
    return _sections(file)[name].format(**values)


@cache
def template(name: str) -> str:
    return files("moot.prompts").joinpath(f"{name}.md").read_text("utf-8").rstrip("\n")


@cache
def _sections(file: str) -> dict[str, str]:
    parts = re.split(r"^## (.+)$", template(file), flags=re.MULTILINE)
    return {name.strip(): text.strip() for name, text in zip(parts[1::2], parts[2::2], strict=True)}
