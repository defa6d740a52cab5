"""People, as far as they look like a provider: they can sit in a seat, cost nothing, and are never called.

What they say reaches the debate by commands (`rules/participation.py`), and the runner only holds their
clock. So that nobody has to ask first whether a seat is held by a person, their provider is there like any
other.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, nullcontext

from moot.core.errors import Fault
from moot.core.terms import Model, Request
from moot.providers.contract import Chunk, Traits

TRAITS = Traits(deadlines=False, schema="words", sampling=False)


class HumanProvider:
    traits = TRAITS

    def traits_of(self, model: str) -> Traits:
        return self.traits

    async def prepare(self, model: Model) -> None:
        pass

    def admit(self, model: Model) -> AbstractAsyncContextManager[object]:
        return nullcontext()

    def report_timeout(self, model: Model) -> None:
        pass

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        raise Fault(
            "unavailable", "permanent", billed=False, message="A person is not called: they speak up."
        )
        yield  # never reached: it makes this a generator

    async def close(self) -> None:
        pass
