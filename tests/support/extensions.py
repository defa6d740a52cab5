"""Which extensions a test runs with: those of the core with none, as Moot with `MOOT_EXTENSIONS=`.

What is in `tests/extensions/` and tests of the product as a whole (`WHOLE`) run with all of ours. Another
that needs some of them says so: `pytestmark = pytest.mark.needs_extensions("experiments")`; without a name,
all of ours. Processes that a test starts have the same ones, by the environment.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache

import pytest

# Made of the settings of all extensions, whichever test asks for them first.
import moot.api.v1.bodies
import moot.cli.commands.debate  # noqa: F401
from moot import extension
from moot.extension import Loaded, load
from tests.support.moot_process import COMMAND_GROUPS

WHOLE = (
    "tests/chaos/",
    "tests/docs/",
    "tests/extensions/",
    "tests/page/",
    "tests/processes/test_copy_store",
    "tests/processes/behaviour/test_server_imports",
    "tests/store/behaviour/test_releases",
    "tests/api/test_rights",
    "tests/web/behaviour/test_roles",
    "tests/web/behaviour/test_schemathesis",
    "tests/web/behaviour/test_generated_clients",
    "tests/web/test_openapi",
)
"""By the beginning of their names."""
MARKER = "needs_extensions"


@contextmanager
def loaded_for(item: pytest.Item) -> Generator[None]:
    chosen = _chosen(item)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(extension, "_current", _loaded(chosen))
        if chosen is None:
            patch.delenv(extension.VARIABLE, raising=False)
        else:
            patch.setenv(extension.VARIABLE, chosen)
        for name in COMMAND_GROUPS:
            patch.delitem(sys.modules, name, raising=False)
        yield


def _chosen(item: pytest.Item) -> str | None:
    """What `MOOT_EXTENSIONS` is for this test; None for all of ours."""
    marks = [marker.args for marker in item.iter_markers(MARKER)]
    if item.nodeid.startswith(WHOLE) or () in marks:
        return None
    return " ".join(name for names in marks for name in names)


@cache
def _loaded(chosen: str | None) -> Loaded:
    return load(chosen)
