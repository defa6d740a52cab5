"""Every store keeps the contract, and ours a limit. A new one joins by a line in `conftest.STORES`."""

from __future__ import annotations

import pytest

from moot.core.errors import Refused
from moot.store import contract
from moot.store.contract import Store
from moot.testing import Clock, StoreContract
from moot.testing.store_contract.access import invitation
from moot.testing.store_contract.steps import open_debate


class TestEveryStore(StoreContract):
    """With the fixture `store` of `conftest.py`, which is each of them in turn."""


async def test_a_debate_has_so_many_invitations_and_no_more(
    store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contract, "MAX_INVITATIONS", 2)
    await open_debate(store)
    await store.add_invitation(invitation(clock, "ann"))
    await store.add_invitation(invitation(clock, "bob"))
    with pytest.raises(Refused, match="at most 2"):
        await store.add_invitation(invitation(clock, "eve"))
    await store.delete_invitation("d1", "ann")
    await store.add_invitation(invitation(clock, "eve"))
