"""Text that is safe to show, and durations in words. Everything a model or a user wrote passes here.

A terminal obeys control characters, and bidirectional overrides make a reader see other words than were
written. Characters are dropped one by one, so it makes no difference where a stream is cut.
"""

from __future__ import annotations

import re

_CONTROLS = (*range(0x20), *range(0x7F, 0xA0))
_BIDIRECTIONAL = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_LINE_BREAKS = {"\n": "\n", "\t": "\t", "\v": "\n", "\f": "\n", "\u2028": "\n", "\u2029": "\n"}
_TABLE: dict[int, str | None] = {
    **dict.fromkeys((*_CONTROLS, *_BIDIRECTIONAL)),
    **{ord(char): replacement for char, replacement in _LINE_BREAKS.items()},
    **dict.fromkeys(range(0xD800, 0xE000), "\ufffd"),
}
_JSON_UNSAFE = re.compile("[\x7f-\x9f\u202a-\u202e\u2028\u2029\u2066-\u2069]")


def clean(text: str) -> str:
    """Return the text with its line breaks and tabs, and without any other control character."""
    return text.translate(_TABLE)


def single_line(text: str) -> str:
    """Return the cleaned text on one line, with single spaces."""
    return " ".join(clean(text).split())


def clean_json(text: str) -> str:
    """Return the same JSON, with the control characters that JSON allows unescaped written as escapes."""
    return _JSON_UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def escape_text(text: str) -> str:
    """Return cleaned text for an HTML page."""
    # Loaded here, because every command of the terminal loads this module and few write HTML.
    from html import escape

    return escape(clean(text))


def escape_line(text: str) -> str:
    """Return text for an HTML page, on one line."""
    return escape_text(single_line(text))


def plural(number: int, noun: str, ending: str = "s") -> str:
    """1 vote, 1,200 votes."""
    return f"{number:,} {noun}{'' if number == 1 else ending}"


def duration_words(seconds: float) -> str:
    """2 minutes, 15 seconds."""
    hours, remainder = divmod(max(0, round(seconds)), 3600)
    minutes, seconds_left = divmod(remainder, 60)
    units = [(hours, "hour"), (minutes, "minute"), (seconds_left, "second")]
    parts = [plural(number, unit) for number, unit in units if number]
    return ", ".join(parts[:2]) or "less than a second"


def clock(seconds: float) -> str:
    """2:15, or 1:02:15."""
    minutes, seconds_left = divmod(max(0, int(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds_left:02}" if hours else f"{minutes}:{seconds_left:02}"


def ago(seconds: float) -> str:
    """3 min ago."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit} ago"
    return "just now"
