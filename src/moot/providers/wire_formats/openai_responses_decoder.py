"""Replies in the Responses format of OpenAI.

Most events bring a few words and are read with one small struct; the others are rare and read whole. The last
event has the whole response, which takes precedence over what was streamed: items that were never ended are
completed from it, and words that differ are corrected.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from moot.core.errors import Fault
from moot.core.sse_reader import SseEvent
from moot.core.terms import CLIENT_TOOL_KINDS, FinishReason, Usage
from moot.providers.contract import Chunk, ReplyDelta, ReplySegment
from moot.providers.error_replies import fault_from_error
from moot.providers.lenient_json import get_dict, get_dicts, get_string
from moot.providers.wire_formats.contract import Decoder, ReportedUsage, max_usage, read_object
from moot.providers.wire_formats.openai_responses_items import (
    GROUPS,
    SLOTS,
    OutputItem,
    OutputItems,
    Slot,
    group_of,
    visible_text,
)

DELTA_EVENTS: dict[str, Slot] = {
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
DONE_EVENTS: dict[str, Slot] = {
    name.removesuffix("delta") + "done": slot for name, slot in DELTA_EVENTS.items()
}
TEXT_FIELDS = ("text", "refusal", "arguments", "input", "code", "content")
PART_EVENTS = ("response.content_part", "response.reasoning_summary_part", "response.reasoning_part")
START_EVENTS = ("response.created", "response.queued", "response.in_progress")
END_EVENTS = (
    "response.completed", "response.incomplete", "response.failed", "response.cancelled", "response.done",
)  # fmt: skip
PROGRESS_EVENTS = (
    "in_progress", "searching", "interpreting", "generating", "partial_image", "completed", "failed",
    "keepalive",
)  # fmt: skip
"""Progress of a hosted tool: keep-alives for us."""

INCOMPLETE_REASONS: dict[str, FinishReason] = {"max_output_tokens": "length", "content_filter": "filter"}
UNANSWERABLE_CALLS = (
    "computer_call", "local_shell_call", "shell_call", "apply_patch_call", "mcp_approval_request",
)  # fmt: skip
"""Calls that wait for a result of ours which we cannot give, in addition to `CLIENT_TOOL_KINDS`."""
MAX_SEQUENCE_GAP = 1000
"""A sequence number farther ahead than this is an error of the service."""


class _ResponseEvent(Struct):
    type: str = ""
    delta: Any = None
    sequence_number: int | None = None
    output_index: int | None = None
    content_index: int | None = None
    summary_index: int | None = None
    item_id: str | None = None


_read = msgspec.json.Decoder(_ResponseEvent).decode


class EventSequence:
    """Which events are new: the service numbers them, and a repeated one has the same number."""

    def __init__(self) -> None:
        self.last = -1
        self.last_data = b""
        self._missing: set[int] = set()
        self._is_counted = True

    def is_new(self, number: int, data: bytes) -> bool:
        ahead = number - self.last
        if ahead == 1:
            self.last, self.last_data = number, data
            return True
        if ahead == 0 and data != self.last_data:
            # This service does not count.
            self._is_counted = False
        if ahead <= 0:
            late = number in self._missing
            self._missing.discard(number)
            return late or not self._is_counted
        if ahead <= MAX_SEQUENCE_GAP:
            self._missing.update(range(self.last + 1, number))
        self.last, self.last_data = number, data
        return True


class ResponsesDecoder(Decoder):
    def __init__(self, *, unchained: bool = False) -> None:
        """`unchained`: the history was sent although the service could have stored it."""
        super().__init__()
        self._sequence = EventSequence()
        self._outputs = OutputItems()
        self._effort = ""
        self._slot: Slot | None = None
        self._output_index = -1
        self._words_event = _ResponseEvent()
        """The last event, if others may repeat it with other words."""
        if unchained:
            self._marks.add("chain")

    def _on_event(self, event: SseEvent, out: list[Chunk]) -> None:
        parsed = self._parse(_read, event.data)
        name = parsed.type or event.name
        number = parsed.sequence_number
        new = number is None or self._sequence.is_new(number, event.data)
        slot = DELTA_EVENTS.get(name)
        if slot is None:
            self._on_rare_event(name, parsed, self._parse(read_object, event.data), new, out)
        elif new:
            if not self.started:
                self._begin(None, out)
            self._on_text(slot, parsed, out)

    def _on_text(self, slot: Slot, parsed: _ResponseEvent, out: list[Chunk]) -> None:
        words = parsed.delta if isinstance(parsed.delta, str) else _text_in(parsed.delta)
        if not words:
            return
        if slot == self._slot and parsed.output_index == self._output_index and not self._output.done:
            output = self._output
        else:
            output = self._switch_to(slot, parsed)
        if output.done:
            return
        if not output.streamed:
            self._start_text(output)
        words, part = output.append_text(slot, _part_index(slot, parsed), words, parsed.sequence_number)
        if output.group == "tool":
            self.has_output = True
        else:
            out.append(ReplyDelta(words, output.delta_kind, output.index, part))

    def _start_text(self, output: OutputItem) -> None:
        output.streamed_kind = output.delta_kind
        output.separator = self._outputs.separator_before(output)

    def _words_member(self, event: SseEvent) -> bytes:
        parsed = self._words_event = self._parse(_read, event.data)
        in_order = parsed.sequence_number in (None, self._sequence.last)
        return b"delta" if in_order and parsed.type in DELTA_EVENTS else b""

    def _on_repeated(self, words: str, number: int, whole: bytes, out: list[Chunk]) -> None:
        parsed = self._words_event
        parsed.delta = words
        if parsed.sequence_number is not None:
            parsed.sequence_number = self._sequence.last = number
            self._sequence.last_data = whole[whole.rfind(b"\ndata: ") + 7 : -2]
        self._on_text(DELTA_EVENTS[parsed.type], parsed, out)

    def _switch_to(self, slot: Slot, parsed: _ResponseEvent) -> OutputItem:
        """Remember the item: nearly all words belong to the same one as the last, and need no lookup."""
        self._output = self._output_for(slot, parsed)
        self._slot = slot
        self._output_index = parsed.output_index if parsed.output_index is not None else -1
        return self._output

    # --- the rarer events -----------------------------------------------------------------------------

    def _on_rare_event(
        self, name: str, parsed: _ResponseEvent, event_fields: dict[str, Any], new: bool, out: list[Chunk]
    ) -> None:
        response = get_dict(event_fields, "response")
        if not parsed.type and event_fields.get("object") == "response":
            name, response = "response.done", event_fields
        if name == "error" or (not parsed.type and event_fields.get("error")):
            raise fault_from_error(event_fields)
        self._begin(get_string(response, "id") or None, out)
        if name in END_EVENTS:
            self._on_end(name, response, parsed.sequence_number, out)
        elif name in START_EVENTS:
            self._on_response(response)
        elif name in ("response.output_item.added", "response.output_item.done"):
            self._on_item(name, parsed, get_dict(event_fields, "item"), new, out)
        elif name in DONE_EVENTS:
            self._complete_part(DONE_EVENTS[name], parsed, _text_in(event_fields))
        elif name.rpartition(".")[0] in PART_EVENTS:
            self._on_part(name, parsed, get_dict(event_fields, "part"))
        elif name == "response.output_text.annotation.added":
            if new:
                self._output_for("text", parsed).annotations.append(get_dict(event_fields, "annotation"))
        elif name.rpartition(".")[2] not in PROGRESS_EVENTS:
            self._unread += 1

    def _on_item(
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

    def _on_part(self, name: str, parsed: _ResponseEvent, part: dict[str, Any]) -> None:
        slot = SLOTS.get(get_string(part, "type"))
        if slot is None:
            return
        if name.endswith(".done"):
            self._complete_part(slot, parsed, _text_in(part))
        else:
            number = parsed.sequence_number
            self._output_for(slot, parsed).part(slot, _part_index(slot, parsed), number, announced=True)

    def _complete_part(self, slot: Slot, parsed: _ResponseEvent, text: str) -> None:
        part = self._output_for(slot, parsed).part(slot, _part_index(slot, parsed), parsed.sequence_number)
        part.final_text = text or part.final_text

    def _output_for(self, slot: Slot, parsed: _ResponseEvent) -> OutputItem:
        return self._outputs.get_or_add(
            parsed.output_index, GROUPS[slot], parsed.item_id or "", parsed.sequence_number
        )

    # --- the end --------------------------------------------------------------------------------------

    def _on_response(self, response: dict[str, Any]) -> None:
        self._response_id = get_string(response, "id") or self._response_id
        self._model = get_string(response, "model") or self._model
        self._effort = get_string(response, "reasoning", "effort") or self._effort
        self._service_tier = get_string(response, "service_tier") or self._service_tier
        self._stored = response.get("store") is not False

    def _on_end(self, name: str, response: dict[str, Any], number: int | None, out: list[Chunk]) -> None:
        self._on_response(response)
        status = name.removeprefix("response.")
        if status == "done":
            status = get_string(response, "status") or "completed"
        if status in ("queued", "in_progress"):
            return
        reported = usage(response.get("usage"))
        self._usage = max_usage(self._usage, reported)
        if status in ("failed", "cancelled"):
            self.usage_is_final = reported is not None
        if status == "failed":
            raise fault_from_error(response.get("error") or "failed")
        if status == "cancelled":
            raise Fault("cut", detail="cancelled on the service's side")
        if status == "incomplete":
            for output in self._outputs.all:
                output.incomplete = output.incomplete or not output.done
        self._outputs.finish_all(get_dicts(response, "output"), number)
        self._flush(out)
        reason = get_string(response, "incomplete_details", "reason")
        self._set_finish(self._finish_for(status, reason), reason or status)
        self.over = True

    def _finish_for(self, status: str, reason: str) -> FinishReason:
        if status == "incomplete":
            return INCOMPLETE_REASONS.get(reason, "length")
        if any(output.refused for output in self._outputs.all):
            return "refusal"
        last = max(self._outputs.all, key=lambda output: output.index, default=None)
        waits = last is not None and last.kind in (*CLIENT_TOOL_KINDS, *UNANSWERABLE_CALLS)
        return "tool" if waits else "stop"

    def _flush(self, out: list[Chunk]) -> None:
        for output in sorted(self._outputs.all, key=lambda output: output.index):
            self._emit_item(output, out)

    def _emit_item(self, output: OutputItem, out: list[Chunk]) -> None:
        """Emit an item; a second time only if its content has changed."""
        if not output.streamed:
            self._start_text(output)
        segment = output.finish(self._effort)
        if segment is None:
            return
        if output.group in ("message", "reasoning") and output.streamed_kind == output.delta_kind:
            self._emit_missing(output, visible_text(segment), out)
        out.append(ReplySegment(segment))

    def _emit_missing(self, output: OutputItem, text: str, out: list[Chunk]) -> None:
        """Emit the rest of a text of which a part was streamed. Other words cannot be retracted."""
        streamed = "".join(output.streamed)
        if self._joiner is not None:
            text, streamed = self._joiner.whole(text), self._joiner.whole(streamed)
        if not text.startswith(streamed):
            self._marks.add("mended")
        elif text != streamed:
            output.streamed.append(text[len(streamed) :])
            out.append(ReplyDelta(output.streamed[-1], output.delta_kind, output.index))


def usage(reported: Any) -> Usage | None:
    """None if all are zero: some services send that when a reply is cut off."""
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


def _part_index(slot: Slot, parsed: _ResponseEvent) -> int:
    return (parsed.summary_index if slot == "summary" else parsed.content_index) or 0


def _text_in(data: Any) -> str:
    """The text in an object, under any of its names."""
    return next((text for name in TEXT_FIELDS if (text := get_string(data, name))), "")
