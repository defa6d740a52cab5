"""Moot as packages of others see it: public names only, typed, and checked with the test kit."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[3]
THIRD_PARTY = Path(__file__).parents[1] / "third_party.py"
CONTRACTS = {"moot", "moot.client", "moot.experiments", "moot.extension", "moot.testing"}
"""The modules that a page tells people to import from."""


def programs(page: str) -> list[str]:
    """The programs in a page, as they are written there."""
    return re.findall(r"```python\n(.*?)```", (ROOT / "docs" / page).read_text("utf-8"), re.DOTALL)


GUIDE, KIT, EXTENSIONS = programs("library.md"), programs("testing-kit.md"), programs("extending.md")


def run(*command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    done = [sys.executable, "-m", *command]
    return subprocess.run(done, cwd=folder, capture_output=True, text=True, timeout=240, check=False)


def test_a_third_party_runs_with_public_names_alone(tmp_path: Path) -> None:
    (tmp_path / "league.py").write_text(THIRD_PARTY.read_text("utf-8"))
    done = run("league", str(tmp_path / "data"), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "completed 2 There was an old man with a beard ",
        "True",
        "refused: completed Only a running debate can be paused.",
        "error",
        "invalid: True",
    ]


def test_third_parties_and_the_programs_in_the_guides_are_typed(tmp_path: Path) -> None:
    for number, program in enumerate((THIRD_PARTY.read_text("utf-8"), *GUIDE, *KIT, *EXTENSIONS)):
        (tmp_path / f"program_{number}.py").write_text(program)
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({"typeCheckingMode": "strict"}))
    done = run("pyright", "--pythonpath", sys.executable, "--project", ".", folder=tmp_path)
    assert done.returncode == 0, done.stdout


def test_what_third_parties_and_the_pages_import_is_public() -> None:
    docs = ROOT / "docs"
    written = {page: programs(page) for page in (str(path.relative_to(docs)) for path in docs.rglob("*.md"))}
    written[THIRD_PARTY.name] = [THIRD_PARTY.read_text("utf-8")]
    private = {
        page: [name for each in code for name in private_names(each)] for page, code in written.items()
    }
    assert {page: names for page, names in private.items() if names} == {}


def private_names(program: str) -> Iterator[str]:
    """What a program imports of Moot that is not public."""
    for node in ast.walk(ast.parse(program)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name.startswith("moot."))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "moot":
            module = node.module or ""
            public = import_module(module).__all__ if module in CONTRACTS else ()
            yield from (f"{module}.{name.name}" for name in node.names if name.name not in public)
