"""Takes out of a text what only a machine would see: everything a model or a user wrote passes here.

A terminal obeys control characters, and a reader is fooled by letters that turn their neighbours round.
Characters are dropped one by one, so that it makes no difference where a stream is cut.
"""

from __future__ import annotations

import re

_CONTROLS = (*range(0x20), *range(0x7F, 0xA0))
_TURNING = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_KEPT = {"\n": "\n", "\t": "\t", "\v": "\n", "\f": "\n", "\u2028": "\n", "\u2029": "\n"}
_TABLE: dict[int, str | None] = {
    **dict.fromkeys((*_CONTROLS, *_TURNING)),
    **{ord(char): kept for char, kept in _KEPT.items()},
    **dict.fromkeys(range(0xD800, 0xE000), "\ufffd"),
}
_JSON_UNSAFE = re.compile("[\x7f-\x9f\u202a-\u202e\u2028\u2029\u2066-\u2069]")


def clean(text: str) -> str:
    """The text with its line breaks and tabs, and without any other control character."""
    return text.translate(_TABLE)


def single_line(text: str) -> str:
    """The same on a single line, with single spaces."""
    return " ".join(clean(text).split())


def clean_json(text: str) -> str:
    """The same JSON, with the control characters that JSON may leave bare written as escapes."""
    return _JSON_UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
