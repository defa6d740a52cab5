"""Folded states, kept so that a command does not read the whole log of its debate first."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from msgspec import Struct

from moot.core.state import Debate

UNCHECKED = -1


class CachedState(Struct, frozen=True):
    """A state as it was committed. It counts as the head only if `checked` is the present generation: where
    several machines share the log that is the debate's place, which one opened anew does not inherit."""

    debate: Debate
    epoch: int = 0
    checked: int = UNCHECKED


class StateCache:
    """The states used last, shared by the writer and the readers."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._states: OrderedDict[str, CachedState] = OrderedDict()
        self._lock = Lock()

    def __contains__(self, debate_id: str) -> bool:
        return debate_id in self._states

    def __len__(self) -> int:
        return len(self._states)

    def get(self, debate_id: str) -> CachedState | None:
        return self._states.get(debate_id)

    def put(self, debate_id: str, known: CachedState) -> None:
        with self._lock:
            self._put(debate_id, known)

    def put_if_newer(self, debate: Debate) -> None:
        """A reader has folded this; the writer may know better by now."""
        with self._lock:
            known = self._states.get(debate.id)
            if known is None or known.debate.seq < debate.seq:
                known = CachedState(debate)
            self._put(debate.id, known)

    def drop(self, debate_id: str) -> None:
        with self._lock:
            self._states.pop(debate_id, None)

    def _put(self, debate_id: str, known: CachedState) -> None:
        self._states[debate_id] = known
        self._states.move_to_end(debate_id)
        if len(self._states) > self._limit:
            self._states.popitem(last=False)
