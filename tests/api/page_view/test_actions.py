"""Which actions the page offers, and to whom."""

from __future__ import annotations

import pytest

from moot.api.page_view.actions import _is_open as is_open  # pyright: ignore[reportPrivateUsage]
from moot.api.page_view.actions import open_actions
from moot.api.page_view.sections import SECTIONS, view
from moot.core.events import CallDelta, SegmentCompleted
from moot.core.terms import HUMAN, Model
from moot.core.visibility import OWNER, visible_state
from moot.rules.commands import PauseDebate, ResumeDebate
from moot.rules.participation import AnswerPoint, GiveSpeech, LeaveSeat, OfferPoint, TakeSeat
from moot.testing.event_factories import seats, table
from tests.api.viewers import viewers
from tests.api.watching import NAMES, watch
from tests.golden.reading import log_of
from tests.rules.random_debates import law
from tests.rules.simulate import Simulation, speak

AT_A_SEAT = {
    "take": TakeSeat,
    "leave": LeaveSeat,
    "say": lambda seat: GiveSpeech(seat, "?"),
    "point": lambda seat: OfferPoint(seat, "?"),
    "answer": lambda seat: AnswerPoint(seat, accept=True),
}


@law(examples=10)
def test_a_button_is_there_exactly_when_it_would_do_something(simulation: Simulation) -> None:
    """Trying every deed at every seat finds no more than the short way does."""
    states = simulation.states
    for state in states[:: max(1, len(states) // 20)]:
        every = {
            f"{name}:{seat.id}"
            for name, at in AT_A_SEAT.items()
            for seat in state.seats
            if is_open(state, at(seat.id))
        }
        assert every == {deed for deed in open_actions(state) if deed.partition(":")[0] in AT_A_SEAT}


@pytest.mark.parametrize("name", NAMES)
def test_streamed_text_never_changes_what_may_be_done(name: str) -> None:
    records = log_of(name)
    debate = watch(records)[-1].after
    for viewer in viewers(debate)[:4]:
        for recorded, one in zip(records, watch(records, viewer), strict=True):
            if one.before is None or not isinstance(recorded.event, CallDelta | SegmentCompleted):
                continue
            assert one.before.unstreamed_seq == one.after.unstreamed_seq
            before, after = visible_state(one.before, viewer), visible_state(one.after, viewer)
            assert open_actions(before) == open_actions(after), recorded.seq
            assert SECTIONS["now"].make(before, viewer) == SECTIONS["now"].make(after, viewer), recorded.seq


def test_while_a_debate_is_paused_one_may_step() -> None:
    debate = Simulation(table("oxford"), speak).start()
    debate.run_until(lambda d: bool(d.live))
    assert not {"step", "resume"} & {*open_actions(debate.debate)}
    debate.ask(PauseDebate())
    debate.run()
    assert {"step", "resume"} <= {*open_actions(debate.debate)}
    debate.ask(ResumeDebate("turn"))
    debate.run_until(lambda d: bool(d.live))
    assert view(debate.debate, OWNER)["now"]["pausing"]
    assert view(debate.debate, OWNER)["now"]["step"] is None


def test_a_person_speaks_in_a_step_and_no_clock_runs() -> None:
    table_ = table("oxford", seats=seats("for", "against", model=Model(HUMAN, HUMAN)))
    debate = Simulation(table_, speak).start()
    debate.ask(PauseDebate())
    debate.ask(ResumeDebate("turn"))
    debate.run()
    first = debate.debate.live[0].seat
    assert debate.debate.status == "paused"
    assert f"say:{first}" in open_actions(debate.debate)
    assert view(debate.debate, OWNER)["turns"]["1"]["endsAt"] is None
    debate.ask(GiveSpeech(first, "Coffee wakes."))
    assert [turn.state for turn in debate.debate.turns] == ["completed"]
