"""What those who watch a log are told."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from moot.api.frames import Dialect, Frame, NativeFrames, SeenEvent, as_message, frame_id
from moot.api.v1.stream_frames import V1Frames
from moot.compat.arena_frames import ArenaFrames
from moot.compat.quick import QuickFrames
from moot.compat.turn_stream import TurnFrames
from moot.core.events import Event, Recorded
from moot.core.evolve import evolve
from moot.core.state import Debate, Turn
from moot.core.visibility import OBSERVER, Viewer, seen_event
from tests.golden.reading import HERE as GOLDEN

HERE = Path(__file__).parent / "snapshots"
NAMES = sorted(path.stem for path in GOLDEN.glob("*.jsonl"))
PLAIN, EXTENDED = V1Frames(), V1Frames(extended=True)
QUICK, BOUTS = QuickFrames(), ArenaFrames(OBSERVER)
DOORS: dict[str, Dialect] = {"quick": QUICK, "bouts": BOUTS}
LONGEST = 40
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
    """By ending: the plain events, what is more or other in the extended ones, the kinds of the log, and what
    is told at the other doors."""
    seen = watch(records)
    plain = [_line(id, frame) for id, frame in told(PLAIN, seen)]
    extended = [_line(id, frame) for id, frame in told(EXTENDED, seen)]
    log = [f"{id} {sent(frame)['event']['type']}" for id, frame in told(NativeFrames(), seen)]
    more = [line for line in extended if line not in set(plain)]
    doors = {name: _text(_briefly(told(door, seen))) for name, door in DOORS.items()}
    doors["turns"] = _text(line for turn in seen[-1].after.turns for line in _turn(turn, seen))
    return {"v1": _text(plain), "extended": _text(more), "native": _text(log), **doors}


def _turn(turn: Turn, seen: Iterable[SeenEvent]) -> Iterable[str]:
    """One turn as it is told by itself, which is not at all how the whole is told."""
    yield f"-- {turn.number}"
    for _, frame in told(TurnFrames(turn.number, turn.seq - 1, private=False), seen):
        members = sent(frame)
        told_ = members if frame.event in ("content", "reasoning") else _shortened(members)
        yield f"{frame.event} {json.dumps(told_, ensure_ascii=False)}"


def _line(id: str, frame: Frame) -> str:
    members = {name: value for name, value in sent(frame).items() if name not in COMMON}
    return f"{id} {frame.event} {json.dumps(members, ensure_ascii=False)}"


def _briefly(frames: Iterable[tuple[str, Frame]]) -> Iterable[str]:
    """Speeches by their beginning and tokens in one line: they come again and again, and are in v1's."""
    shapes = [{"at": id, **sent(frame)} for id, frame in frames]
    for kind, group in groupby(
        shapes, key=lambda shape: (shape["type"], shape.get("agent"), shape.get("speaker"))
    ):
        told_ = list(group)
        if kind[0] == "token":
            first = {**told_[0], "content": "".join(shape["content"] for shape in told_)}
            told_ = [{**first, "at": f"{first['at']}-{told_[-1]['at']}"}]
        for shape in told_:
            at, name = shape.pop("at"), shape.pop("type")
            members = {n: _shortened(v) for n, v in shape.items() if n not in ("seq", "part", "timestamp")}
            yield f"{at} {name} {json.dumps(members, ensure_ascii=False)}"


def _shortened(value: Any) -> Any:
    match value:
        case str() if len(value) > LONGEST:
            return f"{value[:LONGEST]}… {len(value)}"
        case dict():
            return {name: _shortened(member) for name, member in value.items()}
        case list():
            return [_shortened(member) for member in value]
        case _:
            return value


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
