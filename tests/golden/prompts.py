"""A debate as its models see it: the order of the speeches, and every word that they are sent.

What a seat was sent before is not repeated: requests begin as the one before did, and only what is new is
shown. Judges are sent the whole at once.
"""

from __future__ import annotations

from collections.abc import Iterator

from moot.core.state import Debate
from moot.core.terms import ChatMessage, Reasoning, Segment, Text, ToolCall, ToolResult
from tests.rules.simulate import Sent, Simulation

RULE = "=" * 100


def prompts(simulation: Simulation) -> str:
    return "\n".join([*_order(simulation.debate), *_sent(simulation), ""])


def _order(debate: Debate) -> Iterator[str]:
    yield f"{debate.format.title}: the order of the speeches"
    yield ""
    for slot in debate.schedule:
        phase = debate.phase(slot.index)
        to = f" to {slot.to}" if slot.to else ""
        words = f"{debate.word_budget(slot.index)} words"
        skipped = " (falls out)" if slot.index in debate.skipped else ""
        yield f"{slot.round:>2}  {phase.key:<18}{slot.seat}{to:<6} {slot.tone:<13}{words}{skipped}"


def _sent(simulation: Simulation) -> Iterator[str]:
    told: dict[str, tuple[str, tuple[ChatMessage, ...]]] = {}
    for sent in simulation.sent:
        reader, title = _reader(sent)
        instructions, before = told.get(reader, ("", ()))
        request = sent.request
        known = len(before) if request.messages[: len(before)] == before else 0
        yield from ("", RULE, f"call {sent.call}, {title}")
        if request.instructions != instructions:
            yield from ("--- instructions", request.instructions)
        for message in request.messages[known:]:
            yield from (f"--- {message.role}", message.content)
        if request.prefill:
            yield from ("--- first words", request.prefill)
        for part in request.exchange:
            yield from _exchanged(part)
        told[reader] = request.instructions, request.messages


def _exchanged(part: Segment) -> Iterator[str]:
    match part:
        case ToolCall():
            yield from (f"--- asked {part.name}", part.arguments)
        case ToolResult():
            yield from ("--- was given", part.output)
        case Text() | Reasoning():
            yield from ("--- said" if isinstance(part, Text) else "--- thought", part.text)
        case _:
            pass


def _reader(sent: Sent) -> tuple[str, str]:
    """Who reads it, and what it is for."""
    debate, purpose = sent.debate, sent.purpose
    if aside := debate.aside(purpose.aside or 0):
        asked = aside.judge or aside.seat
        return f"aside {asked}", f"asked aside of {asked}: {aside.kind}"
    if purpose.judge is not None:
        order = "the other way round" if purpose.order else "as they sit"
        again = ", once more" if purpose.repair else ""
        return f"{purpose.judge} {purpose.order}", f"to the judge {purpose.judge}, the seats {order}{again}"
    turn = debate.turn(purpose.turn or 0)
    assert turn is not None
    return turn.seat, f"turn {turn.number}, seat {turn.seat}: {turn.phase}, {turn.tone}"
