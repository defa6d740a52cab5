"""What those who watch a log are told."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from moot.api.frames import Dialect, Frame, NativeFrames, SeenEvent, as_message, frame_id
from moot.api.v1.stream_frames import V1Frames
from moot.core.events import Event, Recorded
from moot.core.evolve import evolve
from moot.core.state import Debate
from moot.core.visibility import OBSERVER, Viewer, seen_event
from tests.golden.reading import HERE as GOLDEN

HERE = Path(__file__).parent / "snapshots"
NAMES = sorted(path.stem for path in GOLDEN.glob("*.jsonl"))
PLAIN, EXTENDED = V1Frames(), V1Frames(extended=True)
COMMON = ("timestamp", "seq", "debateId", "participantName", "turn", "phase")


def watch(records: Iterable[Recorded], viewer: Viewer = OBSERVER) -> list[SeenEvent]:
    seen: list[SeenEvent] = []
    debate: Debate | None = None
    for recorded in records:
        before, debate = debate, evolve(debate, recorded)
        seen.append(seen_event(recorded, before, debate, viewer))
    return seen


def told(dialect: Dialect, seen: Iterable[SeenEvent]) -> list[tuple[str, Frame]]:
    """Frames with their ids, up to the end of the dialect."""
    frames: list[tuple[str, Frame]] = []
    for one in seen:
        made = dialect.frames(one)
        frames.extend((frame_id(one.seq, place, len(made)), frame) for place, frame in enumerate(made, 1))
        if dialect.ends(one):
            break
    return frames


def sent(frame: Frame, id: str = "") -> Any:
    """The members as they arrive."""
    return json.loads(as_message(frame, id))["data"]


def named(frames: Iterable[tuple[str, Frame]], event: str) -> list[Any]:
    return [sent(frame) for _, frame in frames if frame.event == event]


def last(dialect: Dialect, seen: Sequence[SeenEvent], *kinds: type[Event]) -> list[tuple[str, Any]]:
    """What was made of the last event of these kinds, as names and members."""
    one = next(one for one in reversed(seen) if isinstance(one.event, kinds))
    return [(frame.event, sent(frame)) for frame in dialect.frames(one)]


def snapshots(records: Sequence[Recorded]) -> dict[str, str]:
    """By ending: the plain events, what is more or other in the extended ones, and the kinds of the log."""
    seen = watch(records)
    plain = [_line(id, frame) for id, frame in told(PLAIN, seen)]
    extended = [_line(id, frame) for id, frame in told(EXTENDED, seen)]
    log = [f"{id} {sent(frame)['event']['type']}" for id, frame in told(NativeFrames(), seen)]
    more = [line for line in extended if line not in set(plain)]
    return {"v1": text_of(plain), "extended": text_of(more), "native": text_of(log)}


def _line(id: str, frame: Frame) -> str:
    members = {name: value for name, value in sent(frame).items() if name not in COMMON}
    return f"{id} {frame.event} {json.dumps(members, ensure_ascii=False)}"


def text_of(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
