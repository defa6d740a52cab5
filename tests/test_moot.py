"""The public names of the package: `from moot import …` gives them, and docs/library.md lists them."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path
from types import UnionType
from typing import Any

import moot
from moot.manual.reference import python_library

LIBRARY = (Path(__file__).parents[1] / "docs/library.md").read_text("utf-8")


def test_every_public_name_is_there_has_one_home_and_says_what_it_is() -> None:
    assert sorted(moot.__all__) == sorted([*moot._HOMES, *moot._MODULES])  # pyright: ignore[reportPrivateUsage]
    unsaid = [missing for name in moot.__all__ for missing in undocumented(name, getattr(moot, name))]
    assert unsaid == []


def undocumented(name: str, public: Any) -> list[str]:
    """The name, if it has no docstring of its own; of a class, also its public members without one."""
    if isinstance(public, UnionType):
        return []
    if not inspect.isclass(public):
        return [] if public.__doc__ else [name]
    told = moot.Store if public is moot.MemoryStore else public
    members = [
        f"{name}.{member}"
        for member, value in vars(public).items()
        if not member.startswith("_")
        and (inspect.isroutine(value) or isinstance(value, property))
        and not inspect.getdoc(getattr(told, member))
    ]
    return [*([] if vars(public).get("__doc__") else [name]), *members]


def test_every_public_name_is_documented_and_no_other() -> None:
    tables = LIBRARY.partition("## Public names")[2]
    rows = [line.split("|")[1] for line in tables.splitlines() if line.startswith("| `")]
    assert sorted(re.findall(r"`(\w+)`", "".join(rows))) == sorted(moot.__all__)


def test_the_reference_has_every_public_name_with_its_text() -> None:
    sections = python_library().split("\n## ")[1:]
    assert [section.partition("\n")[0] for section in sections] == sorted(moot.__all__, key=str.lower)
    assert all(section.partition("\n")[2].strip() for section in sections)


def test_importing_the_package_loads_nothing_else() -> None:
    told = "import sys, moot; print([name for name in sys.modules if name.startswith('moot.')])"
    assert subprocess.check_output([sys.executable, "-c", told], text=True).strip() == "[]"


def test_importing_the_client_loads_nothing_that_runs_debates() -> None:
    script = "import sys, moot.client; print(*sys.modules)"
    modules = subprocess.check_output([sys.executable, "-c", script], text=True).split()
    packages = {name.split(".")[1] for name in modules if name.startswith("moot.")}
    assert packages == {"api", "client", "core", "extension", "extensions", "judging", "views"}
    assert not {"fastapi", "pydantic", "rich", "rapidfuzz"} & set(modules)
