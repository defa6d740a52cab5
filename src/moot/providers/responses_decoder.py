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
from moot.core.terms import DeltaKind, FinishReason, Usage
from moot.providers import decoder
from moot.providers.contract import Chunk, ReplyDelta, ReplySegment
from moot.providers.decoder import ReportedUsage, max_usage
from moot.providers.error_replies import fault_from_error
from moot.providers.lenient_json import get_dict, get_dicts, get_string
from moot.providers.responses_items import (
    GROUPS,
    SLOTS,
    OutputItem,
    OutputItems,
    Slot,
    group_of,
    visible_text,
)
from moot.providers.sse import SseEvent

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

REASONS: dict[str, FinishReason] = {"max_output_tokens": "length", "content_filter": "filter"}
OURS = (
    "function_call", "custom_tool_call", "computer_call", "local_shell_call", "shell_call",
    "apply_patch_call", "mcp_approval_request",
)  # fmt: skip
"""Calls that wait for our answer."""
FURTHEST = 1000
"""A number that is farther ahead than this belongs to no honest count."""


class _ResponseEvent(Struct):
    type: str = ""
    delta: Any = None
    sequence_number: int | None = None
    output_index: int | None = None
    content_index: int | None = None
    summary_index: int | None = None
    item_id: str | None = None


_read = msgspec.json.Decoder(_ResponseEvent).decode
_whole = msgspec.json.Decoder(dict[str, Any]).decode


class EventSequence:
    """Which events are new. The service counts them; one that comes twice has the same number twice."""

    def __init__(self) -> None:
        self._last = -1
        self._missing: set[int] = set()
        self._latest = b""
        self._kept = True

    def is_new(self, number: int, data: bytes) -> bool:
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


class ResponsesDecoder(decoder.Decoder):
    def __init__(self, *, unchained: bool = False) -> None:
        """`unchained`: the service could have remembered what it was sent."""
        super().__init__()
        self._sequence = EventSequence()
        self._outputs = OutputItems()
        self._effort = ""
        self._slot: Slot | None = None
        self._output_index = -1
        if unchained:
            self._marks.add("chain")

    def _on_event(self, event: SseEvent, out: list[Chunk]) -> None:
        parsed = self._read(_read, event.data)
        name = parsed.type or event.name
        number = parsed.sequence_number
        new = number is None or self._sequence.is_new(number, event.data)
        slot = SPEAKING.get(name)
        if slot is None:
            self._rarer(name, parsed, self._read(_whole, event.data), new, out)
        elif new:
            if not self.started:
                self._begin(None, out)
            self._words(slot, parsed, out)

    def _words(self, slot: Slot, parsed: _ResponseEvent, out: list[Chunk]) -> None:
        words = parsed.delta if isinstance(parsed.delta, str) else _words_in(parsed.delta)
        if not words:
            return
        if slot == self._slot and parsed.output_index == self._output_index and not self._output.done:
            output = self._output
        else:
            output = self._turn_to(slot, parsed)
        if output.done:
            return
        words, part = output.append_text(slot, _part_index(slot, parsed), words, parsed.sequence_number)
        if output.group != "tool":
            out.append(ReplyDelta(words, _kind(output), output.index, part))

    def _turn_to(self, slot: Slot, parsed: _ResponseEvent) -> OutputItem:
        """Nearly all words go where the last ones went; where that is need not be looked up each time."""
        self._output = self._output_for(slot, parsed)
        self._slot = slot
        self._output_index = parsed.output_index if parsed.output_index is not None else -1
        return self._output

    # --- the rarer events -----------------------------------------------------------------------------

    def _rarer(
        self, name: str, parsed: _ResponseEvent, event_fields: dict[str, Any], new: bool, out: list[Chunk]
    ) -> None:
        response = get_dict(event_fields, "response")
        if not parsed.type and event_fields.get("object") == "response":
            name, response = "response.done", event_fields
        if name == "error" or (not parsed.type and event_fields.get("error")):
            raise fault_from_error(event_fields)
        self._begin(get_string(response, "id") or None, out)
        if name in ENDED:
            self._end(name, response, parsed.sequence_number, out)
        elif name in BEGUN:
            self._note(response)
        elif name in ("response.output_item.added", "response.output_item.done"):
            self._item(name, parsed, get_dict(event_fields, "item"), new, out)
        elif name in WHOLE:
            self._ended_part(WHOLE[name], parsed, _words_in(event_fields))
        elif name.rpartition(".")[0] in PARTS:
            self._part(name, parsed, get_dict(event_fields, "part"))
        elif name == "response.output_text.annotation.added":
            if new:
                self._output_for("text", parsed).annotations.append(get_dict(event_fields, "annotation"))
        elif name.rpartition(".")[2] not in STAGES:
            self._unread += 1

    def _item(
        self, name: str, parsed: _ResponseEvent, item: dict[str, Any], new: bool, out: list[Chunk]
    ) -> None:
        group = group_of(get_string(item, "type"))
        if group is None:
            self._unread += 1
            return
        position = (parsed.output_index, group, get_string(item, "id"), parsed.sequence_number)
        if name.endswith(".done"):
            output = self._outputs.get_or_add(*position)
            output.update(item, done=True)
            self._emit_item(output, out)
        elif new:
            self._outputs.start_item(*position).update(item, done=False)

    def _part(self, name: str, parsed: _ResponseEvent, part: dict[str, Any]) -> None:
        slot = SLOTS.get(get_string(part, "type"))
        if slot is None:
            return
        if name.endswith(".done"):
            self._ended_part(slot, parsed, _words_in(part))
        else:
            number = parsed.sequence_number
            self._output_for(slot, parsed).part(slot, _part_index(slot, parsed), number, announced=True)

    def _ended_part(self, slot: Slot, parsed: _ResponseEvent, text: str) -> None:
        part = self._output_for(slot, parsed).part(slot, _part_index(slot, parsed), parsed.sequence_number)
        part.whole = text or part.whole

    def _output_for(self, slot: Slot, parsed: _ResponseEvent) -> OutputItem:
        return self._outputs.get_or_add(
            parsed.output_index, GROUPS[slot], parsed.item_id or "", parsed.sequence_number
        )

    # --- how it ends ----------------------------------------------------------------------------------

    def _note(self, response: dict[str, Any]) -> None:
        self._response_id = get_string(response, "id") or self._response_id
        self._model = get_string(response, "model") or self._model
        self._effort = get_string(response, "reasoning", "effort") or self._effort
        self._stored = response.get("store") is not False

    def _end(self, name: str, response: dict[str, Any], number: int | None, out: list[Chunk]) -> None:
        self._note(response)
        status = name.removeprefix("response.")
        if status == "done":
            status = get_string(response, "status") or "completed"
        if status in ("queued", "in_progress"):
            return
        self._usage = max_usage(self._usage, usage(response.get("usage")))
        if status == "failed":
            raise fault_from_error(response.get("error") or "failed")
        if status == "cancelled":
            raise Fault("cut", detail="cancelled on the service's side")
        self._outputs.finish_all(get_dicts(response, "output"), number)
        self._close(out)
        reason = get_string(response, "incomplete_details", "reason")
        self._stop(self._why(status, reason), reason or status)
        self.over = True

    def _why(self, status: str, reason: str) -> FinishReason:
        if status == "incomplete":
            return REASONS.get(reason, "length")
        if any(output.refused for output in self._outputs.all):
            return "refusal"
        last = max(self._outputs.all, key=lambda output: output.index, default=None)
        return "tool" if last is not None and last.kind in OURS else "stop"

    def _close(self, out: list[Chunk]) -> None:
        for output in sorted(self._outputs.all, key=lambda output: output.index):
            self._emit_item(output, out)

    def _emit_item(self, output: OutputItem, out: list[Chunk]) -> None:
        """Hand out an item; once more only if it has become another."""
        segment = output.finish(self._effort)
        if segment is None:
            return
        if output.group in ("message", "reasoning"):
            self._emit_missing(output, visible_text(segment), out)
        out.append(ReplySegment(segment))

    def _emit_missing(self, output: OutputItem, text: str, out: list[Chunk]) -> None:
        """What was not said yet is said now; what was said otherwise cannot be taken back."""
        live = "".join(output.streamed)
        if not text.startswith(live):
            self._marks.add("mended")
        elif text != live:
            output.streamed.append(text[len(live) :])
            out.append(ReplyDelta(output.streamed[-1], _kind(output), output.index))


def usage(reported: Any) -> Usage | None:
    """Noughts alone are no figures: some services send them when an answer is cut short."""
    if not isinstance(reported, dict):
        return None
    counts = ReportedUsage(reported)
    figures = Usage(
        input=counts.get("input_tokens"),
        output=counts.get("output_tokens"),
        reasoning=counts.get("output_tokens_details", "reasoning_tokens"),
        cached=counts.get("input_tokens_details", "cached_tokens"),
        cache_write=counts.get("input_tokens_details", "cache_write_tokens"),
        suspect=counts.suspect,
    )
    return figures if figures.total or figures.suspect else None


def _kind(output: OutputItem) -> DeltaKind:
    return "reasoning" if output.group == "reasoning" else "text"


def _part_index(slot: Slot, parsed: _ResponseEvent) -> int:
    return (parsed.summary_index if slot == "summary" else parsed.content_index) or 0


def _words_in(data: Any) -> str:
    """Words that are wrapped in an object, under whichever name."""
    return next((text for name in WORDS if (text := get_string(data, name))), "")
