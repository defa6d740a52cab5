"""A stage whose speakers wait for a sign: each says a thought and a sentence, and ends when it is let."""

from __future__ import annotations

from collections.abc import Iterable

from moot.core.terms import Request
from moot.providers.scripted import Cue, SayCue, ThinkCue, WaitCue, improvise
from moot.rules.runner_timings import RunnerTimings

PATIENT = RunnerTimings(retry_base=0.001, first_byte=60, between_bytes=60, tick=0.001)


class Stage:
    def __init__(self) -> None:
        self._let = 0
        self._given = 0

    def let(self, speeches: int) -> None:
        """So many more speeches come to their end."""
        self._let += speeches

    def script(self, request: Request) -> Iterable[Cue]:
        if request.schema is not None:
            yield from improvise(request)
            return
        yield ThinkCue(f"A secret of {request.model.name}.")
        yield SayCue(f"The words of {request.model.name}.")
        while self._given >= self._let:
            yield WaitCue(0.005)
        self._given += 1
