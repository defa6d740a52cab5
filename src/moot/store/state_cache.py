"""Folded states, kept so that a command does not read the whole log of its debate first."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from msgspec import Struct

from moot.core.state import Debate

UNCHECKED = -1


class Known(Struct, frozen=True):
    """A state as it was committed. It counts as the head only if `checked` is the present generation: where
    several machines share the log that is the debate's place, which one opened anew does not inherit."""

    debate: Debate
    epoch: int = 0
    checked: int = UNCHECKED


class States:
    """The states used last, shared by the writer and the readers."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._known: OrderedDict[str, Known] = OrderedDict()
        self._lock = Lock()

    def __contains__(self, debate_id: str) -> bool:
        return debate_id in self._known

    def __len__(self) -> int:
        return len(self._known)

    def get(self, debate_id: str) -> Known | None:
        return self._known.get(debate_id)

    def put(self, debate_id: str, known: Known) -> None:
        with self._lock:
            self._put(debate_id, known)

    def offer(self, debate: Debate) -> None:
        """A reader has folded this; the writer may know better by now."""
        with self._lock:
            known = self._known.get(debate.id)
            if known is None or known.debate.seq < debate.seq:
                known = Known(debate)
            self._put(debate.id, known)

    def drop(self, debate_id: str) -> None:
        with self._lock:
            self._known.pop(debate_id, None)

    def _put(self, debate_id: str, known: Known) -> None:
        self._known[debate_id] = known
        self._known.move_to_end(debate_id)
        if len(self._known) > self._limit:
            self._known.popitem(last=False)
