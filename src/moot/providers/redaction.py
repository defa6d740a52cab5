"""Secrets are not repeated: neither our own key by a model or its service, nor anybody's key in a remark.

`Hush` stands between a decoder and all who read: where a service echoes the key that we sent it, in its words
or anywhere else in its reply, an ellipsis goes out instead. A key may come in pieces, so words at the end of
a delta that could be its beginning wait for the next one. `redact` knows keys by their shape alone.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from moot.providers.contract import Alive, Chunk, Said
from moot.providers.keys import MASK as MASK

SHORTEST = 10
"""Shorter keys are made up for services that want none, and may be words that people say."""
TELLING = 12
"""A beginning of the key as long as this, cut off at the end of what was said, is no accident."""


class Hush:
    """For one reply."""

    def __init__(self, key: str) -> None:
        self._key = key if len(key) >= SHORTEST else ""
        self._head = key[:3]
        self._ends = (key[:2], key[:1])
        self._held: Said | None = None

    def heard(self, chunks: list[Chunk]) -> list[Chunk]:
        """The same without the key; the very same list where nothing is suspicious, as nearly always."""
        if not self._key:
            return chunks
        if self._held is None:
            head, ends = self._head, self._ends
            for chunk in chunks:
                if type(chunk) is not Said or head in chunk.text or chunk.text.endswith(ends):
                    break
            else:
                return chunks
        return self._without(chunks)

    def rest(self) -> list[Chunk]:
        """What was held back. For replies that break off; others end with a chunk that lets it go."""
        held, self._held = self._held, None
        return [Said(self._clean(held.text), held.kind, held.segment, held.part)] if held else []

    def _without(self, chunks: list[Chunk]) -> list[Chunk]:
        out: list[Chunk] = []
        for chunk in chunks:
            if isinstance(chunk, Said):
                self._say(chunk, out)
            elif isinstance(chunk, Alive):
                out.append(chunk)
            else:
                out += (*self.rest(), self._retold(chunk))
        # Words that wait are a sign of life nevertheless.
        return out or [Alive()]

    def _say(self, said: Said, out: list[Chunk]) -> None:
        held, text, part = self._held, said.text, said.part
        if held is not None:
            if held.segment == said.segment and held.kind == said.kind and part is None:
                self._held, text, part = None, held.text + text, held.part
            else:
                out += self.rest()
        if self._head not in text and not text.endswith(self._ends):
            out.append(Said(text, said.kind, said.segment, part))
            return
        text = text.replace(self._key, MASK)
        cut = self._begins(text)
        if cut < len(text):
            self._held = Said(text[cut:], said.kind, said.segment, None if cut else part)
        if cut:
            out.append(Said(text[:cut], said.kind, said.segment, part))

    def _begins(self, text: str) -> int:
        """Where the words end that cannot be the beginning of the key."""
        key = self._key
        at = text.find(key[0], max(0, len(text) - len(key) + 1))
        while at >= 0 and not key.startswith(text[at:]):
            at = text.find(key[0], at + 1)
        return at if at >= 0 else len(text)

    def _clean(self, text: str) -> str:
        text = text.replace(self._key, MASK)
        cut = self._begins(text)
        return text[:cut] + MASK if len(text) - cut >= TELLING else text

    def _retold(self, chunk: Chunk) -> Chunk:
        told = msgspec.to_builtins(chunk)
        cleaned = self._cleaned(told)
        return chunk if cleaned == told else msgspec.convert(cleaned, type(chunk))

    def _cleaned(self, told: Any) -> Any:
        if isinstance(told, str):
            return self._clean(told)
        if isinstance(told, dict):
            return {name: self._cleaned(value) for name, value in told.items()}  # pyright: ignore[reportUnknownVariableType] - JSON of any shape
        if isinstance(told, list | tuple):
            return [self._cleaned(value) for value in told]  # pyright: ignore[reportUnknownVariableType] - JSON of any shape
        return told


# Repetitions that decide nothing are bounded, so that no text takes long. Words have no digits: without one a
# long word after "sk-" or "Bearer" is left alone.
SHAPES = re.compile(
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


PATHS = re.compile(r"(?<![\w.:/\\])(?:/(?:[^\s/'\"`]+/)+|[A-Za-z]:\\(?:[^\s\\'\"`]+\\)*)")
"""The folders before a file's name. An address on the web has a colon before its slashes."""


def without_folders(text: str) -> str:
    """With files by their names alone: where a server keeps them is told to nobody."""
    return PATHS.sub("", text)


def redact(text: str) -> str:
    """Without anything that is shaped like a key, whosever it is."""
    return SHAPES.sub(lambda found: (found["word"] or "") + MASK, text)
