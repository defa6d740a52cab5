"""Lengths of time for people."""

from __future__ import annotations


def duration_words(seconds: float) -> str:
    """2 minutes, 15 seconds."""
    whole = max(0, round(seconds))
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    parts = [(hours, "hour"), (minutes, "minute"), (left, "second")]
    said = [f"{n} {unit}{'' if n == 1 else 's'}" for n, unit in parts if n]
    return ", ".join(said[:2]) or "less than a second"


def clock(seconds: float) -> str:
    """2:15, or 1:02:15."""
    minutes, left = divmod(max(0, int(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


def ago(seconds: float) -> str:
    """3 min ago."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit} ago"
    return "just now"
