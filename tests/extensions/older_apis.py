"""What the older APIs tell of a log: their dialects, and the snapshots of them.

Beside the tests of each API there are `snapshots/`, one file for each golden log. After a change that is
meant, they are written anew by `python -m tests.extensions.older_apis`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from moot.api.frames import Frame, SeenEvent
from moot.core.state import Turn
from moot.core.visibility import OBSERVER
from moot.extension import Extension
from moot.extensions import arena_api, quick_api, turn_sessions
from moot.extensions.arena_api.frames import ArenaFrames
from moot.extensions.quick_api.frames import QuickFrames
from moot.extensions.turn_sessions.frames import TurnFrames
from tests.api.watching import NAMES, sent, text_of, told, watch
from tests.golden.reading import log_of

HERE = Path(__file__).parent
QUICK, BOUTS = QuickFrames(), ArenaFrames(OBSERVER)
LONGEST = 40
OLDER_APIS = (quick_api.EXTENSION, arena_api.EXTENSION, turn_sessions.EXTENSION)


def snapshots(extension: Extension, seen: Sequence[SeenEvent]) -> Mapping[str, str]:
    """What each dialect of the extension tells of a log, by its name."""
    assert extension.dialects is not None
    dialects = extension.dialects()
    if extension is turn_sessions.EXTENSION:
        return {"turns": text_of(line for turn in seen[-1].after.turns for line in _turn(turn, seen))}
    return {name: text_of(_briefly(told(dialect, seen))) for name, dialect in dialects.items()}


def path_of(extension: Extension, log: str, ending: str) -> Path:
    return HERE / extension.name / "snapshots" / f"{log}.{ending}.txt"


def _turn(turn: Turn, seen: Iterable[SeenEvent]) -> Iterable[str]:
    """One turn as it is told by itself, which is not at all how the whole is told."""
    yield f"-- {turn.number}"
    for _, frame in told(TurnFrames(turn.number, turn.seq - 1, private=False), seen):
        members = sent(frame)
        told_ = members if frame.event in ("content", "reasoning") else _shortened(members)
        yield f"{frame.event} {json.dumps(told_, ensure_ascii=False)}"


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


def main() -> None:
    for name in NAMES:
        for extension in OLDER_APIS:
            for ending, text in snapshots(extension, watch(log_of(name))).items():
                path_of(extension, name, ending).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
