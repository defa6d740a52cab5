"""The debate and the requests of most tests of prompts."""

from __future__ import annotations

from typing import Any

from moot.core.terms import Request
from moot.prompts.speech_prompts import turn_request
from moot.testing.event_factories import table
from tests.rules.simulate import Simulation, speeches


def speaking(turn: int, *texts: str, **changes: Any) -> Simulation:
    opening = table(changes.pop("format", "oxford"), **changes)
    return Simulation(opening, speeches(*texts)).start().run_until(lambda d: d.is_live(turn))


def request(simulation: Simulation) -> Request:
    debate = simulation.debate
    return turn_request(debate, debate.live[0])
