"""The view of the page: what is hidden from whom, which actions are offered, and no needless updates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

import msgspec
import pytest

from moot.api.page_view.actions import _is_open as is_open  # pyright: ignore[reportPrivateUsage]
from moot.api.page_view.actions import open_actions
from moot.api.page_view.sections import SECTIONS, view
from moot.api.page_view.view_frames import ViewFrames, patches
from moot.core.events import CallDelta, DraftKept, Recorded, SegmentCompleted, TurnCompleted
from moot.core.state import Debate
from moot.core.terms import HUMAN, Model, Reasoning, ReasoningPart, Text
from moot.core.visibility import OBSERVER, OWNER, Viewer, visible_state
from moot.rules.commands import PauseDebate, ResumeDebate
from moot.rules.participation import AnswerPoint, GiveSpeech, LeaveSeat, OfferPoint, TakeSeat
from moot.testing.event_factories import seats, table
from tests.api.watching import NAMES, watch
from tests.golden.reading import log_of
from tests.rules.random_debates import law, thought_canary
from tests.rules.simulate import Simulation, speak
from tests.views.logs import Log

ENCODER = msgspec.json.Encoder(decimal_format="number")
THOUGHT = thought_canary(1).partition("<")[0] + "<"
AT_A_SEAT = {
    "take": TakeSeat,
    "leave": LeaveSeat,
    "say": lambda seat: GiveSpeech(seat, "?"),
    "point": lambda seat: OfferPoint(seat, "?"),
    "answer": lambda seat: AnswerPoint(seat, accept=True),
}


def told(records: Sequence[Recorded], viewer: Viewer) -> str:
    """All that this viewer is ever told, and what it adds up to."""
    dialect, seen = ViewFrames(viewer), watch(records, viewer)
    frames = [frame.data for one in seen for frame in dialect.frames(one)]
    grown: dict[str, str] = {}
    for verb, path, value in (op for frame in frames for op in frame["ops"]):
        if verb == "add":
            grown[str(path)] = grown.get(str(path), "") + value
    return ENCODER.encode([frames, list(grown.values()), view(seen[-1].after, viewer)]).decode()


def viewers(debate: Debate) -> tuple[Viewer, ...]:
    return OWNER, OBSERVER, Viewer("judge"), *(Viewer("participant", seat.id) for seat in debate.seats)


def kept_from(debate: Debate, records: Sequence[Recorded], viewer: Viewer) -> Iterator[tuple[str, str]]:
    """What this viewer must never be told."""
    mine = viewer.seat
    for seat in debate.seats:
        if not viewer.privileged and seat.id != mine:
            yield "an objective", seat.objective
        yield "a prompt", seat.system_prompt
    taken = {point.text for point in debate.points if point.accepted}
    for aside in debate.asides:
        asked = aside.seat == mine or viewer.privileged or aside.text in taken
        # Whoever speaks is told what the point would be, and takes it or not.
        offered = debate.turn(aside.turn or 0) if aside.kind == "point" else None
        if (
            aside.kind not in ("referee", "persona_vote")
            and not asked
            and (offered is None or offered.seat != mine)
        ):
            yield "an aside", aside.text
    for remark in debate.remarks:
        if remark.to not in (None, mine) and not (viewer.privileged or remark.question):
            yield "a remark", remark.text
    asking = {remark.by for remark in debate.remarks}
    yield from (("a voter", vote.voter) for vote in debate.votes if vote.voter not in asking)
    said = "\n".join(turn.text for turn in debate.turns)
    for recorded in records:
        event = recorded.event
        if isinstance(event, DraftKept) and event.seat != mine and event.text not in said:
            yield "a draft", event.text
    if viewer.role in ("participant", "judge") or not (viewer.privileged or debate.manner.show_reasoning):
        for turn in debate.turns:
            yield "a thought", turn.reasoning
        for aside in debate.asides:
            yield from (("a belief", f"{100 * chance:.0f} %") for chance in aside.chances.values())


@pytest.mark.parametrize("name", NAMES)
def test_no_golden_log_tells_anybody_what_is_not_for_them(name: str) -> None:
    records = log_of(name)
    debate = watch(records)[-1].after
    for viewer in viewers(debate)[1:4]:
        text = told(records, viewer)
        for what, secret in kept_from(debate, records, viewer):
            assert not secret or msgspec.json.encode(secret).decode()[1:-1] not in text, (what, viewer)


@law(examples=10)
def test_no_debate_tells_anybody_what_is_not_for_them(simulation: Simulation) -> None:
    debate = simulation.debate
    for viewer in viewers(debate)[:5]:
        text = told(simulation.records, viewer)
        for what, secret in kept_from(debate, simulation.records, viewer):
            assert not secret or msgspec.json.encode(secret).decode()[1:-1] not in text, (what, viewer)
        if viewer.role in ("participant", "judge"):
            assert THOUGHT not in text
        assert "voter<" not in text


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


@pytest.mark.parametrize("name", NAMES)
def test_frames_do_not_depend_on_what_was_framed_before(name: str) -> None:
    """Sections are kept from event to event; a page of earlier events may be framed in between."""
    records = log_of(name)
    for viewer in viewers(watch(records)[-1].after)[:4]:
        seen = watch(records, viewer)
        fresh = [ViewFrames(viewer).frames(one) for one in seen]
        dialect, dice = ViewFrames(viewer), Random(name)
        assert [dialect.frames(one) for one in seen] == fresh
        for start in dice.choices(range(len(seen)), k=10):
            assert [dialect.frames(one) for one in seen[start : start + 10]] == fresh[start : start + 10]


def test_what_is_sealed_is_not_counted_for_anybody() -> None:
    records = log_of("oxford-swing")
    for one in watch(records, OWNER):
        polls = view(one.after, OWNER)["polls"]
        if one.after.polls and any(poll.closed_at is None for poll in one.after.polls):
            assert polls["result"] is None


def test_judges_read_nobodys_ballot() -> None:
    records = log_of("people")
    for one in watch(records, Viewer("judge")):
        shape = view(one.after, Viewer("judge"))
        assert shape["bench"] == {}
        for verdict in shape["verdicts"].values():
            assert [verdict[name] for name in ("ballots", "opinions", "leanings")] == [[], [], []]


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


# --- differences ----------------------------------------------------------------------------------------


def test_what_has_grown_is_added_and_what_is_gone_is_put_anew() -> None:
    old = {"turns": {"1": {"text": "So", "flags": []}, "2": {"text": ""}}, "now": {"open": ["pause"]}}
    new = {"turns": {"1": {"text": "So it", "flags": ["a"]}, "2": {"text": "x"}}, "now": {"open": []}}
    assert list(patches(old, new)) == [
        ("add", ("turns", "1", "text"), " it"),
        ("put", ("turns", "1", "flags"), ["a"]),
        ("put", ("turns", "2", "text"), "x"),
        ("put", ("now", "open"), []),
    ]
    assert list(patches(old, {**old, "turns": {"2": {"text": ""}}})) == [
        ("put", ("turns",), {"2": {"text": ""}})
    ]
    assert list(patches(old, old)) == []


def test_thoughts_are_separated_while_they_come_as_they_are_afterwards() -> None:
    log = Log().start()
    turn = log.begin("for")
    call = log.debate.live[0].call
    thoughts = ((0, "Begin "), (0, "with risk."), (1, "Then "), (1, "cost."), (3, "Hm."))
    log.add(*(CallDelta(call, segment, "reasoning", text) for segment, text in thoughts))
    dialect, seen = ViewFrames(OWNER), watch(log.records, OWNER)
    ops = [op for one in seen for frame in dialect.frames(one) for op in frame.data["ops"]]
    added = "".join(value for verb, path, value in ops if verb == "add" and path[-1] == "reasoning")
    live = view(log.debate, OWNER)["turns"][str(turn)]["reasoning"]
    assert live == added == "Begin with risk.\n\nThen cost.\n\nHm."
    texts = {0: "Begin with risk.", 1: "Then cost.", 3: "Hm."}
    parts = [Reasoning((ReasoningPart(text),), index) for index, text in texts.items()]
    encrypted = Reasoning((), 2, opaque="sealed", redacted=True)
    log.add(*(SegmentCompleted(call, part) for part in (*parts, encrypted, Text("So.", 4))))
    assert view(log.debate, OWNER)["turns"][str(turn)]["reasoning"] == live
    log.add(TurnCompleted(turn, 1))
    assert view(log.debate, OWNER)["turns"][str(turn)]["reasoning"] == live
