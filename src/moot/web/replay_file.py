"""A debate as one HTML file that replays it without a server or a network.

The file contains the player, which is built at set-up, and the debate as plain data: the changes of the
page's view in order, as an observer saw them. A content security policy in the file allows only this script
and this style, by their digests, and no requests.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from importlib.resources import files
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from moot.api.page_view.view_frames import Patch, ViewFrames
from moot.api.problems import Problem
from moot.core.events import Recorded
from moot.core.evolve import evolve
from moot.core.state import Debate
from moot.core.visibility import OBSERVER, Viewer, seen_event
from moot.store.contract import Store
from moot.views.text import escape_line
from moot.views.transcript_json import moment
from moot.web.streaming.feeds import YIELD_EVERY

PAGE_SIZE = 256
MERGE_MS = 80
"""Words that follow each other within this time are shown together: viewers see no difference."""
REASONING_SECTIONS = ("turns", "bench")
"""Sections whose entries contain reasoning. In a verdict, `reasoning` is the public reason of the judges."""
UNSAFE_CHARACTERS = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}
NOT_BUILT = "The player has not been built: run `make setup`"
LEFT_OUT = ("place",)
"""Sections that a file does not need: nobody has a seat in it."""

ReplayFrame = tuple[int, list[Patch]]
ReplayChange = tuple[datetime, Patch]


class PlayerAssets(Struct, frozen=True):
    script: str
    style: str

    @property
    def policy(self) -> str:
        return (
            f"default-src 'none'; script-src '{_digest(self.script)}'; style-src '{_digest(self.style)}'; "
            "img-src data:; base-uri 'none'; form-action 'none'; "
            "require-trusted-types-for 'script'; trusted-types dompurify"
        )


def replay_viewer(viewer: Viewer, debate: Debate) -> Viewer:
    """The viewer of the file. Files are passed on, so it shows what any observer may see, and never more than
    the client itself may see.

    Until the debate is over, a person in a seat sees it as that person: something may be hidden from them.
    """
    if viewer.privileged:
        return OBSERVER
    return replace(viewer, seat=None) if debate.final else viewer


async def to_replay(store: Store, so_far: Debate, viewer: Viewer, *, reasoning: bool) -> str:
    """Raises Problem where the player has not been built."""
    parts = _player_assets()
    changes: list[ReplayChange] = []
    debate: Debate | None = None
    dialect = ViewFrames(replay_viewer(viewer, so_far))
    after = 0
    while records := await store.read(so_far.id, after, PAGE_SIZE):
        for recorded in records:
            if recorded.seq % YIELD_EVERY == 0:
                await asyncio.sleep(0)
            before, debate = debate, evolve(debate, recorded)
            changes += replay_changes(dialect, recorded, before, debate, reasoning=reasoning)
        after = records[-1].seq
    return await asyncio.to_thread(_page, parts, so_far.motion, changes)


def replay_changes(
    dialect: ViewFrames, recorded: Recorded, before: Debate | None, debate: Debate, *, reasoning: bool
) -> Iterator[ReplayChange]:
    """What an event changes in the view of the replay, with its time."""
    for frame in dialect.frames(seen_event(recorded, before, debate, dialect.viewer)):
        for patch in _kept_patches(frame.data["ops"], reasoning):
            yield recorded.at, patch


def replay_data(changes: Sequence[ReplayChange]) -> dict[str, Any]:
    """The changes as the player reads them: the start, and frames with their milliseconds from it."""
    start = changes[0][0] if changes else datetime.min
    return {"start": moment(start), "frames": list(_frames(changes, start))}


def _kept_patches(patches: Iterable[Patch], reasoning: bool) -> Iterator[Patch]:
    """The patches without open actions and drafts; without reasoning unless it is asked for."""
    for verb, path, value in patches:
        if not path:
            kept = {name: shape for name, shape in value.items() if name not in LEFT_OUT}
            yield verb, path, {name: _stripped((name,), shape, reasoning) for name, shape in kept.items()}
        elif path[0] not in LEFT_OUT and path[:2] != ("now", "open") and not _is_thought(path, reasoning):
            yield verb, path, _stripped(path, value, reasoning)


def _is_thought(path: tuple[str, ...], reasoning: bool) -> bool:
    return not reasoning and len(path) == 3 and path[0] in REASONING_SECTIONS and path[2] == "reasoning"


def _stripped(path: tuple[str, ...], value: Any, reasoning: bool) -> Any:
    if path == ("now",):
        return {**value, "open": []}
    if reasoning or path[0] not in REASONING_SECTIONS:
        return value
    if len(path) < 3:
        return {key: _stripped((*path, key), entry, reasoning) for key, entry in value.items()}
    match path[2]:
        case "reasoning":
            return ""
        case "parts":
            return [part for part in value if part["kind"] != "thoughts"]
        case _:
            return value


def _frames(changes: Iterable[ReplayChange], start: datetime) -> Iterator[ReplayFrame]:
    """Frames with their times from the start; changes of one moment and consecutive tokens are merged. A
    speech begins a frame of its own, which the player jumps to.
    """
    last: ReplayFrame | None = None
    for at, patch in changes:
        ms = round((at - start).total_seconds() * 1000)
        if last is not None and _can_merge(last, ms, patch):
            _merge(last[1], patch)
            continue
        if last is not None:
            yield last
        last = (ms, [patch])
    if last is not None:
        yield last


def _can_merge(last: ReplayFrame, ms: int, patch: Patch) -> bool:
    if len(patch[1]) == 2 and patch[1][0] == "turns":
        return False
    return ms == last[0] or (ms - last[0] <= MERGE_MS and _is_append(last[1][-1], patch))


def _merge(patches: list[Patch], patch: Patch) -> None:
    if _is_append(patches[-1], patch):
        verb, path, text = patches[-1]
        patches[-1] = (verb, path, text + patch[2])
    else:
        patches.append(patch)


def _is_append(before: Patch, patch: Patch) -> bool:
    return before[0] == patch[0] == "add" and before[1] == patch[1]


def _page(parts: PlayerAssets, motion: str, changes: list[ReplayChange]) -> str:
    # No character of the data can end its element, and none of it is run.
    data = msgspec.json.encode(replay_data(changes)).decode().translate(UNSAFE_CHARACTERS)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{parts.policy}">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="Moot">
<title>{escape_line(motion)}</title>
<style>{parts.style}</style>
</head>
<body>
<div id="app"><noscript>This file plays a debate, and needs JavaScript for that.</noscript></div>
<script type="application/json" id="debate">{data}</script>
<script type="module">{parts.script}</script>
</body>
</html>
"""


@lru_cache(maxsize=1)
def _player_assets() -> PlayerAssets:
    vendor = files("moot.web").joinpath("vendor")
    try:
        script, style = (vendor.joinpath(name).read_text("utf-8") for name in ("player.js", "player.css"))
    except FileNotFoundError:
        raise Problem("not-found", NOT_BUILT) from None
    return PlayerAssets(script, style)


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
