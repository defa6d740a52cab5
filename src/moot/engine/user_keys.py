"""API keys of users: each for one debate, only in memory, dropped when the debate is over.

The log only names their providers. So the keys are lost with the process that held them, and a debate without
its key waits for it: no other key is used instead, least of all the operator's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

from moot.core.errors import Unavailable
from moot.core.events import DebateEnded, Recorded
from moot.core.state import Debate
from moot.models.registry import ProviderRegistry
from moot.providers.contract import Provider
from moot.providers.keys import Secret
from moot.store.contract import Listener


class UserKeys:
    def __init__(self, providers: ProviderRegistry, listen: Callable[[Listener], None]) -> None:
        """`listen` is that of the store; it is called with the first key."""
        self._providers = providers
        self._listen = listen
        self._listens = False
        self._providers_by_debate: dict[str, dict[str, Provider]] = {}
        self._needed: dict[str, tuple[str, ...]] = {}
        self._removals: set[asyncio.Task[None]] = set()

    def add(self, debate_id: str, keys: Mapping[str, Secret]) -> tuple[str, ...]:
        """Returns the providers of the keys."""
        lent = {name: self._providers.with_key(name, key) for name, key in keys.items()}
        if lent and not self._listens:
            self._listens = True
            self._listen(self.on_records)
        if lent:
            self._providers_by_debate[debate_id] = {**self._providers_by_debate.get(debate_id, {}), **lent}
        return tuple(sorted(lent))

    def add_missing(self, debate: Debate, keys: Mapping[str, Secret]) -> tuple[str, ...]:
        """Add the keys that the debate has lost; keys in use stay. Returns the providers of those added."""
        lacking = () if debate.final else self.missing(debate)
        return self.add(debate.id, {name: keys[name] for name in lacking if name in keys})

    def missing(self, debate: Debate) -> tuple[str, ...]:
        if debate.setup.lent:
            self._needed[debate.id] = debate.setup.lent
        here = self._providers_by_debate.get(debate.id, {})
        return tuple(name for name in debate.setup.lent if name not in here)

    def provider(self, debate_id: str, name: str) -> Provider:
        lent = self._providers_by_debate.get(debate_id, {})
        if name in self._needed.get(debate_id, ()) and name not in lent:
            raise Unavailable(f"Key needed for {name}.")
        return lent.get(name) or self._providers.get(name)

    def by_debate(self) -> dict[str, tuple[str, ...]]:
        """The debates with keys in this process, and the providers of the keys."""
        return {debate_id: tuple(lent) for debate_id, lent in self._providers_by_debate.items()}

    def on_records(self, debate_id: str, records: Sequence[Recorded] | None) -> None:
        """Drop the keys of a debate that has ended or was deleted."""
        if debate_id not in self._providers_by_debate:
            return
        if records is None or any(isinstance(recorded.event, DebateEnded) for recorded in records):
            task = asyncio.create_task(self.remove(debate_id), name="keys given back")
            self._removals.add(task)
            task.add_done_callback(self._removals.discard)

    async def remove(self, debate_id: str, *names: str) -> None:
        """Drop the keys for these providers, or all keys of the debate."""
        lent = self._providers_by_debate.get(debate_id, {})
        going = [lent.pop(name) for name in names or tuple(lent) if name in lent]
        if not lent:
            self._providers_by_debate.pop(debate_id, None)
            self._needed.pop(debate_id, None)
        await asyncio.gather(*(provider.close() for provider in going))

    async def close(self) -> None:
        """Drop all keys, and wait for those that are being dropped."""
        removals = [self.remove(debate_id) for debate_id in tuple(self._providers_by_debate)]
        await asyncio.gather(*removals, *self._removals)
