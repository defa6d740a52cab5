"""The documents tell the truth: every command, setting and event is in them, and their examples run."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from moot.api.v1.setup_form import settings_table
from moot.core.events import Event
from moot.core.extension_events import ExtensionEvent
from moot.formats import BUILT_IN
from moot.settings import TABLES, load

ROOT = Path(__file__).parents[2]


def read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def test_every_event_and_its_fields_are_in_the_catalogue() -> None:
    text = read("docs/events.md")
    for kind in set(get_args(Event)) - {ExtensionEvent}:
        row = next(
            line for line in text.splitlines() if line.startswith(f"| `{kind.__struct_config__.tag}` ")
        )
        assert re.findall(r"`([a-z_]+)`", row.split("|")[2]) == list(kind.__struct_encode_fields__)


def test_the_settings_of_a_debate_are_documented_as_the_table_has_them() -> None:
    assert settings_table() in read("docs/api.md"), settings_table()


def test_every_setting_is_documented() -> None:
    used = set[str]()
    for file in (ROOT / "src").rglob("*.py"):
        used |= set(re.findall(r'"(MOOT_[A-Z_]+)"', file.read_text("utf-8")))
    assert used <= set(re.findall(r"`(MOOT_[A-Z_]+)`", read("docs/settings.md")))


def test_every_command_is_documented() -> None:
    told = subprocess.run(
        [sys.executable, "-m", "moot", "--help"], capture_output=True, text=True, check=True
    ).stdout
    commands = re.findall(r"^  ([a-z][a-z-]+) {2,}\S", told, re.MULTILINE)
    assert len(commands) > 15
    documented = set(re.findall(r"`moot ([a-z-]+)", read("docs/terminal.md")))
    assert set(commands) <= documented


def test_every_format_is_named_in_the_changelog() -> None:
    text = read("CHANGELOG.md").lower()
    assert all(name in text for name in BUILT_IN)


def test_every_test_that_shows_a_promise_exists() -> None:
    named = re.findall(r"`((?:tests|src)/\S+\.py)::(test_\w+)`", read("docs/testing.md"))
    assert len(named) > 30
    for file, name in named:
        assert re.search(rf"^ *(async )?def {name}\(", read(file), re.MULTILINE), (file, name)


PAGES = sorted(str(path.relative_to(ROOT)) for path in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")))


def anchors(path: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", path.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", PAGES)
def test_links_and_files_exist(name: str) -> None:
    text, folder = read(name), (ROOT / name).parent
    for target, anchor in re.findall(r"\]\(([^)#: ]*)(?:#([\w-]+))?\)", text):
        path = folder / target if target else ROOT / name
        assert path.exists(), target
        assert not anchor or anchor in anchors(path), f"{target}#{anchor}"
    for file in re.findall(r"`((?:src/moot/|tests/|docs/)[\w/.-]+)`", text):
        assert (ROOT / file).exists(), file


def test_the_library_in_the_readme_runs(tmp_path: Path) -> None:
    code = re.search(r"```python\n(.*?)```", read("README.md"), re.DOTALL)
    assert code is not None
    ast.parse(code[1])
    environ = {
        **os.environ,
        "MOOT_DATA": str(tmp_path),
        "MOOT_SCRIPTED": "1",
        "MOOT_MODEL": "scripted/demo",
    }
    told = subprocess.run(
        [sys.executable, "-c", code[1]], env=environ, capture_output=True, text=True, check=True, timeout=60
    ).stdout
    assert "DebateEnded" in told


def test_the_complete_settings_file_can_be_loaded(tmp_path: Path) -> None:
    example = re.search(r"```toml\n(.*?)```", read("docs/settings.md"), re.DOTALL)
    assert example is not None
    (tmp_path / "moot.toml").write_text(example[1], "utf-8")
    assert set(re.findall(r"^\[(\w+)", example[1], re.MULTILINE)) == set(TABLES)
    settings = load({"MOOT_DATA": str(tmp_path)})
    assert all((settings.prices, settings.keys, settings.tools))
    assert "mine" in {endpoint.name for endpoint in settings.endpoints}


def test_the_make_targets_of_the_readme_exist() -> None:
    makefile = read("Makefile")
    for target in re.findall(r"^make ([a-z]+)", read("README.md"), re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


@pytest.mark.parametrize("name", PAGES)
def test_every_module_that_a_page_names_exists(name: str) -> None:
    """By its whole path, or by its end: `sse.py`, `engine/runner.py`, `tests/faults/fault_acts.py`."""
    known = [
        f"/{path.relative_to(ROOT)}"
        for folder in ("src", "tests", "scripts")
        for path in (ROOT / folder).rglob("*.*")
    ]
    named = set(re.findall(r"(?<![\w/])[a-z][a-z0-9_/]*\.(?:py|js)\b", read(name)))
    assert not {module for module in named if not any(path.endswith(f"/{module}") for path in known)}


@pytest.mark.parametrize("name", PAGES)
def test_every_folder_that_a_page_names_exists(name: str) -> None:
    for folder in re.findall(
        r"`((?:api|cli|client|cluster|core|engine|providers|row_io|rules|views|web)/\w*/?)`", read(name)
    ):
        assert (ROOT / "src/moot" / folder).is_dir() or (ROOT / f"src/moot/{folder}.py").exists(), folder
