"""Before anything of Moot is imported, the environment becomes that of the tests. Hypothesis has no deadline:
a case that takes long is not an error. Each test runs with the extensions that `tests/support/extensions.py`
chooses for it: those of the core with none."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator

from tests.support import environment

environment.prepare()

import hypothesis  # noqa: E402 - it looks at the environment too
import pytest  # noqa: E402

from tests.support import extensions  # noqa: E402

hypothesis.settings.register_profile("moot", deadline=None)
hypothesis.settings.load_profile("moot")

LONG = (
    "tests/web/behaviour/test_schemathesis",
    "tests/cluster/behaviour/test_losses",
    "tests/chaos/",
    "tests/page/test_hostile",
    "tests/page/test_whole",
    "tests/page_unit/",
    "tests/web/behaviour/test_bad_input",
    "tests/web/behaviour/test_roles",
    "tests/web/behaviour/test_two_nodes",
    "tests/extensions/behaviour/test_two_nodes",
    "tests/cluster/",
)
"""The tests that take longest, by the beginning of their names."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests that take long at the front of each worker's share.

    Workers get the tests in equal blocks, in this order; the one that meets a long test last would keep the
    others waiting.
    """
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    long = sorted((item for item in items if item.nodeid.startswith(LONG)), key=_place)
    short = [item for item in items if not item.nodeid.startswith(LONG)]
    size = -(-len(items) // workers)
    ordered: list[pytest.Item] = []
    for worker in range(workers):
        share = long[worker::workers]
        ordered += share
        free = max(0, size - len(share))
        ordered += short[:free]
        del short[:free]
    items[:] = ordered + short


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Load the extensions of the test before the first of its fixtures, and until the last has ended."""
    with extensions.loaded_for(item):
        return (yield)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Collect the garbage of each test at its end, so that what it left open is told of it and of no other.

    What is left after that is not looked at again, which makes the next collection quick.
    """
    gc.collect()
    gc.freeze()
    item.config.pluginmanager.get_plugin("unraisableexception").collect_unraisable(item.config)


def _place(item: pytest.Item) -> int:
    return next(place for place, name in enumerate(LONG) if item.nodeid.startswith(name))
