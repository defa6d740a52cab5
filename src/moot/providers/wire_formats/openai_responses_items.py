"""The items of a response in the Responses format: words come in by parts, in the end each is a segment.

An item is sent several times: when it is added, when it is done, and at the end of the response. The last
version takes precedence over the streamed words, which count only if it has none. Parts are kept apart
because services number them, and because thoughts come in paragraphs. A message that the model marks as
commentary, on the way to its answer, is reasoning; one that follows another message begins a new paragraph.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, cast

from moot.core.segments import BETWEEN, paragraph_break
from moot.core.terms import DeltaKind, PartStart, Reasoning, ReasoningPart, Text, ToolCall, UnknownItem
from moot.providers.lenient_json import as_text, get_dicts, get_string

Slot = Literal["text", "refusal", "summary", "thought", "input"]
Group = Literal["message", "reasoning", "tool", "unknown"]
ItemSegment = Text | Reasoning | ToolCall | UnknownItem

GROUPS: dict[Slot, Group] = {
    "text": "message",
    "refusal": "message",
    "summary": "reasoning",
    "thought": "reasoning",
    "input": "tool",
}
SLOTS: dict[str, Slot] = {
    "output_text": "text",
    "refusal": "refusal",
    "summary_text": "summary",
    "reasoning_text": "thought",
}
ARGUMENT_FIELDS = ("arguments", "input", "code", "action", "actions", "operation", "queries")
OUTPUT_FIELDS = ("output", "outputs", "results", "result", "tools")
TOOLS = frozenset({
    "function_call", "custom_tool_call", "computer_call", "local_shell_call", "shell_call",
    "apply_patch_call", "web_search_call", "file_search_call", "code_interpreter_call",
    "image_generation_call", "tool_search_call", "mcp_call", "mcp_list_tools", "mcp_approval_request",
})  # fmt: skip
COMMENTARY = "commentary"
EMPTY: tuple[object, ...] = (None, "", [], {})


class ItemPart:
    def __init__(self, slot: Slot, index: int, number: int | None) -> None:
        self.slot: Slot = slot
        self.index = index
        self.number = number
        """The sequence number of the event that opened it."""
        self.final_text: str | None = None
        """The final text, as the service sent it."""
        self.texts: list[str] = []
        self.numbers: list[int] = []

    @property
    def text(self) -> str:
        if self.final_text is not None:
            return self.final_text
        if self.numbers == sorted(self.numbers):
            return "".join(self.texts)
        ordered = sorted(zip(self.numbers, self.texts, strict=True), key=lambda pair: pair[0])
        return "".join(words for _number, words in ordered)


class OutputItem:
    """`index` is that of its segment: the service's `output_index` if that is free."""

    def __init__(self, group: Group, index: int, item_id: str, number: int | None) -> None:
        self.group: Group = group
        self.index = index
        self.id = item_id
        self.number = number
        self.item: dict[str, Any] = {}
        """All fields sent so far."""
        self.raw: dict[str, Any] = {}
        """As it was sent last."""
        self.done = False
        self.is_commentary = False
        self.incomplete = False
        """The response ended before it was done."""
        self.separator = ""
        """Before the text of a message that follows another one."""
        self.streamed: list[str] = []
        """The words as viewers have them."""
        self.streamed_kind: DeltaKind | None = None
        self.annotations: list[dict[str, Any]] = []
        self._parts: list[ItemPart] = []
        self._current_part: ItemPart | None = None
        self._last_segment: ItemSegment | None = None

    @property
    def kind(self) -> str:
        return get_string(self.item, "type") or self.group

    @property
    def refused(self) -> bool:
        return any(part.slot == "refusal" for part in self._parts) or any(
            get_string(part, "refusal") for part in get_dicts(self.item, "content")
        )

    @property
    def delta_kind(self) -> DeltaKind:
        return "reasoning" if self.group == "reasoning" or self.is_commentary else "text"

    def could_be(self, item: dict[str, Any]) -> bool:
        kind = get_string(item, "type")
        return self.kind == kind if self.item else self.group == group_of(kind)

    def update(self, item: dict[str, Any], *, done: bool) -> None:
        """Take a later version of the item: its fields replace earlier ones unless they are empty."""
        values = {name: value for name, value in item.items() if value not in EMPTY}
        if not done:
            # Thoughts encrypted when the item is added are incomplete.
            values.pop("encrypted_content", None)
        self.item |= values
        self.raw = item
        self.id = get_string(values, "id") or self.id
        self.is_commentary = get_string(self.item, "phase") == COMMENTARY and not self.refused
        self.done = self.done or done
        self.incomplete = self.incomplete or (done and get_string(item, "status") == "incomplete")

    def append_text(
        self, slot: Slot, index: int, words: str, number: int | None
    ) -> tuple[str, PartStart | None]:
        """Add words. Returns them as they are to be streamed, and with the first words of a part its ids.

        A new part of a thought begins a paragraph.
        """
        last = part = self._current_part
        if part is None or part.slot != slot or part.index != index:
            part = self._current_part = self.part(slot, index, number)
        part.texts.append(words)
        part.numbers.append(number or 0)
        if part is last:
            self.streamed.append(words)
            return words, None
        if last is not None and self.group == "reasoning":
            words = BETWEEN + words
        if last is None:
            words = self.separator + words
        self.streamed.append(words)
        return words, self._start(part) if last is None or self.group == "reasoning" else None

    def _start(self, part: ItemPart) -> PartStart | None:
        """None if the service neither names nor numbers its items."""
        start = PartStart(self.id, self.number)
        if self.group == "reasoning":
            start = PartStart(self.id, self.number, part.index, part.number)
        return None if start == PartStart() else start

    def part(self, slot: Slot, index: int, number: int | None, *, announced: bool = False) -> ItemPart:
        """The part with this index, or a new one."""
        for part in self._parts:
            if part.slot == slot and part.index == index:
                return part
        last = self._current_part
        if last and last.slot == slot != "summary" and last.final_text is None and not announced:
            # Some servers raise the index with every word: without an end or a start there is no new part.
            last.index = index
            return last
        self._parts.append(ItemPart(slot, index, number))
        return self._parts[-1]

    # --- the segment ---------------------------------------------------------------------------------

    def finish(self, effort: str) -> ItemSegment | None:
        """The segment; None if it was made before and its content has not changed."""
        last, self._last_segment = self._last_segment, self._make(effort)
        return (
            self._last_segment
            if last is None or _content_of(last) != _content_of(self._last_segment)
            else None
        )

    def _make(self, effort: str) -> ItemSegment:
        match self.group:
            case "message":
                return self._message()
            case "reasoning":
                return self._reasoning(effort)
            case "tool":
                return self._tool()
            case "unknown":
                return UnknownItem(self.kind, self.raw, self.index, self.id, self.number)

    def _message(self) -> Text | Reasoning:
        content = get_dicts(self.item, "content")
        text = "".join(get_string(part, "text") or get_string(part, "refusal") for part in content)
        notes = [note for part in content for note in get_dicts(part, "annotations")]
        text = text or "".join(part.text for part in self._in_order("text", "refusal"))
        if self.is_commentary:
            parts = (ReasoningPart(text),) if text else ()
            return Reasoning(
                parts, self.index, self.id, self.number, phase=COMMENTARY, incomplete=self.incomplete
            )
        return Text(
            self.separator + text if text else "",
            self.index,
            self.id,
            self.number,
            phase=get_string(self.item, "phase"),
            annotations=tuple(notes or self.annotations),
        )

    def _reasoning(self, effort: str) -> Reasoning:
        return Reasoning(
            (*self._reasoning_parts("summary", "summary"), *self._reasoning_parts("thought", "content")),
            self.index,
            self.id,
            self.number,
            effort=effort,
            opaque=get_string(self.item, "encrypted_content"),
            incomplete=self.incomplete,
        )

    def _reasoning_parts(self, slot: Slot, name: str) -> list[ReasoningPart]:
        known = self._in_order(slot)
        texts = [get_string(part, "text") for part in get_dicts(self.item, name)]
        if not any(texts):
            return [ReasoningPart(part.text, part.index, part.number) for part in known if part.text]
        numbers = {index: part.number for index, part in enumerate(known)}
        return [ReasoningPart(text, index, numbers.get(index)) for index, text in enumerate(texts) if text]

    def _tool(self) -> ToolCall:
        failed = "failed" if get_string(self.item, "status") == "failed" else ""
        streamed = "".join(part.text for part in self._in_order("input"))
        return ToolCall(
            id=get_string(self.item, "call_id") or self.id,
            name=get_string(self.item, "name") or self.kind,
            arguments=_first_text(self.item, ARGUMENT_FIELDS) or streamed,
            index=self.index,
            item_id=self.id,
            sequence_number=self.number,
            kind=self.kind,
            status=get_string(self.item, "status"),
            output=_first_text(self.item, OUTPUT_FIELDS),
            server=get_string(self.item, "server_label"),
            error=as_text(self.item.get("error")) or failed,
        )

    def _in_order(self, *slots: Slot) -> list[ItemPart]:
        return sorted((part for part in self._parts if part.slot in slots), key=lambda part: part.index)


class OutputItems:
    """The items of one response, identified by `output_index`, not by id: some services change ids.

    Some leave the index out, and some give every item the same; then the id decides, or the order.
    """

    def __init__(self) -> None:
        self.all: list[OutputItem] = []
        self._by_index: dict[tuple[int | None, Group], OutputItem] = {}

    def get_or_add(
        self, output_index: int | None, group: Group, item_id: str, number: int | None
    ) -> OutputItem:
        """The item of an event; a new one if this is its first event."""
        return self._find(output_index, group, item_id) or self._new(output_index, group, item_id, number)

    def start_item(
        self, output_index: int | None, group: Group, item_id: str, number: int | None
    ) -> OutputItem:
        """An item begins; its first words may have come before."""
        known = self._find(output_index, group, item_id)
        if known is None or known.done:
            return self._new(output_index, group, item_id, number)
        known.number = number
        return known

    def separator_before(self, output: OutputItem) -> str:
        """A paragraph break, if this is a message for the audience that follows another one."""
        if output.group != "message" or output.is_commentary:
            return ""
        before = [
            other
            for other in self.all
            if other.group == "message" and not other.is_commentary and other.index < output.index
        ]
        if any(not (other.done or other.streamed) for other in before):
            # Its text is still to come.
            return BETWEEN
        before.sort(key=lambda other: other.index)
        return paragraph_break("".join(words for other in before for words in other.streamed))

    def finish_all(self, items: Iterable[dict[str, Any]], number: int | None) -> None:
        """Complete the items from the whole response.

        A known id identifies an item for certain; an unknown one says nothing. Some services omit items.
        """
        claimed: set[OutputItem] = set()
        for output_index, item in enumerate(items):
            group = group_of(get_string(item, "type"))
            if group is None:
                continue
            open_to = [output for output in self.all if output not in claimed and output.could_be(item)]
            named = [output for output in open_to if output.id and output.id == item.get("id")]
            same_index = [output for output in open_to if output is self._by_index.get((output_index, group))]
            output = next(iter(named or same_index or open_to), None)
            output = output or self._new(output_index, group, "", number)
            output.update(item, done=True)
            claimed.add(output)

    def _find(self, output_index: int | None, group: Group, item_id: str) -> OutputItem | None:
        if output_index is not None and (known := self._by_index.get((output_index, group))):
            return known
        alike = [output for output in reversed(self.all) if output.group == group]
        if item_id:
            return next((output for output in alike if output.id == item_id), None)
        return next((output for output in alike if not output.done), None) if output_index is None else None

    def _new(self, output_index: int | None, group: Group, item_id: str, number: int | None) -> OutputItem:
        taken = {output.index for output in self.all}
        index = (
            output_index
            if output_index is not None and output_index not in taken
            else max(taken, default=-1) + 1
        )
        output = OutputItem(group, index, item_id, number)
        self.all.append(output)
        if output_index is not None:
            self._by_index[output_index, group] = output
        return output


def group_of(kind: str) -> Group | None:
    """None for an item without content for us, such as a compacted history."""
    if kind in ("message", "reasoning"):
        return cast("Group", kind)
    if kind in TOOLS:
        return "tool"
    return "unknown" if kind and kind != "compaction" else None


def visible_text(segment: ItemSegment) -> str:
    """The text of it that viewers see."""
    return segment.text if isinstance(segment, Text | Reasoning) else ""


def _content_of(segment: ItemSegment) -> tuple[str, str]:
    match segment:
        case Text():
            return segment.text, ""
        case Reasoning():
            # The same thoughts are encrypted anew each time they are sent.
            return segment.text, f"encrypted: {bool(segment.opaque)}, incomplete: {segment.incomplete}"
        case ToolCall():
            return segment.arguments, segment.output + segment.error
        case UnknownItem():
            return as_text(segment.item), ""


def _first_text(item: dict[str, Any], names: Iterable[str]) -> str:
    """The first of these fields that is not empty: text as it is, other values as JSON."""
    return as_text(next((item[name] for name in names if item.get(name)), None))
