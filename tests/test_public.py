"""The public surface of the package: what `from moot import …` gives, and nothing by accident."""

from __future__ import annotations

import subprocess
import sys

import moot


def test_every_public_name_is_there_and_has_one_home() -> None:
    assert set(moot.__all__) == set(moot._HOMES)  # pyright: ignore[reportPrivateUsage]
    for name in moot.__all__:
        public = getattr(moot, name)
        assert getattr(public, "__doc__", None), name


def test_importing_the_package_loads_nothing_else() -> None:
    told = "import sys, moot; print([name for name in sys.modules if name.startswith('moot.')])"
    assert subprocess.check_output([sys.executable, "-c", told], text=True).strip() == "[]"
