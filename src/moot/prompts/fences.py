"""Fences around what others wrote: quotations that cannot be closed from within.

A fence is a tag with a random name, another for each reader. The name is made from a secret that is drawn
when the debate is opened and that only the owner can see. What looks like the beginning of such a tag inside
the quoted text is escaped (`<` becomes `&#x3c;`), also where it is written in look-alike letters, because
some models read those as the plain ones. `unescaped` gives the text back as it was written.

Debates from before there was a secret have a name made from their id and creation time, and no folding.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata

from msgspec import Struct

from moot.core.state import Debate

WORD = "quote"
ANGLES = "‹«〈《⟨⟪❬❮❰˂ᐸ⪡≺⧼\u2329\u3008\ufe3f\ufe3d"
"""Read as <, beside what NFKC makes one."""
SLASHES = "∕⁄╱⧸／⟋"
DASHES = "−‐‑‒–—―⁃﹘﹣－ー一〜~_"
LETTERS = {"о": "o", "ο": "o", "е": "e", "ε": "e", "т": "t", "τ": "t", "ԛ": "q", "υ": "u", "ս": "u"}
"""Cyrillic, Greek and Armenian letters that look like those of the word."""
MOST_FOLDED = 20_000

_OPENS = re.compile(rf"<(?=/*{WORD})")
_TAG = re.compile(rf"<?/?{WORD}-[0-9a-f]{{10,16}}>?|</?{WORD}-[0-9a-f]*(?:>|$)", re.IGNORECASE)
_ESCAPE = re.compile(r"&#x([0-9a-f]{1,6});")


class Fence(Struct, frozen=True):
    name: str
    folds: bool = True
    """False: as debates had it that were opened without a secret."""

    def hold(self, text: str) -> str:
        """The text with everything escaped that a reader could take for this fence or another one."""
        if self.folds:
            return _escaped(text, self.name)
        # The brackets keep what stands after from making a new fence.
        return re.sub(re.escape(self.name), "[quote]", text, flags=re.IGNORECASE)


def fence_for(debate: Debate, reader: str) -> Fence:
    """The fence for the quotations that this reader gets; no other reader has the same."""
    if debate.fence:
        return Fence(f"{WORD}-{_digest(debate.fence, reader)[:16]}")
    digest = _digest(debate.id, debate.created_at.isoformat(), reader)
    return Fence(f"{WORD}-{digest[:10]}", folds=debate.prompts > 1)


def unescaped(text: str) -> str:
    """Undo the escapes of `hold`."""
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)


def without_fences(text: str) -> str:
    """The text of a reply without the tags of fences that a model copied into it, whole or cut short."""
    return _TAG.sub("", text)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _escaped(text: str, name: str) -> str:
    # An escape that stands there already is escaped itself: so there is one way back.
    indexes = {match.start() for match in _ESCAPE.finditer(text)} | set(_look_alikes(text, name))
    if not indexes:
        return text
    return "".join(f"&#x{ord(char):x};" if index in indexes else char for index, char in enumerate(text))


def _look_alikes(text: str, name: str) -> list[int]:
    """The positions at which such a tag, or the name itself, begins once look-alike letters are folded."""
    folded = text.translate(_FOLDED)
    starts = [match.start() for match in _OPENS.finditer(folded)]
    starts += [match.start() for match in re.finditer(re.escape(name), folded)]
    if not starts:
        return []
    origins = [index for index, char in enumerate(text) for _ in _FOLDED[ord(char)] or ""]
    return [origins[index] for index in starts]


class _Folding(dict[int, str | None]):
    """Maps each letter to the plain letter that a reader may take it for; filled on demand."""

    def __missing__(self, code: int) -> str | None:
        if len(self) >= MOST_FOLDED:
            self.clear()
        plain = unicodedata.normalize("NFKC", chr(code)).casefold()
        # None, since a text that has only single letters and gaps is folded fastest.
        self[code] = folded = "".join(map(_plain, plain)) or None
        return folded


def _plain(char: str) -> str:
    if char in ANGLES:
        return "<"
    if char in SLASHES or char == "\\":
        return "/"
    if char in DASHES or unicodedata.category(char) == "Pd":
        return "-"
    if char.isspace() or unicodedata.category(char) in ("Cf", "Cc", "Mn", "Zs"):
        return ""
    return LETTERS.get(char, char)


_FOLDED = _Folding()
