"""Separates the thoughts that a model writes between tags at the start of its text from its speech.

Many open models think in their text: `<think>…</think>`, then the answer. Only blocks at the start count.
A tag may be cut between two deltas, so a possible beginning of one is held back. Without a close tag all is
thought. Without an open tag (chat templates put it into the prompt) the text before the first close tag was
thought, and is retracted as speech. A tag that a server left at the start of the speech is dropped.

`ThinkTagParser` reads one text; `ThoughtSorter` does that for all chunks of a decoder.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from msgspec.structs import replace

from moot.core.terms import PartStart, Reasoning, ReasoningPart, Text
from moot.providers.contract import Chunk, ReplyDelta, ReplySegment

OPEN, CLOSE = "<think>", "</think>"
ANY_TAG = re.compile("</?think>")
PARAGRAPH_BREAK = "\n\n"
"""Each block of thoughts is a paragraph."""


class TaggedText(NamedTuple):
    kind: Literal["text", "reasoning", "retracted"]
    """Retracted: every text so far was a thought."""
    words: str = ""


class ThinkTagParser:
    """One text: it goes in at any cut, and comes out divided into thoughts and speech."""

    def __init__(self) -> None:
        self._step = self._at_head
        self._held = ""
        self._spoke = False
        self._thought = False
        self._opened = False
        """The current block of thoughts is still empty."""
        self._separate = False

    @property
    def is_plain(self) -> bool:
        """Whether text without a `<` in it is speech, and need not be fed."""
        return self._spoke and not self._held

    def feed(self, text: str) -> list[TaggedText]:
        out: list[TaggedText] = []
        text, self._held = self._held + text, ""
        while text:
            text = self._step(text, out)
        return out

    def close(self) -> list[TaggedText]:
        """What was held back, at the end of the text: it was no tag."""
        held, self._held = self._held, ""
        thinking = self._step == self._inside
        return [TaggedText("reasoning" if thinking else "text", held)] if held else []

    def stop_retracting(self) -> list[TaggedText]:
        """Thoughts come in a segment of their own: from now on no speech is retracted."""
        self._separate = self._thought = True
        if self._step in (self._inside, self._after):
            return []
        if self._spoke or self._held.strip():
            self._step = self._pass_through
        return self.close()

    def _at_head(self, text: str, out: list[TaggedText]) -> str:
        after = self._after_tag(text)
        if after is None:
            self._step = self._pass_through if self._separate else self._speaking
            return text
        return after

    def _after_tag(self, text: str) -> str | None:
        """The text after a tag at its start, empty while one may still come, None if there is no tag."""
        visible = text.lstrip()
        if visible.startswith(OPEN):
            self._step, self._opened = self._inside, True
            return visible[len(OPEN) :]
        if visible.startswith(CLOSE):
            self._step = self._after
            return visible[len(CLOSE) :]
        if OPEN.startswith(visible) or CLOSE.startswith(visible):
            self._held = text
            return ""
        return None

    def _inside(self, text: str, out: list[TaggedText]) -> str:
        thought, close, after = text.partition(CLOSE)
        if close:
            self._step = self._after
        else:
            thought = self._hold(text, CLOSE)
        self._emit_reasoning(thought, out)
        return after

    def _speaking(self, text: str, out: list[TaggedText]) -> str:
        tag = ANY_TAG.search(text)
        if tag is None:
            self._emit_text(self._hold(text, OPEN, CLOSE), out)
            return ""
        if tag.group() == OPEN:
            # A model that quotes tags in its speech opens before it closes.
            self._step = self._pass_through
            return text
        before = text[: tag.start()]
        if self._spoke or before.strip():
            self._emit_text(before, out)
            out.append(TaggedText("retracted"))
            self._spoke, self._thought = False, True
        self._step = self._after
        return text[tag.end() :]

    def _after(self, text: str, out: list[TaggedText]) -> str:
        text = text.lstrip()
        after = self._after_tag(text)
        if after is None:
            self._step = self._pass_through
            return text
        return after

    def _pass_through(self, text: str, out: list[TaggedText]) -> str:
        """Everything from here on is speech."""
        self._emit_text(text, out)
        return ""

    def _hold(self, text: str, *tags: str) -> str:
        """The text without a possible beginning of a tag at its end."""
        at = text.rfind("<")
        if at < 0 or not any(tag.startswith(text[at:]) for tag in tags):
            return text
        self._held = text[at:]
        return text[:at]

    def _emit_text(self, words: str, out: list[TaggedText]) -> None:
        if words:
            self._spoke = True
            out.append(TaggedText("text", words))

    def _emit_reasoning(self, words: str, out: list[TaggedText]) -> None:
        words = words.lstrip() if self._opened else words
        if words:
            words = PARAGRAPH_BREAK + words if self._opened and self._thought else words
            self._thought, self._opened = True, False
            out.append(TaggedText("reasoning", words))


def split_thoughts(text: str, *, apart: bool = False) -> tuple[str, str]:
    """The thoughts and the speech of a text. `apart`: thoughts come in a segment of their own."""
    tags, thoughts, words = ThinkTagParser(), "", ""
    pieces = [*(tags.stop_retracting() if apart else ()), *tags.feed(text), *tags.close()]
    for kind, piece in pieces:
        match kind:
            case "text":
                words += piece
            case "reasoning":
                thoughts += piece
            case "retracted":
                thoughts, words = thoughts + words, ""
    return thoughts.removeprefix(PARAGRAPH_BREAK), words


class _SplitText:
    """A text of a reply, and the segments of its speech and its thoughts."""

    def __init__(self, index: int, *, apart: bool) -> None:
        self.index = index
        self.thoughts: int | None = None
        self.emitted = False
        """Its thoughts have been emitted as a segment."""
        self.apart = apart
        self.part: PartStart | None = None
        self.words: list[str] = []
        self.tags = ThinkTagParser()
        if apart:
            self.tags.stop_retracting()


class ThoughtSorter:
    """Separates the thoughts at the start of each text of one reply from its speech.

    They become a segment before that text, and the later segments are renumbered.
    """

    def __init__(self) -> None:
        self._texts: dict[int, _SplitText] = {}
        """By the index that the decoder gives them."""
        self._indexes: dict[int, int] = {}
        """The index under which each segment is emitted."""
        self._splits: list[int] = []
        self._apart = False
        """Thoughts have come in a segment of their own, or with an earlier text."""
        self._plain_segment = -1
        """Words of this segment are speech unless they contain `<`."""
        self._words: list[str] = []
        """The words of that segment."""

    def sort(self, chunks: list[Chunk]) -> list[Chunk]:
        """The chunks with thoughts separated; the very same list if there are none, as nearly always."""
        plain_segment, words = self._plain_segment, self._words
        known = len(words)
        for chunk in chunks:
            if (
                type(chunk) is not ReplyDelta
                or chunk.segment != plain_segment
                or chunk.kind != "text"
                or "<" in chunk.text
            ):
                break
            words.append(chunk.text)
        else:
            return chunks
        del words[known:]
        out: list[Chunk] = []
        for chunk in chunks:
            self._sort_chunk(chunk, out)
        return out

    def close(self) -> list[Chunk]:
        """What was held back, at the end of the reply: it was no tag."""
        out: list[Chunk] = []
        for number, text in self._texts.items():
            self._emit(number, text, text.tags.close(), out)
        return out

    def _sort_chunk(self, chunk: Chunk, out: list[Chunk]) -> None:
        match chunk:
            case ReplyDelta(kind="text"):
                text = self._text(chunk.segment)
                text.part = chunk.part or text.part
                self._emit(chunk.segment, text, text.tags.feed(chunk.text), out)
                is_plain = text.tags.is_plain and text.index == chunk.segment
                self._plain_segment, self._words = chunk.segment if is_plain else -1, text.words
            case ReplyDelta():
                self._stop_retracting(out)
                out.append(replace(chunk, segment=self._index_of(chunk.segment)))
            case ReplySegment(Text() as segment):
                self._on_text_segment(segment, out)
            case ReplySegment(segment):
                if isinstance(segment, Reasoning):
                    self._stop_retracting(out)
                out.append(ReplySegment(replace(segment, index=self._index_of(segment.index))))
            case _:
                out.append(chunk)

    def _text(self, number: int) -> _SplitText:
        text = self._texts.get(number)
        if text is None:
            apart = self._apart or bool(self._texts)
            text = self._texts[number] = _SplitText(self._index_of(number), apart=apart)
        return text

    def _emit(self, number: int, text: _SplitText, pieces: list[TaggedText], out: list[Chunk]) -> None:
        for kind, words in pieces:
            if kind == "text":
                out.append(ReplyDelta(words, "text", text.index, text.part))
                text.part = None
                text.words.append(words)
                continue
            self._apart = True
            if kind == "retracted":
                out.append(ReplySegment(Reasoning((ReasoningPart("".join(text.words)),), text.index)))
                self._split(number, text)
                text.thoughts, text.words, text.emitted = None, [], True
                continue
            if text.thoughts is None:
                words = words.removeprefix(PARAGRAPH_BREAK)
                text.thoughts = self._split(number, text)
            out.append(ReplyDelta(words, "reasoning", text.thoughts))

    def _split(self, number: int, text: _SplitText) -> int:
        """The index for its thoughts, which was its own; its speech gets a later one."""
        thoughts, text.index = text.index, self._free(text.index + 1)
        self._splits.append(number)
        return thoughts

    def _on_text_segment(self, segment: Text, out: list[Chunk]) -> None:
        text = self._text(segment.index)
        self._emit(segment.index, text, text.tags.close(), out)
        thoughts, words = split_thoughts(segment.text, apart=text.apart)
        if thoughts and not text.emitted:
            if text.thoughts is None:
                text.thoughts = self._split(segment.index, text)
            self._apart = text.emitted = True
            out.append(ReplySegment(Reasoning((ReasoningPart(thoughts),), text.thoughts)))
        if words or not thoughts:
            out.append(ReplySegment(replace(segment, text=words, index=text.index)))

    def _stop_retracting(self, out: list[Chunk]) -> None:
        self._apart = True
        for number, text in self._texts.items():
            self._emit(number, text, text.tags.stop_retracting(), out)

    def _index_of(self, number: int) -> int:
        if number not in self._indexes:
            before = sum(split < number for split in self._splits)
            self._indexes[number] = self._free(number + before)
        return self._indexes[number]

    def _free(self, index: int) -> int:
        taken = {*self._indexes.values(), *(text.index for text in self._texts.values())}
        return index if index not in taken else max(taken) + 1
