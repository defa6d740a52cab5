"""Scenes of debates in which every turn is asked for: one held here, and one that was begun elsewhere."""

from __future__ import annotations

from collections.abc import Callable

from moot.core.events import DebateOpened
from moot.core.terms import FREE, DebateSetup, Model, Seat
from moot.extensions.turn_sessions.rows import session_events
from moot.extensions.turn_sessions.turns import FORMAT, UNASSIGNED_MODEL, AskTurn
from moot.rules.commands import DecideWinner, PauseDebate, Start, Stop
from moot.testing.event_factories import opened
from tests.rules.simulate import Reply, Sent, Simulation, speak

A, B = (Model("scripted", name, effort="high", price=FREE) for name in ("owl", "heron"))
OPENING = opened(
    format=FORMAT,
    seats=(Seat("part_1", "AFFIRMATIVE", "for", A), Seat("part_2", "NEGATIVE", "against", UNASSIGNED_MODEL)),
    judges=(),
    setup=DebateSetup(winning="user-decides"),
)
ROW = {
    "id": "debate_1760443200000_k3x9",
    "topic_text": "AI will replace most human jobs by 2040",
    "model1_id": "owl",
    "model2_id": "heron",
    "adversarial_level": 3,
    "turn_history": [
        {
            "turn": turn,
            "modelId": ("heron", "owl")[turn % 2],
            "content": f"What was said elsewhere in turn {turn}.",
            "reasoning": "Weighed elsewhere.",
            "responseId": f"resp_elsewhere_{turn}",
            "cost": 0.0125,
        }
        for turn in (1, 2, 3)
    ],
    "model1_response_ids": ["resp_elsewhere_1", "resp_elsewhere_3"],
    "model2_response_ids": ["resp_elsewhere_2"],
    "total_cost": 0.0375,
    "created_at": "2025-10-14T12:00:00",
    "updated_at": "2025-10-14T12:05:00.5",
}


def thoughtful(sent: Sent) -> Reply:
    if sent.call == 3:
        return Reply(fault="bad_key", severity="permanent")
    return Reply(speak(sent).text, reasoning=f"Thinking about call {sent.call}.", items=True)


def asked_for(debate_id: str) -> Simulation:
    """The third turn fails and is asked for again, the fourth is cut and asked for again."""
    held = Simulation(OPENING, thoughtful, debate_id)
    held.ask(Start("turn"))
    held.run()
    for slot in (1, 2, 2):
        held.ask(AskTurn(slot, (A, B)[slot % 2], by="Ann"))
        held.run()
    held.ask(AskTurn(3, B))
    held.run_until(lambda debate: any(turn.text for turn in debate.live))
    held.ask(PauseDebate(now=True, by="Ann"))
    held.run()
    held.ask(AskTurn(3, B))
    held.run()
    held.ask(DecideWinner("part_2", "It was the clearer one."))
    return held.run()


def brought(debate_id: str) -> Simulation:
    beginning, *rest = session_events(ROW, lambda name: A if name == "owl" else B)
    assert isinstance(beginning, DebateOpened)
    held = Simulation(beginning, speak, debate_id)
    held.write(rest)
    held.ask(AskTurn(3, B, "resp_elsewhere_2"))
    held.run()
    held.ask(Stop("Enough."))
    return held.run()


SESSIONS: dict[str, Callable[[str], Simulation]] = {"asked-for": asked_for, "brought": brought}
