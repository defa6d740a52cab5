"""Short debates for judges, and replies of a judge."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from moot import formats
from moot.core.state import Debate
from moot.core.terms import DebateLimits, Format, Judge, Request
from moot.judging.judge_request import judge_request
from moot.testing.event_factories import SCRIPTED, table
from tests.rules.simulate import Simulation, speak, speeches

LATER = Judge("later", "Later", SCRIPTED)


def debated(*texts: str, **changes: Any) -> Debate:
    """A debate with these speeches, up to its judging."""
    opening = replace(table("free", limits=DebateLimits(1, turns=len(texts) or 2)), **changes)
    return Simulation(opening, speeches(*texts)).start().run_until(lambda d: d.status == "judging").debate


def asked(debate: Debate, order: int = 0) -> Request:
    return judge_request(debate, debate.judges[0], order)


def sides() -> Format:
    """A free debate that sides win, and not seats."""
    return replace(formats.load("free"), parties="sides")


def ended(**changes: Any) -> Simulation:
    return Simulation(table("free", limits=DebateLimits(1, turns=2), **changes), speak).start().run()


state_of_two = debated("One.", "Two.")
