"""The contract of `moot.Store`, as a class of tests that a store's own tests inherit.

    class TestMyStore(StoreContract):
        @pytest_asyncio.fixture
        async def store(self, tmp_path: Path, clock: Clock) -> AsyncIterator[Store]:
            store = MyStore(tmp_path, clock)
            yield store
            await store.close()

The store is empty, and takes the time of its commits from `clock`, which stands still until a test moves it.
"""

from __future__ import annotations

import pytest

from moot.testing.store_contract.access import AccessContract
from moot.testing.store_contract.lists import ListContract
from moot.testing.store_contract.log import LogContract
from moot.testing.store_contract.steps import Clock, append_streamed

__all__ = ["Clock", "StoreContract", "append_streamed"]


class StoreContract(LogContract, ListContract, AccessContract):
    """What every store must do. A subclass gives the fixture `store`, an empty store that goes by `clock`."""

    @pytest.fixture
    def clock(self) -> Clock:
        """The time of the store."""
        return Clock()
