"""The guide to experiments tells the truth: its programs run, and the public names are in it."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import moot.experiments
from moot.experiments import load
from moot.extensions.experiments import measuring

ROOT = Path(__file__).parents[4]
PAGE = (ROOT / "docs/experiments.md").read_text("utf-8")


def test_the_programs_of_the_guide_run(tmp_path: Path) -> None:
    program = "\n".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "1 heron" in done.stdout


def test_the_tutorial_runs_on_the_league_as_it_came_out() -> None:
    page = (ROOT / "docs/tutorials/analyse-an-experiment.md").read_text("utf-8")
    program = "\n".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL))
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("48 debates, 96 speeches, 192 ballots")
    told = (ROOT / "docs/leagues.md").read_text("utf-8")
    for row in load(ROOT / "docs/leagues/local-models").ratings():
        assert row.model in told
    report = (ROOT / "docs/leagues/local-models/report.md").read_text("utf-8")
    for figure in ("96 % (70 to 100 %)", "48 % (30 to 66 %)", "50 % (13 to 87 %)"):
        assert figure in told
        assert figure in report


def test_every_public_name_is_there_and_documented() -> None:
    listed = {name for names in measuring._HOMES.values() for name in names}  # pyright: ignore[reportPrivateUsage]
    assert listed == set(measuring.__all__)
    for name in measuring.__all__:
        assert getattr(moot.experiments, name).__doc__, name
    assert not [name for name in measuring.__all__ if not re.search(rf"\b{name}\b", PAGE)]


def test_examples_in_docstrings_are_right() -> None:
    for module in measuring._HOMES:  # pyright: ignore[reportPrivateUsage]
        assert (
            doctest.testmod(import_module(f"moot.extensions.experiments.measuring.{module}")).failed == 0
        ), module
