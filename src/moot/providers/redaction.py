"""Removes keys from texts: our own key from the replies of its service, any key from what people write.

`KeyRedactor` replaces the key that we sent to a service wherever its reply repeats it. A key may come in
pieces, so text at the end of a delta that could be its beginning is held back until the next one. `redact`
and `redact_error` recognise keys by their shape.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from moot.core.terms import PartStart
from moot.providers.chunk_text import map_text
from moot.providers.contract import Chunk, KeepAlive, ReplyDelta
from moot.providers.keys import MASK as MASK

MIN_KEY_LENGTH = 10
"""Shorter keys are made up for services that need none, and may be ordinary words."""
MIN_PARTIAL_KEY = 12
"""This many characters of the key at the end of a text are no coincidence."""


class KeyRedactor:
    """Removes one key from one reply."""

    def __init__(self, key: str) -> None:
        self._key = key if len(key) >= MIN_KEY_LENGTH else ""
        self._head = key[:3]
        self._ends = (key[:2], key[:1])
        self._held: ReplyDelta | None = None

    def redact(self, chunks: list[Chunk]) -> list[Chunk]:
        """The chunks without the key; the very same list if nothing is suspicious, as nearly always."""
        if not self._key:
            return chunks
        if self._held is None:
            head, ends = self._head, self._ends
            for chunk in chunks:
                if (
                    type(chunk) is not ReplyDelta
                    or chunk.part is not None
                    or head in chunk.text
                    or chunk.text.endswith(ends)
                ):
                    break
            else:
                return chunks
        return self._redact_chunks(chunks)

    def flush(self) -> list[Chunk]:
        """The text that was held back, for replies that fail: others end with a chunk that releases it."""
        held, self._held = self._held, None
        return [ReplyDelta(self._redact_text(held.text), held.kind, held.segment, held.part)] if held else []

    def _redact_chunks(self, chunks: list[Chunk]) -> list[Chunk]:
        out: list[Chunk] = []
        for chunk in chunks:
            if isinstance(chunk, ReplyDelta):
                self._redact_delta(chunk, out)
            elif isinstance(chunk, KeepAlive):
                out.append(chunk)
            else:
                out += (*self.flush(), map_text(chunk, self._redact_text))
        # Text that is held back is a sign of life nevertheless.
        return out or [KeepAlive()]

    def _redact_delta(self, delta: ReplyDelta, out: list[Chunk]) -> None:
        held, text, part = self._held, delta.text, self._redact_part(delta.part)
        if held is not None:
            if held.segment == delta.segment and held.kind == delta.kind and part is None:
                self._held, text, part = None, held.text + text, held.part
            else:
                out += self.flush()
        if self._head not in text and not text.endswith(self._ends):
            out.append(ReplyDelta(text, delta.kind, delta.segment, part))
            return
        text = text.replace(self._key, MASK)
        cut = self._key_start(text)
        if cut < len(text):
            self._held = ReplyDelta(text[cut:], delta.kind, delta.segment, None if cut else part)
        if cut:
            out.append(ReplyDelta(text[:cut], delta.kind, delta.segment, part))

    def _redact_part(self, part: PartStart | None) -> PartStart | None:
        """The id of an item is the service's own word, like all others."""
        if part is None or self._redact_text(part.item_id) == part.item_id:
            return part
        return replace(part, item_id=self._redact_text(part.item_id))

    def _key_start(self, text: str) -> int:
        """Where text begins, at the end, that could be the beginning of the key."""
        key = self._key
        at = text.find(key[0], max(0, len(text) - len(key) + 1))
        while at >= 0 and not key.startswith(text[at:]):
            at = text.find(key[0], at + 1)
        return at if at >= 0 else len(text)

    def _redact_text(self, text: str) -> str:
        text = text.replace(self._key, MASK)
        cut = self._key_start(text)
        return text[:cut] + MASK if len(text) - cut >= MIN_PARTIAL_KEY else text


# Lookaheads are bounded, so that no text takes long. A long word without a digit after "sk-" or "Bearer" is
# no key.
KEY_SHAPES = re.compile(
    r"""
    (?<![A-Za-z0-9]) (?:
        sk- (?=[A-Za-z0-9_-]{0,200}[0-9]) [A-Za-z0-9_-]{16,}        # OpenAI, Anthropic, OpenRouter, DeepSeek
        | xai- (?=[A-Za-z]{0,200}[0-9]) [A-Za-z0-9]{20,}
        | (?:gsk|hf|gh[pousr]|npm|r8) _ [A-Za-z0-9]{20,}            # Groq, Hugging Face, GitHub, Replicate
        | github_pat_ [A-Za-z0-9_]{20,}
        | glpat- [A-Za-z0-9_-]{20,}
        | moot_ [A-Za-z0-9_-]{40,}                                  # our own tokens
        | (?:sk|pk|rk) _ (?:live|test) _ [A-Za-z0-9]{16,}
        | xox[abprs]- [A-Za-z0-9-]{10,}
        | (?:AKIA|ASIA) [A-Z0-9]{16} (?![A-Za-z0-9])
        | AIza [A-Za-z0-9_-]{30,}
        | eyJ [A-Za-z0-9_-]{10,} \. eyJ [A-Za-z0-9_-]{10,} \. [A-Za-z0-9_-]{10,}
    )
    | (?P<word> \b [Bb][Ee][Aa][Rr][Ee][Rr] \s{1,8} ) (?=[A-Za-z._~+/=-]{0,200}[0-9]) [A-Za-z0-9._~+/=-]{20,}
    | -----BEGIN[ ] [A-Z0-9 ]{0,30} PRIVATE[ ]KEY-----
      .*? (?: -----END[ ] [A-Z0-9 ]{0,30} PRIVATE[ ]KEY----- | \Z )
    """,
    re.VERBOSE | re.DOTALL,
)
ERROR_KEY_SHAPES = re.compile(r"\b(?:sk|gsk|pk|rk|xai|key)-?_?[A-Za-z0-9_\-]{12,}|\bAIza[A-Za-z0-9_\-]{10,}")
"""Less strict: an error of a service often repeats a wrong key, and mistakes do no harm there."""

PATHS = re.compile(r"(?<![\w.:/\\])(?:/(?:[^\s/'\"`]+/)+|[A-Za-z]:\\(?:[^\s\\'\"`]+\\)*)")
"""The folders before a file name; a web address has a colon before its slashes."""


def without_folders(text: str) -> str:
    """The text with file names alone: the folders of a server are not shown."""
    return PATHS.sub("", text)


def shown_remedy(fix: str, instead: str = "`moot doctor` says what to do.") -> str:
    """The remedy as viewers may read it. A command with folders would not work without them."""
    return fix if without_folders(fix) == fix else instead


def redact(text: str) -> str:
    """The text without anything that has the shape of a key."""
    return KEY_SHAPES.sub(lambda match: (match["word"] or "") + MASK, text)


def redact_error(text: str, key: str) -> str:
    """The error message of a service without `key`, and without anything that looks like one."""
    return ERROR_KEY_SHAPES.sub(MASK, text.replace(key, MASK) if key else text)
