"""Whose models are looked up before a debate costs anything, and what a certain fault leads to."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from moot.core.events import DebateFailed, DebateResumed, TurnInterrupted
from moot.core.state import Debate
from moot.core.terms import HUMAN, DebateLimits, DebateSetup, Judge, Model
from moot.rules.commands import Retry
from moot.rules.model_checks import fail_unusable, models_to_check
from moot.testing.event_factories import table
from tests.rules.simulate import Simulation, speak

OWL = Model("openai", "gpt-6")
REJECTED = "OpenAI rejected OPENAI_API_KEY (401)."


def begun(**changes: Any) -> Simulation:
    opening = replace(table("free", limits=DebateLimits(1, turns=2)), **changes)
    return Simulation(opening, speak).start()


def judged_by(*models: Model) -> tuple[Judge, ...]:
    return tuple(Judge(f"judge_{number}", f"Judge {number}", model) for number, model in enumerate(models, 1))


def labels(debate: Debate) -> list[str]:
    return [model.label for model in models_to_check(debate)]


def test_each_model_of_seats_and_judges_is_looked_up_once() -> None:
    simulation = begun(judges=judged_by(OWL, OWL, Model(HUMAN, "ann")))
    assert labels(simulation.debate).count("openai/gpt-6") == 1
    assert "human/ann" not in labels(simulation.debate)
    assert len(set(labels(simulation.debate))) == len(labels(simulation.debate))


def test_nobody_is_looked_up_where_no_judge_is_asked_or_a_speech_has_begun() -> None:
    by_hand = begun(judges=judged_by(OWL), setup=DebateSetup(winning="user-decides"))
    assert "openai/gpt-6" not in labels(by_hand.debate)
    spoken = begun(judges=judged_by(OWL)).run_until(lambda debate: bool(debate.live))
    assert labels(spoken.debate) == []


def test_a_certain_fault_cuts_the_first_speech_and_names_whose_model_it_is() -> None:
    simulation = begun(judges=judged_by(OWL)).run_until(lambda debate: bool(debate.live))
    cut, failed = fail_unusable(simulation.debate, {"openai/gpt-6": REJECTED})
    assert cut == TurnInterrupted(1, "unusable")
    assert failed == DebateFailed("permanent_fault", f"Judge 1: {REJECTED}")
    assert fail_unusable(simulation.debate, {"openai/gpt-5": REJECTED}) == ()


def test_it_comes_too_late_once_somebody_has_spoken() -> None:
    simulation = begun(judges=judged_by(OWL)).run_until(lambda debate: debate.has_speeches)
    assert fail_unusable(simulation.debate, {"openai/gpt-6": REJECTED}) == ()


def test_a_debate_that_failed_before_anybody_spoke_can_be_tried_again() -> None:
    failed = replace(begun().debate, status="error", failure="permanent_fault")
    assert Retry().decide(failed) == (DebateResumed(None),)
