"""What the page folds is what the server sees, at every point of every golden log; and `node --test`."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from moot.api.page_view.sections import view
from moot.api.page_view.view_frames import ViewFrames
from moot.core.events import CallCompleted, CallDelta, CallStarted, Recorded, SegmentCompleted
from moot.core.evolve import evolve, fold
from moot.core.state import Debate
from moot.core.visibility import OBSERVER, OWNER, Viewer, seen_event
from tests.api.watching import NAMES
from tests.golden.reading import log_of

HERE = Path(__file__).parent
CALLS = CallStarted | CallDelta | SegmentCompleted | CallCompleted
WHOLE = re.compile(rb"\.0[,}\]]")
_json = msgspec.json.Encoder(decimal_format="number", order="sorted")

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


def node(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["node", *arguments], capture_output=True, text=True, timeout=600, check=False)


def viewers(debate: Debate) -> tuple[Viewer, ...]:
    return OWNER, OBSERVER, Viewer("participant", debate.seats[0].id), Viewer("judge")


def canonical(shape: Any) -> bytes:
    """As JavaScript would write it: it knows no 1.0."""
    written = _json.encode(shape)
    if WHOLE.search(written):
        return _json.encode(json.loads(written, parse_float=_number))
    return written


def _number(text: str) -> float | int:
    return int(float(text)) if float(text).is_integer() else float(text)


def digest(shape: Any) -> str:
    return hashlib.sha1(canonical(shape), usedforsecurity=False).hexdigest()


def told(name: str, records: Sequence[Recorded], viewer: Viewer) -> dict[str, Any]:
    """The frames of a log, the digest of the view at every prefix, and some views to go on from.

    Calls are told to the others as to the owner: theirs are looked at when something comes of them.
    """
    dialect, debate = ViewFrames(viewer), None
    frames: list[Any] = []
    digests: list[tuple[int, str]] = []
    snapshots: list[tuple[int, Any]] = []
    for recorded in records:
        before, debate = debate, evolve(debate, recorded)
        frames += [frame.data for frame in dialect.frames(seen_event(recorded, before, debate, viewer))]
        if isinstance(recorded.event, CALLS) and viewer != OWNER:
            continue
        shape = view(debate, viewer)
        digests.append((recorded.seq, digest(shape)))
        if recorded.seq in (len(records) // 3, 2 * len(records) // 3):
            snapshots.append((recorded.seq, shape))
    role = viewer.role
    return {"name": name, "viewer": role, "frames": frames, "digests": digests, "snapshots": snapshots}


def differences(ours: Any, theirs: Any, path: str = "view") -> Iterator[str]:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted({*ours, *theirs}):
            yield from differences(ours.get(key), theirs.get(key), f"{path}.{key}")
    elif ours != theirs:
        yield f"{path}: the server has {ours!r}, the page {theirs!r}"


@needs_node
def test_the_page_sees_what_the_server_sees_at_every_prefix_of_every_golden_log(tmp_path: Path) -> None:
    data = tmp_path / "logs.jsonl"
    with data.open("wb") as file:
        for name in NAMES:
            records = log_of(name)
            opened = evolve(None, records[0])
            for viewer in viewers(opened):
                file.write(_json.encode(told(name, records, viewer)) + b"\n")
    done = node(str(HERE / "parity.js"), str(data))
    assert done.returncode == 0, done.stderr
    if not done.stdout:
        return
    wrong = json.loads(done.stdout)
    debate = fold(log_of(wrong["name"])[: wrong["seq"]])
    assert debate is not None
    viewer = next(viewer for viewer in viewers(debate) if viewer.role == wrong["viewer"])
    ours = json.loads(canonical(view(debate, viewer)))
    first = next(differences(ours, wrong["view"]), "no difference but in the digest")
    pytest.fail(f"{wrong['name']} as {wrong['viewer']} after event {wrong['seq']}: {first}")


@needs_node
def test_the_modules_of_the_page_keep_their_word() -> None:
    done = node("--test", *map(str, sorted(HERE.glob("*.test.js"))))
    assert done.returncode == 0, done.stdout + done.stderr
