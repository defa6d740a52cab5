"""No test speaks to a service: whatever keys and addresses the environment has are put aside. No test looks
at the clock on the wall: a case that takes long is not wrong."""

from __future__ import annotations

import os

import hypothesis
import pytest

from moot.providers.endpoints import ENDPOINTS

for _endpoint in ENDPOINTS:
    for _name in (*_endpoint.keys, _endpoint.url_variable):
        os.environ.pop(_name, None)

hypothesis.settings.register_profile("moot", deadline=None)
hypothesis.settings.load_profile("moot")

LONG = (
    "tests/web/routes/test_schemathesis",
    "tests/chaos/",
    "tests/cluster/test_losses",
    "tests/page/test_hostile",
    "tests/page/test_whole",
    "tests/page_unit/",
)
"""Processes that die and come back, mostly: they wait more than they work."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Several at once share the tests in blocks, in this order. What takes long stands at the front of each
    block, or whoever has it last keeps all the others waiting."""
    blocks = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    long = [item for item in items if item.nodeid.startswith(LONG)]
    short = [item for item in items if not item.nodeid.startswith(LONG)]
    size = -(-len(items) // blocks)
    ordered: list[pytest.Item] = []
    for block in range(blocks):
        mine = long[block::blocks]
        ordered += mine
        room = max(0, size - len(mine))
        ordered += short[:room]
        del short[:room]
    items[:] = ordered + short
