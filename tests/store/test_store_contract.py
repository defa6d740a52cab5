"""Every store keeps the contract, and the limits that ours have. A new one joins by a line in `STORES`."""

from __future__ import annotations

import pytest

from moot.core.errors import Refused
from moot.store import append, experiment_rows, sql_experiments
from moot.store.contract import Store
from moot.testing import Clock, StoreContract
from moot.testing.store_contract.access import invitation
from moot.testing.store_contract.steps import open_debate


class TestEveryStore(StoreContract):
    """With the fixture `store` of `conftest.py`, which is each of them in turn."""


async def test_a_debate_has_so_many_invitations_and_no_more(
    store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(append, "MAX_INVITATIONS", 2)
    await open_debate(store)
    await store.add_invitation(invitation(clock, "ann"))
    await store.add_invitation(invitation(clock, "bob"))
    with pytest.raises(Refused, match="at most 2"):
        await store.add_invitation(invitation(clock, "eve"))
    await store.delete_invitation("d1", "ann")
    await store.add_invitation(invitation(clock, "eve"))


async def test_a_page_of_legs_has_so_many_and_no_more(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (experiment_rows, sql_experiments):
        monkeypatch.setattr(module, "LEG_PAGE", 3)
    await store.experiments.save("league", "{}")
    for number in range(8):
        await store.experiments.reserve("league", 1, f"leg.{number}", f"deb_{number}", 300, None)
    assert [len(page) async for page in store.experiments.leg_pages("league")] == [3, 3, 2]
