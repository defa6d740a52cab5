"""Keys that users lend: each for one debate, in memory alone, given back when the debate is over.

What stands in the log is only whose keys they are. So they are gone with the process that held them, and a
debate that lacks one waits for it: nobody else's key stands in for it, and least of all the operator's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from moot.core.errors import Unavailable
from moot.core.events import DebateEnded, Recorded
from moot.core.state import Debate
from moot.models.registry import Providers
from moot.providers.contract import Provider
from moot.providers.keys import Secret


class Lending:
    def __init__(self, providers: Providers) -> None:
        self._providers = providers
        self._lent: dict[str, dict[str, Provider]] = {}
        self._borrowing: dict[str, tuple[str, ...]] = {}
        self._giving: set[asyncio.Task[None]] = set()

    def lend(self, debate_id: str, keys: Mapping[str, Secret]) -> tuple[str, ...]:
        """Returns for which providers."""
        lent = {name: self._providers.lent(name, key) for name, key in keys.items()}
        if lent:
            self._lent[debate_id] = {**self._lent.get(debate_id, {}), **lent}
        return tuple(sorted(lent))

    def lend_what_lacks(self, debate: Debate, keys: Mapping[str, Secret]) -> tuple[str, ...]:
        """A key that is in use is not taken away. Returns which were taken."""
        lacking = () if debate.final else self.lacking(debate)
        return self.lend(debate.id, {name: keys[name] for name in lacking if name in keys})

    def lacking(self, debate: Debate) -> tuple[str, ...]:
        if debate.manner.lent:
            self._borrowing[debate.id] = debate.manner.lent
        here = self._lent.get(debate.id, {})
        return tuple(name for name in debate.manner.lent if name not in here)

    def provider(self, debate_id: str, name: str) -> Provider:
        lent = self._lent.get(debate_id, {})
        if name in self._borrowing.get(debate_id, ()) and name not in lent:
            raise Unavailable(f"Key needed for {name}.")
        return lent.get(name) or self._providers.get(name)

    def holds(self) -> dict[str, tuple[str, ...]]:
        """The debates with keys here, and for which providers."""
        return {debate_id: tuple(lent) for debate_id, lent in self._lent.items()}

    def heard(self, debate_id: str, records: Sequence[Recorded] | None) -> None:
        """A debate has grown, or is gone: with its end its keys are given back."""
        if debate_id not in self._lent:
            return
        if records is None or any(isinstance(recorded.event, DebateEnded) for recorded in records):
            task = asyncio.create_task(self.give_back(debate_id), name="keys given back")
            self._giving.add(task)
            task.add_done_callback(self._giving.discard)

    async def give_back(self, debate_id: str, *names: str) -> None:
        """Those named, or all that this debate has."""
        lent = self._lent.get(debate_id, {})
        going = [lent.pop(name) for name in names or tuple(lent) if name in lent]
        if not lent:
            self._lent.pop(debate_id, None)
            self._borrowing.pop(debate_id, None)
        for provider in going:
            await provider.close()

    async def close(self) -> None:
        for debate_id in tuple(self._lent):
            await self.give_back(debate_id)
