"""Frames of the page's dialect: what each event changed in the view; none if it changed nothing.

Nearly all events are tokens; for these no view is computed, they are appended to their speech. For other
events only the sections whose fields have changed are compared, and only the speeches that have changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, cast

from msgspec import Struct

from moot.api.frames import Frame, SeenEvent
from moot.api.page_view.sections import SECTIONS, view
from moot.api.page_view.speeches import turn_shape
from moot.core import events as ev
from moot.core.state import Debate
from moot.core.visibility import Viewer, visible_state
from moot.views.transcript_json import moment


class PageFrames(Struct, frozen=True):
    """Like the log it never ends: a debate that is over may still be judged again."""

    viewer: Viewer

    @property
    def name(self) -> str:
        return "chamber"

    def ends(self, seen: SeenEvent) -> bool:
        return False

    def rests(self, debate: Debate) -> bool:
        return False

    def frames(self, seen: SeenEvent) -> tuple[Frame, ...]:
        changes = list(_changes(seen, self.viewer))
        return (Frame("", {"seq": seen.seq, "at": moment(seen.at), "ops": changes}),) if changes else ()


def _changes(seen_event: SeenEvent, viewer: Viewer) -> Iterator[Patch]:
    before, after, event = seen_event.before, seen_event.after, seen_event.event
    if before is None:
        yield "put", (), view(after, viewer)
    elif isinstance(event, ev.CallDelta):
        yield from _delta_patches(before, after, event, viewer)
    elif event is not None or before.turning != after.turning:
        # A hidden event may still change the possible actions; hidden tokens change nothing.
        yield from _changed_sections(before, after, viewer, everything=isinstance(event, ev.TurnRetried))


def _delta_patches(before: Debate, after: Debate, event: ev.CallDelta, viewer: Viewer) -> Iterator[Patch]:
    """The hot path: appends the tokens, unless they end a wait or are the viewer's own draft."""
    turn = next((turn for turn in after.live if turn.call == event.call), None)
    if turn is None:
        # The section of the judges at work shows nothing that `visible_state` would take away.
        yield from _section_patches("bench", before, after, viewer)
    elif viewer.seat == turn.seat or (turn.failures and not _has_words(before, turn.number)):
        yield from _changed_sections(before, after, viewer)
    elif event.text:
        member = "text" if event.kind == "text" else "reasoning"
        yield "add", ("turns", str(turn.number), member), event.text


def _has_words(debate: Debate, number: int) -> bool:
    return any(turn.number == number and turn.text != turn.kept.text for turn in debate.live)


def _changed_sections(
    before: Debate, after: Debate, viewer: Viewer, *, everything: bool = False
) -> Iterator[Patch]:
    was, now = visible_state(before, viewer), visible_state(after, viewer)
    for name, section in SECTIONS.items():
        if name == "now" and before.turning == after.turning:
            # The possible actions never depend on tokens.
            continue
        touched = [field for field in section.reads if getattr(before, field) is not getattr(after, field)]
        if section.reads and not touched:
            continue
        speeches_alone = touched and {*touched} <= {"turns", "live"}
        if name == "turns" and speeches_alone and viewer.seat is None and not everything:
            yield from _speech_patches(before, after, was, now, viewer)
        else:
            yield from _section_patches(name, was, now, viewer)


def _section_patches(name: str, was: Debate, now: Debate, viewer: Viewer) -> Iterator[Patch]:
    make = SECTIONS[name].make
    return patches(make(was, viewer), make(now, viewer), (name,))


def _speech_patches(
    before: Debate, after: Debate, was: Debate, now: Debate, viewer: Viewer
) -> Iterator[Patch]:
    known = {turn.number: turn for turn in (*before.turns, *before.live)}
    visible = {turn.number: turn for turn in (*was.turns, *was.live)}
    for raw, turn in zip((*after.turns, *after.live), (*now.turns, *now.live), strict=True):
        path, shape = ("turns", str(turn.number)), turn_shape
        if turn.number not in known:
            yield "put", path, shape(now, turn, viewer)
        elif known[turn.number] is not raw:
            yield from patches(shape(was, visible[turn.number], viewer), shape(now, turn, viewer), path)


Path = tuple[str, ...]
Patch = tuple[Literal["put", "add"], Path, Any]
MAX_DEPTH = 3


def patches(old: Any, new: Any, path: Path = ()) -> Iterator[Patch]:
    if old == new:
        return
    if isinstance(old, dict) and isinstance(new, dict) and len(path) < MAX_DEPTH and old.keys() <= new.keys():
        was, now = cast("dict[str, Any]", old), cast("dict[str, Any]", new)
        for key, value in now.items():
            if key in was:
                yield from patches(was[key], value, (*path, key))
            else:
                yield "put", (*path, key), value
    elif isinstance(old, str) and isinstance(new, str) and old and new.startswith(old):
        yield "add", path, new[len(old) :]
    else:
        yield "put", path, new
