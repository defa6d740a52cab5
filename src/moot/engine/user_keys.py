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
from moot.models.registry import ProviderRegistry
from moot.providers.contract import Provider
from moot.providers.keys import Secret


class UserKeys:
    def __init__(self, providers: ProviderRegistry) -> None:
        self._providers = providers
        self._providers_by_debate: dict[str, dict[str, Provider]] = {}
        self._needed: dict[str, tuple[str, ...]] = {}
        self._removals: set[asyncio.Task[None]] = set()

    def add(self, debate_id: str, keys: Mapping[str, Secret]) -> tuple[str, ...]:
        """Returns for which providers."""
        lent = {name: self._providers.with_key(name, key) for name, key in keys.items()}
        if lent:
            self._providers_by_debate[debate_id] = {**self._providers_by_debate.get(debate_id, {}), **lent}
        return tuple(sorted(lent))

    def add_missing(self, debate: Debate, keys: Mapping[str, Secret]) -> tuple[str, ...]:
        """A key that is in use is not taken away. Returns which were taken."""
        lacking = () if debate.final else self.missing(debate)
        return self.add(debate.id, {name: keys[name] for name in lacking if name in keys})

    def missing(self, debate: Debate) -> tuple[str, ...]:
        if debate.manner.lent:
            self._needed[debate.id] = debate.manner.lent
        here = self._providers_by_debate.get(debate.id, {})
        return tuple(name for name in debate.manner.lent if name not in here)

    def provider(self, debate_id: str, name: str) -> Provider:
        lent = self._providers_by_debate.get(debate_id, {})
        if name in self._needed.get(debate_id, ()) and name not in lent:
            raise Unavailable(f"Key needed for {name}.")
        return lent.get(name) or self._providers.get(name)

    def by_debate(self) -> dict[str, tuple[str, ...]]:
        """The debates with keys here, and for which providers."""
        return {debate_id: tuple(lent) for debate_id, lent in self._providers_by_debate.items()}

    def on_records(self, debate_id: str, records: Sequence[Recorded] | None) -> None:
        """A debate has grown, or is gone: with its end its keys are given back."""
        if debate_id not in self._providers_by_debate:
            return
        if records is None or any(isinstance(recorded.event, DebateEnded) for recorded in records):
            task = asyncio.create_task(self.remove(debate_id), name="keys given back")
            self._removals.add(task)
            task.add_done_callback(self._removals.discard)

    async def remove(self, debate_id: str, *names: str) -> None:
        """Those named, or all that this debate has."""
        lent = self._providers_by_debate.get(debate_id, {})
        going = [lent.pop(name) for name in names or tuple(lent) if name in lent]
        if not lent:
            self._providers_by_debate.pop(debate_id, None)
            self._needed.pop(debate_id, None)
        for provider in going:
            await provider.close()

    async def close(self) -> None:
        for debate_id in tuple(self._providers_by_debate):
            await self.remove(debate_id)
