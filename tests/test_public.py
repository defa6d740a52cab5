"""The public names of the package: `from moot import …` gives them, and docs/library.md lists them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import moot

LIBRARY = (Path(__file__).parents[1] / "docs/library.md").read_text("utf-8")


def test_every_public_name_is_there_and_has_one_home() -> None:
    assert sorted(moot.__all__) == sorted([*moot._HOMES, *moot._MODULES])  # pyright: ignore[reportPrivateUsage]
    for name in moot.__all__:
        public = getattr(moot, name)
        assert getattr(public, "__doc__", None), name


def test_every_public_name_is_documented_and_no_other() -> None:
    table = LIBRARY.partition("## Public names")[2]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert set(re.findall(r"`(\w+)`", "".join(rows))) == set(moot.__all__)


def test_importing_the_package_loads_nothing_else() -> None:
    told = "import sys, moot; print([name for name in sys.modules if name.startswith('moot.')])"
    assert subprocess.check_output([sys.executable, "-c", told], text=True).strip() == "[]"


def test_importing_the_client_loads_nothing_that_runs_debates() -> None:
    script = "import sys, moot.client; print(*sys.modules)"
    modules = subprocess.check_output([sys.executable, "-c", script], text=True).split()
    packages = {name.split(".")[1] for name in modules if name.startswith("moot.")}
    assert packages == {"api", "client", "core", "judging", "views"}
    assert not {"fastapi", "pydantic", "rich", "rapidfuzz"} & set(modules)
