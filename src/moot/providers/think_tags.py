"""Thoughts that a model puts between tags at the head of its reply, told apart from its speech.

Many open models think in their text: `<think>…</think>`, then the answer. Only blocks at the head count.
The tags may be cut between two deltas, so what may be the beginning of one is held back until it is clear.
The close tag may be missing: then all is thought. The open tag may be missing, because chat templates put it
into the prompt: then all that was taken for speech before the first close tag was thought, and is taken back.

A server that tells thoughts apart by itself may leave a tag behind at the head of the speech: it is dropped.

`ThinkTagParser` reads one text. `Sorter` does that for the chunks of any decoder that does not use
`ThinkTagParser` itself.
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
    kind: Literal["text", "reasoning", "taken_back"]
    """Taken back: every text so far was a thought."""
    words: str = ""


class ThinkTagParser:
    """One reply. Text goes in at any cut, sorted words come out."""

    def __init__(self) -> None:
        self._step = self._at_head
        self._held = ""
        self._spoke = False
        self._thought = False
        self._opened = False
        """Nothing has been thought in this block yet."""
        self._separate = False

    @property
    def is_plain(self) -> bool:
        """The next text is speech if it has no `<` in it; it need not be fed."""
        return self._spoke and not self._held

    def feed(self, text: str) -> list[TaggedText]:
        out: list[TaggedText] = []
        text, self._held = self._held + text, ""
        while text:
            text = self._step(text, out)
        return out

    def close(self) -> list[TaggedText]:
        """The reply is over: what was held back was no tag."""
        held, self._held = self._held, ""
        thinking = self._step == self._inside
        return [TaggedText("reasoning" if thinking else "text", held)] if held else []

    def stop_retracting(self) -> list[TaggedText]:
        """Thoughts have come by a way of their own: no speech will be taken back any more."""
        self._separate = self._thought = True
        if self._step in (self._inside, self._after):
            return []
        if self._spoke or self._held.strip():
            self._step = self._pass_through
        return self.close()

    def _at_head(self, text: str, out: list[TaggedText]) -> str:
        rest = self._after_tag(text)
        if rest is None:
            self._step = self._pass_through if self._separate else self._speaking
            return text
        return rest

    def _after_tag(self, text: str) -> str | None:
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

    def _inside(self, text: str, out: list[TaggedText]) -> str:
        thought, close, rest = text.partition(CLOSE)
        if close:
            self._step = self._after
        else:
            thought = self._hold(text, CLOSE)
        self._emit_reasoning(thought, out)
        return rest

    def _speaking(self, text: str, out: list[TaggedText]) -> str:
        tag = ANY_TAG.search(text)
        if tag is None:
            self._emit_text(self._hold(text, OPEN, CLOSE), out)
            return ""
        if tag.group() == OPEN:
            # A model that speaks of tags in mid-speech opens before it closes.
            self._step = self._pass_through
            return text
        before = text[: tag.start()]
        if self._spoke or before.strip():
            self._emit_text(before, out)
            out.append(TaggedText("taken_back"))
            self._spoke, self._thought = False, True
        self._step = self._after
        return text[tag.end() :]

    def _after(self, text: str, out: list[TaggedText]) -> str:
        text = text.lstrip()
        rest = self._after_tag(text)
        if rest is None:
            self._step = self._pass_through
            return text
        return rest

    def _pass_through(self, text: str, out: list[TaggedText]) -> str:
        """Nothing is looked for any more."""
        self._emit_text(text, out)
        return ""

    def _hold(self, text: str, *tags: str) -> str:
        """All but an end that may be the beginning of a tag."""
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


def parted(text: str, *, apart: bool = False) -> tuple[str, str]:
    """What of a text is thought, and what is said. `apart`: thoughts have come by a way of their own."""
    tags, thoughts, words = ThinkTagParser(), "", ""
    found = [*(tags.stop_retracting() if apart else ()), *tags.feed(text), *tags.close()]
    for kind, piece in found:
        match kind:
            case "text":
                words += piece
            case "reasoning":
                thoughts += piece
            case "taken_back":
                thoughts, words = thoughts + words, ""
    return thoughts.removeprefix(PARAGRAPH_BREAK), words


class _Parted:
    """A text of a reply, and where its speech and its thoughts stand."""

    def __init__(self, index: int, *, apart: bool) -> None:
        self.index = index
        self.thoughts: int | None = None
        self.told = False
        """Its thoughts have been handed out as an item."""
        self.apart = apart
        self.part: PartStart | None = None
        self.words: list[str] = []
        self.tags = ThinkTagParser()
        if apart:
            self.tags.stop_retracting()


class Sorter:
    """Takes the thoughts at the head of each text out of the chunks of one reply.

    They become a segment in front of that text, and the segments behind it are counted on.
    """

    def __init__(self) -> None:
        self._texts: dict[int, _Parted] = {}
        """By the number that the decoder gives them."""
        self._places: dict[int, int] = {}
        """The number under which each segment is handed out."""
        self._splits: list[int] = []
        self._apart = False
        """Thoughts have come by a way of their own, or with an earlier text."""
        self._easy = -1
        """Words of this segment are speech unless there is an angle bracket in them."""
        self._words: list[str] = []
        """Those of that segment."""

    def sort(self, chunks: list[Chunk]) -> list[Chunk]:
        """The chunks with thoughts told apart; the very same list where there are none, as nearly always."""
        easy, words = self._easy, self._words
        known = len(words)
        for chunk in chunks:
            if (
                type(chunk) is not ReplyDelta
                or chunk.segment != easy
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
            self._put(chunk, out)
        return out

    def close(self) -> list[Chunk]:
        """The reply is over: what was held back was no tag."""
        out: list[Chunk] = []
        for number, text in self._texts.items():
            self._hand_out(number, text, text.tags.close(), out)
        return out

    def _put(self, chunk: Chunk, out: list[Chunk]) -> None:
        match chunk:
            case ReplyDelta(kind="text"):
                text = self._text(chunk.segment)
                text.part = chunk.part or text.part
                self._hand_out(chunk.segment, text, text.tags.feed(chunk.text), out)
                is_easy = text.tags.is_plain and text.index == chunk.segment
                self._easy, self._words = chunk.segment if is_easy else -1, text.words
            case ReplyDelta():
                self._leave_speech(out)
                out.append(replace(chunk, segment=self._place(chunk.segment)))
            case ReplySegment(Text() as told):
                self._tell(told, out)
            case ReplySegment(told):
                if isinstance(told, Reasoning):
                    self._leave_speech(out)
                out.append(ReplySegment(replace(told, index=self._place(told.index))))
            case _:
                out.append(chunk)

    def _text(self, number: int) -> _Parted:
        text = self._texts.get(number)
        if text is None:
            apart = self._apart or bool(self._texts)
            text = self._texts[number] = _Parted(self._place(number), apart=apart)
        return text

    def _hand_out(self, number: int, text: _Parted, found: list[TaggedText], out: list[Chunk]) -> None:
        for kind, words in found:
            if kind == "text":
                out.append(ReplyDelta(words, "text", text.index, text.part))
                text.part = None
                text.words.append(words)
                continue
            self._apart = True
            if kind == "taken_back":
                out.append(ReplySegment(Reasoning((ReasoningPart("".join(text.words)),), text.index)))
                self._split(number, text)
                text.thoughts, text.words, text.told = None, [], True
                continue
            if text.thoughts is None:
                words = words.removeprefix(PARAGRAPH_BREAK)
                text.thoughts = self._split(number, text)
            out.append(ReplyDelta(words, "reasoning", text.thoughts))

    def _split(self, number: int, text: _Parted) -> int:
        """The place of its thoughts: where it stood. Its speech stands behind them."""
        thoughts, text.index = text.index, self._free(text.index + 1)
        self._splits.append(number)
        return thoughts

    def _tell(self, told: Text, out: list[Chunk]) -> None:
        text = self._text(told.index)
        self._hand_out(told.index, text, text.tags.close(), out)
        thoughts, words = parted(told.text, apart=text.apart)
        if thoughts and not text.told:
            if text.thoughts is None:
                text.thoughts = self._split(told.index, text)
            self._apart = text.told = True
            out.append(ReplySegment(Reasoning((ReasoningPart(thoughts),), text.thoughts)))
        if words or not thoughts:
            out.append(ReplySegment(replace(told, text=words, index=text.index)))

    def _leave_speech(self, out: list[Chunk]) -> None:
        self._apart = True
        for number, text in self._texts.items():
            self._hand_out(number, text, text.tags.stop_retracting(), out)

    def _place(self, number: int) -> int:
        if number not in self._places:
            before = sum(split < number for split in self._splits)
            self._places[number] = self._free(number + before)
        return self._places[number]

    def _free(self, place: int) -> int:
        taken = {*self._places.values(), *(text.index for text in self._texts.values())}
        return place if place not in taken else max(taken) + 1
