"""Thoughts that a model puts between tags at the head of its reply, told apart from its speech.

Many open models think in their text: `<think>…</think>`, then the answer. Only blocks at the head count.
The tags may be cut between two deltas, so what may be the beginning of one is held back until it is clear.
The close tag may be missing: then all is thought. The open tag may be missing, because chat templates put it
into the prompt: then all that was taken for speech before the first close tag was thought, and is taken back.

A server that tells thoughts apart by itself may leave a tag behind at the head of the speech: it is dropped.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

OPEN, CLOSE = "<think>", "</think>"
EITHER = re.compile("</?think>")
BETWEEN = "\n\n"
"""Each block of thoughts is a paragraph."""


class Sorted(NamedTuple):
    kind: Literal["text", "reasoning", "taken_back"]
    """Taken back: every text so far was a thought."""
    words: str = ""


class Tags:
    """One reply. Text goes in at any cut, sorted words come out."""

    def __init__(self) -> None:
        self._step = self._at_the_head
        self._held = ""
        self._spoke = False
        self._thought = False
        self._opened = False
        """Nothing has been thought in this block yet."""
        self._apart = False

    @property
    def at_ease(self) -> bool:
        """The next text is speech if it has no `<` in it; it need not be fed."""
        return self._spoke and not self._held

    def feed(self, text: str) -> list[Sorted]:
        out: list[Sorted] = []
        text, self._held = self._held + text, ""
        while text:
            text = self._step(text, out)
        return out

    def close(self) -> list[Sorted]:
        """The reply is over: what was held back was no tag."""
        held, self._held = self._held, ""
        thinking = self._step == self._inside
        return [Sorted("reasoning" if thinking else "text", held)] if held else []

    def apart(self) -> list[Sorted]:
        """Thoughts have come by a way of their own: no speech will be taken back any more."""
        self._apart = self._thought = True
        if self._step in (self._inside, self._after):
            return []
        if self._spoke or self._held.strip():
            self._step = self._settled
        return self.close()

    def _at_the_head(self, text: str, out: list[Sorted]) -> str:
        rest = self._past_a_tag(text)
        if rest is None:
            self._step = self._settled if self._apart else self._speaking
            return text
        return rest

    def _past_a_tag(self, text: str) -> str | None:
        """What follows the tag at the head of this text, or nothing while one may come; None: none does."""
        shown = text.lstrip()
        if shown.startswith(OPEN):
            self._step, self._opened = self._inside, True
            return shown[len(OPEN) :]
        if shown.startswith(CLOSE):
            self._step = self._after
            return shown[len(CLOSE) :]
        if OPEN.startswith(shown) or CLOSE.startswith(shown):
            self._held = text
            return ""
        return None

    def _inside(self, text: str, out: list[Sorted]) -> str:
        thought, close, rest = text.partition(CLOSE)
        if close:
            self._step = self._after
        else:
            thought = self._hold(text, CLOSE)
        self._think(thought, out)
        return rest

    def _speaking(self, text: str, out: list[Sorted]) -> str:
        tag = EITHER.search(text)
        if tag is None:
            self._say(self._hold(text, OPEN, CLOSE), out)
            return ""
        if tag.group() == OPEN:
            # A model that speaks of tags in mid-speech opens before it closes.
            self._step = self._settled
            return text
        before = text[: tag.start()]
        if self._spoke or before.strip():
            self._say(before, out)
            out.append(Sorted("taken_back"))
            self._spoke, self._thought = False, True
        self._step = self._after
        return text[tag.end() :]

    def _after(self, text: str, out: list[Sorted]) -> str:
        text = text.lstrip()
        rest = self._past_a_tag(text)
        if rest is None:
            self._step = self._settled
            return text
        return rest

    def _settled(self, text: str, out: list[Sorted]) -> str:
        """Nothing is looked for any more."""
        self._say(text, out)
        return ""

    def _hold(self, text: str, *tags: str) -> str:
        """All but an end that may be the beginning of a tag."""
        at = text.rfind("<")
        if at < 0 or not any(tag.startswith(text[at:]) for tag in tags):
            return text
        self._held = text[at:]
        return text[:at]

    def _say(self, words: str, out: list[Sorted]) -> None:
        if words:
            self._spoke = True
            out.append(Sorted("text", words))

    def _think(self, words: str, out: list[Sorted]) -> None:
        words = words.lstrip() if self._opened else words
        if words:
            words = BETWEEN + words if self._opened and self._thought else words
            self._thought, self._opened = True, False
            out.append(Sorted("reasoning", words))
