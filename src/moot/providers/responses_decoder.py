"""How an answer in the Responses dialect is read: events come in, words and finished items go out.

Most events bring a few words and are read with one small struct; the rest are rare and read whole. What the
last event says of the response outweighs what came before: items that were never ended get their end there,
and words that differ are mended.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from moot.core.errors import Fault
from moot.core.terms import DeltaKind, Finish, Usage
from moot.providers import decoder
from moot.providers.contract import Chunk, Item, Said
from moot.providers.decoder import Counts, larger
from moot.providers.error_replies import complaint
from moot.providers.lenient_json import fields, objects, string
from moot.providers.responses_items import GROUPS, SLOTS, Output, Outputs, Slot, group_of, words_of
from moot.providers.sse import Event

SPEAKING: dict[str, Slot] = {
    "response.output_text.delta": "text",
    "response.refusal.delta": "refusal",
    "response.reasoning_summary_text.delta": "summary",
    "response.reasoning_summary.delta": "summary",
    "response.reasoning_text.delta": "thought",
    "response.reasoning.delta": "thought",
    "response.function_call_arguments.delta": "input",
    "response.mcp_call_arguments.delta": "input",
    "response.custom_tool_call_input.delta": "input",
    "response.code_interpreter_call_code.delta": "input",
}
WHOLE: dict[str, Slot] = {name.removesuffix("delta") + "done": slot for name, slot in SPEAKING.items()}
WORDS = ("text", "refusal", "arguments", "input", "code", "content")
PARTS = ("response.content_part", "response.reasoning_summary_part", "response.reasoning_part")
BEGUN = ("response.created", "response.queued", "response.in_progress")
ENDED = (
    "response.completed", "response.incomplete", "response.failed", "response.cancelled", "response.done",
)  # fmt: skip
STAGES = (
    "in_progress", "searching", "interpreting", "generating", "partial_image", "completed", "failed",
    "keepalive",
)  # fmt: skip
"""How far a tool on the service's side has come: signs of life."""

REASONS: dict[str, Finish] = {"max_output_tokens": "length", "content_filter": "filter"}
OURS = (
    "function_call", "custom_tool_call", "computer_call", "local_shell_call", "shell_call",
    "apply_patch_call", "mcp_approval_request",
)  # fmt: skip
"""Calls that wait for our answer."""
FURTHEST = 1000
"""A number that is farther ahead than this belongs to no honest count."""


class _Event(Struct):
    type: str = ""
    delta: Any = None
    sequence_number: int | None = None
    output_index: int | None = None
    content_index: int | None = None
    summary_index: int | None = None
    item_id: str | None = None


_read = msgspec.json.Decoder(_Event).decode
_whole = msgspec.json.Decoder(dict[str, Any]).decode


class Sequence:
    """Which events are new. The service counts them; one that comes twice has the same number twice."""

    def __init__(self) -> None:
        self._last = -1
        self._missing: set[int] = set()
        self._latest = b""
        self._kept = True

    def new(self, number: int, data: bytes) -> bool:
        ahead = number - self._last
        if ahead == 1:
            self._last, self._latest = number, data
            return True
        if ahead == 0 and data != self._latest:
            # This service does not count at all.
            self._kept = False
        if ahead <= 0:
            late = number in self._missing
            self._missing.discard(number)
            return late or not self._kept
        if ahead <= FURTHEST:
            self._missing.update(range(self._last + 1, number))
        self._last, self._latest = number, data
        return True


class Decoder(decoder.Decoder):
    def __init__(self, *, unchained: bool = False) -> None:
        """`unchained`: the service could have remembered what it was sent."""
        super().__init__()
        self._sequence = Sequence()
        self._outputs = Outputs()
        self._effort = ""
        self._slot: Slot | None = None
        self._place = -1
        if unchained:
            self._marks.add("chain")

    def _hear(self, event: Event, said: list[Chunk]) -> None:
        heard = self._read(_read, event.data)
        name = heard.type or event.name
        number = heard.sequence_number
        new = number is None or self._sequence.new(number, event.data)
        slot = SPEAKING.get(name)
        if slot is None:
            self._rarer(name, heard, self._read(_whole, event.data), new, said)
        elif new:
            if not self.began:
                self._begin(None, said)
            self._words(slot, heard, said)

    def _words(self, slot: Slot, heard: _Event, said: list[Chunk]) -> None:
        words = heard.delta if isinstance(heard.delta, str) else _words_in(heard.delta)
        if not words:
            return
        if slot == self._slot and heard.output_index == self._place and not self._output.done:
            output = self._output
        else:
            output = self._turn_to(slot, heard)
        if output.done:
            return
        words, part = output.speak(slot, _place(slot, heard), words, heard.sequence_number)
        if output.group != "tool":
            said.append(Said(words, _kind(output), output.index, part))

    def _turn_to(self, slot: Slot, heard: _Event) -> Output:
        """Nearly all words go where the last ones went; where that is need not be looked up each time."""
        self._output = self._spoken_of(slot, heard)
        self._slot = slot
        self._place = heard.output_index if heard.output_index is not None else -1
        return self._output

    # --- the rarer events -----------------------------------------------------------------------------

    def _rarer(self, name: str, heard: _Event, told: dict[str, Any], new: bool, said: list[Chunk]) -> None:
        response = fields(told, "response")
        if not heard.type and told.get("object") == "response":
            name, response = "response.done", told
        if name == "error" or (not heard.type and told.get("error")):
            raise complaint(told)
        self._begin(string(response, "id") or None, said)
        if name in ENDED:
            self._end(name, response, heard.sequence_number, said)
        elif name in BEGUN:
            self._note(response)
        elif name in ("response.output_item.added", "response.output_item.done"):
            self._item(name, heard, fields(told, "item"), new, said)
        elif name in WHOLE:
            self._ended_part(WHOLE[name], heard, _words_in(told))
        elif name.rpartition(".")[0] in PARTS:
            self._part(name, heard, fields(told, "part"))
        elif name == "response.output_text.annotation.added":
            if new:
                self._spoken_of("text", heard).annotations.append(fields(told, "annotation"))
        elif name.rpartition(".")[2] not in STAGES:
            self._unread += 1

    def _item(self, name: str, heard: _Event, item: dict[str, Any], new: bool, said: list[Chunk]) -> None:
        group = group_of(string(item, "type"))
        if group is None:
            self._unread += 1
            return
        place = (heard.output_index, group, string(item, "id"), heard.sequence_number)
        if name.endswith(".done"):
            output = self._outputs.at(*place)
            output.tell(item, done=True)
            self._give(output, said)
        elif new:
            self._outputs.added(*place).tell(item, done=False)

    def _part(self, name: str, heard: _Event, part: dict[str, Any]) -> None:
        slot = SLOTS.get(string(part, "type"))
        if slot is None:
            return
        if name.endswith(".done"):
            self._ended_part(slot, heard, _words_in(part))
        else:
            number = heard.sequence_number
            self._spoken_of(slot, heard).part(slot, _place(slot, heard), number, announced=True)

    def _ended_part(self, slot: Slot, heard: _Event, text: str) -> None:
        part = self._spoken_of(slot, heard).part(slot, _place(slot, heard), heard.sequence_number)
        part.whole = text or part.whole

    def _spoken_of(self, slot: Slot, heard: _Event) -> Output:
        return self._outputs.at(heard.output_index, GROUPS[slot], heard.item_id or "", heard.sequence_number)

    # --- how it ends ----------------------------------------------------------------------------------

    def _note(self, response: dict[str, Any]) -> None:
        self._response_id = string(response, "id") or self._response_id
        self._model = string(response, "model") or self._model
        self._effort = string(response, "reasoning", "effort") or self._effort
        self._stored = response.get("store") is not False

    def _end(self, name: str, response: dict[str, Any], number: int | None, said: list[Chunk]) -> None:
        self._note(response)
        status = name.removeprefix("response.")
        if status == "done":
            status = string(response, "status") or "completed"
        if status in ("queued", "in_progress"):
            return
        self._usage = larger(self._usage, usage(response.get("usage")))
        if status == "failed":
            raise complaint(response.get("error") or "failed")
        if status == "cancelled":
            raise Fault("cut", detail="cancelled on the service's side")
        self._outputs.final(objects(response, "output"), number)
        self._close(said)
        reason = string(response, "incomplete_details", "reason")
        self._stop(self._why(status, reason), reason or status)
        self.over = True

    def _why(self, status: str, reason: str) -> Finish:
        if status == "incomplete":
            return REASONS.get(reason, "length")
        if any(output.refused for output in self._outputs.all):
            return "refusal"
        last = max(self._outputs.all, key=lambda output: output.index, default=None)
        return "tool" if last is not None and last.kind in OURS else "stop"

    def _close(self, said: list[Chunk]) -> None:
        for output in sorted(self._outputs.all, key=lambda output: output.index):
            self._give(output, said)

    def _give(self, output: Output, said: list[Chunk]) -> None:
        """Hand out an item; once more only if it has become another."""
        segment = output.finish(self._effort)
        if segment is None:
            return
        if output.group in ("message", "reasoning"):
            self._mend(output, words_of(segment), said)
        said.append(Item(segment))

    def _mend(self, output: Output, text: str, said: list[Chunk]) -> None:
        """What was not said yet is said now; what was said otherwise cannot be taken back."""
        live = "".join(output.said)
        if not text.startswith(live):
            self._marks.add("mended")
        elif text != live:
            output.said.append(text[len(live) :])
            said.append(Said(output.said[-1], _kind(output), output.index))


def usage(told: Any) -> Usage | None:
    """Noughts alone are no figures: some services send them when an answer is cut short."""
    if not isinstance(told, dict):
        return None
    counts = Counts(told)
    figures = Usage(
        input=counts.get("input_tokens"),
        output=counts.get("output_tokens"),
        reasoning=counts.get("output_tokens_details", "reasoning_tokens"),
        cached=counts.get("input_tokens_details", "cached_tokens"),
        cache_write=counts.get("input_tokens_details", "cache_write_tokens"),
        suspect=counts.suspect,
    )
    return figures if figures.total or figures.suspect else None


def _kind(output: Output) -> DeltaKind:
    return "reasoning" if output.group == "reasoning" else "text"


def _place(slot: Slot, heard: _Event) -> int:
    return (heard.summary_index if slot == "summary" else heard.content_index) or 0


def _words_in(told: Any) -> str:
    """Words that are wrapped in an object, under whichever name."""
    return next((text for name in WORDS if (text := string(told, name))), "")
