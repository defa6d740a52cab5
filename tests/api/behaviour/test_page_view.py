"""The view of the page: what is hidden from whom, which actions are offered, and no needless updates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
import pytest

from moot.api.page_view.sections import view
from moot.api.page_view.view_frames import ViewFrames
from moot.core.events import DraftKept, Recorded
from moot.core.state import Debate
from moot.core.visibility import Viewer
from tests.api.viewers import viewers
from tests.api.watching import NAMES, watch
from tests.golden.reading import log_of
from tests.rules.random_debates import law, thought_canary
from tests.rules.simulate import Simulation

ENCODER = msgspec.json.Encoder(decimal_format="number")


THOUGHT = thought_canary(1).partition("<")[0] + "<"


def told(records: Sequence[Recorded], viewer: Viewer) -> str:
    """All that this viewer is ever told, and what it adds up to."""
    dialect, seen = ViewFrames(viewer), watch(records, viewer)
    frames = [frame.data for one in seen for frame in dialect.frames(one)]
    grown: dict[str, str] = {}
    for verb, path, value in (op for frame in frames for op in frame["ops"]):
        if verb == "add":
            grown[str(path)] = grown.get(str(path), "") + value
    return ENCODER.encode([frames, list(grown.values()), view(seen[-1].after, viewer)]).decode()


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
    if viewer.role in ("participant", "judge") or not (viewer.privileged or debate.setup.show_reasoning):
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
