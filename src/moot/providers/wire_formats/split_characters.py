"""Characters that a service cuts in two between deltas, joined before anyone sees them.

Half a character is no text: an escaped half of a surrogate pair, or some of the bytes of UTF-8. While a reply
is decoded, each half is a character of a private area (`mark_halves`). `CharacterJoiner` holds one at the end
of a delta back until the next delta, and makes a whole character of both. A half that stays alone becomes
U+FFFD. Only replies in which there was a half pass through it.
"""

from __future__ import annotations

import codecs
import re

from moot.providers.chunk_text import REPLACEMENT, map_text
from moot.providers.contract import Chunk, KeepAlive, ReplyDelta

FIRST_HALF = 0xF0000
FIRST_BYTE = FIRST_HALF + 0x800
"""Where the marks of halves of a surrogate pair begin, and those of single bytes."""
ESCAPES = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.",
    re.DOTALL,
)
"""Escapes of a character in two halves, of half a character, and of anything else."""
_HIGH = f"[{chr(FIRST_HALF)}-{chr(FIRST_HALF + 0x3FF)}]"
_LOW = f"[{chr(FIRST_HALF + 0x400)}-{chr(FIRST_HALF + 0x7FF)}]"
_BYTE = f"[{chr(FIRST_BYTE)}-{chr(FIRST_BYTE + 0xFF)}]"
MARKS = re.compile(f"{_HIGH}{_LOW}|{_HIGH}|{_LOW}|{_BYTE}+")
OPEN_END = re.compile(f"(?:{_HIGH}|{_BYTE}{{1,3}})$")


def _mark_bytes(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return "".join(chr(FIRST_BYTE + byte) for byte in error.object[error.start : error.end]), error.end


codecs.register_error("moot.mark_bytes", _mark_bytes)


def mark_halves(data: bytes) -> bytes:
    """JSON with a mark in place of each half of a character; the same bytes where there is none."""
    return ESCAPES.sub(_mark_escape, data.decode(errors="moot.mark_bytes").encode())


def _mark_escape(escape: re.Match[bytes]) -> bytes:
    half = escape["half"]
    return chr(FIRST_HALF + int(half[2:], 16) - 0xD800).encode() if half else escape[0]


class CharacterJoiner:
    """Joins the halves in one reply."""

    def __init__(self) -> None:
        self.broken = False
        """A half was left alone."""
        self._held: ReplyDelta | None = None

    def join(self, chunks: list[Chunk]) -> list[Chunk]:
        out: list[Chunk] = []
        for chunk in chunks:
            if isinstance(chunk, ReplyDelta):
                self._join_delta(chunk, out)
            elif isinstance(chunk, KeepAlive):
                out.append(chunk)
            else:
                out += (*self.flush(), map_text(chunk, self.whole))
        return out

    def flush(self) -> list[Chunk]:
        held, self._held = self._held, None
        return [ReplyDelta(self.whole(held.text), held.kind, held.segment, held.part)] if held else []

    def whole(self, text: str) -> str:
        """The text with whole characters only."""
        return MARKS.sub(self._character, text)

    def _join_delta(self, delta: ReplyDelta, out: list[Chunk]) -> None:
        text, part = delta.text, delta.part
        if (held := self._held) is not None:
            if (held.segment, held.kind) == (delta.segment, delta.kind) and part is None:
                self._held, text, part = None, held.text + text, held.part
            else:
                out += self.flush()
        cut = match.start() if (match := OPEN_END.search(text)) and _may_go_on(match[0]) else len(text)
        if cut < len(text):
            self._held = ReplyDelta(text[cut:], delta.kind, delta.segment, None if cut else part)
        if cut:
            out.append(ReplyDelta(self.whole(text[:cut]), delta.kind, delta.segment, part))

    def _character(self, marks: re.Match[str]) -> str:
        codes = [ord(mark) for mark in marks[0]]
        if codes[0] >= FIRST_BYTE:
            character = bytes(code - FIRST_BYTE for code in codes).decode(errors="replace")
        elif len(codes) == 2:
            character = chr(0x10000 + ((codes[0] - FIRST_HALF) << 10) + codes[1] - FIRST_HALF - 0x400)
        else:
            character = REPLACEMENT
        self.broken = self.broken or REPLACEMENT in character
        return character


def _may_go_on(marks: str) -> bool:
    """Whether more may follow: a first half, or bytes that begin a character and do not end it."""
    if ord(marks[0]) < FIRST_BYTE:
        return True
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        return not decoder.decode(bytes(ord(mark) - FIRST_BYTE for mark in marks))
    except UnicodeDecodeError:
        return False
