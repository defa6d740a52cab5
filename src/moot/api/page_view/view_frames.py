"""Frames of the page's dialect: what each event changed in the view; none if it changed nothing.

Nearly all events are tokens; for these no view is computed, they are appended to their speech. For other
events only the sections whose fields have changed are compared, and only the speeches that have changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, cast

from moot.api.frames import Frame, SeenEvent
from moot.api.page_view.sections import sections, view
from moot.api.page_view.speeches import Shape, turn_shape
from moot.core import events as ev
from moot.core.state import Debate
from moot.core.visibility import Viewer, visible_state
from moot.views.transcript import THOUGHT_SEPARATOR
from moot.views.transcript_json import moment


class ViewFrames:
    """The frames of one debate for one viewer. Like the log they never end: a debate that is over may still
    be judged again.

    The last shape of each section is kept with the state that it shows: what an event leaves is what the next
    one finds, so a section is computed once for each state that changes it.
    """

    name = "view"

    def __init__(self, viewer: Viewer) -> None:
        self.viewer = viewer
        self._shapes: dict[str, tuple[Debate, Shape]] = {}

    def ends(self, seen: SeenEvent) -> bool:
        return False

    def rests(self, debate: Debate) -> bool:
        return False

    def frames(self, seen: SeenEvent) -> tuple[Frame, ...]:
        changes = list(self._changes(seen))
        return (Frame("", {"seq": seen.seq, "at": moment(seen.at), "ops": changes}),) if changes else ()

    def _changes(self, seen: SeenEvent) -> Iterator[Patch]:
        before, after, event = seen.before, seen.after, seen.event
        if before is None:
            shapes = view(after, self.viewer)
            self._shapes = {name: (after, shape) for name, shape in shapes.items()}
            yield "put", (), shapes
        elif isinstance(event, ev.CallDelta):
            yield from self._delta_patches(before, after, event)
        elif event is not None or before.unstreamed_seq != after.unstreamed_seq:
            # A hidden event may still change the possible actions; hidden tokens change nothing.
            yield from self._changed_sections(before, after, everything=isinstance(event, ev.TurnRetried))

    def _delta_patches(self, before: Debate, after: Debate, event: ev.CallDelta) -> Iterator[Patch]:
        """The hot path: appends the tokens, unless they end a wait or are the viewer's own draft."""
        turn = next((turn for turn in after.live if turn.call == event.call), None)
        if turn is None:
            # The section of the judges at work shows nothing that `visible_state` would take away.
            yield from self._section_patches("bench", before, after, before, after)
        elif self.viewer.seat == turn.seat or (turn.failures and not _has_words(before, turn.number)):
            yield from self._changed_sections(before, after)
        elif event.text:
            if event.kind == "text":
                yield "add", ("turns", str(turn.number), "text"), event.text
            else:
                was = next((one for one in before.live if one.number == turn.number), None)
                opening = THOUGHT_SEPARATOR if was and was.begins_thought(event.segment) else ""
                yield "add", ("turns", str(turn.number), "reasoning"), opening + event.text

    def _changed_sections(
        self, before: Debate, after: Debate, *, everything: bool = False
    ) -> Iterator[Patch]:
        was, now = visible_state(before, self.viewer), visible_state(after, self.viewer)
        for name, section in sections().items():
            changed = section.changed_fields(before, after)
            if section.reads and not changed:
                continue
            speeches_alone = changed and {*changed} <= {"turns", "live"}
            if name == "turns" and speeches_alone and self.viewer.seat is None and not everything:
                yield from _speech_patches(before, after, was, now, self.viewer)
            else:
                yield from self._section_patches(name, before, after, was, now)

    def _section_patches(
        self, name: str, before: Debate, after: Debate, was: Debate, now: Debate
    ) -> Iterator[Patch]:
        """`was` and `now` are the states before and after the event as the viewer sees them."""
        section = sections()[name]
        known = self._shapes.get(name)
        old = known[1] if known and section.same(known[0], before) else section.make(was, self.viewer)
        new = section.make(now, self.viewer)
        self._shapes[name] = after, new
        return patches(old, new, (name,))


def _has_words(debate: Debate, number: int) -> bool:
    return any(turn.number == number and turn.text != turn.kept.text for turn in debate.live)


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
