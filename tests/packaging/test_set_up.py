"""Set-up: what is done again and what is not, what is said, and what is pinned."""

from __future__ import annotations

import importlib.util
import re
import sys
import tomllib
from collections import Counter
from itertools import chain
from pathlib import Path
from types import ModuleType

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PYTHONS = ("3.11.0", "3.11.2", "3.11.5", "3.12.0", "3.13.0", "3.14.0")
HERE = {
    "sys_platform": "linux",
    "os_name": "posix",
    "platform_machine": "x86_64",
    "platform_system": "Linux",
    "platform_python_implementation": "CPython",
    "implementation_name": "cpython",
}


@pytest.fixture(scope="module")
def set_up() -> ModuleType:
    spec = importlib.util.spec_from_file_location("set_up", ROOT / "scripts" / "set_up.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["set_up"] = module  # where dataclasses look for it
    spec.loader.exec_module(module)
    return module


def test_a_step_is_done_again_only_when_its_inputs_have_changed(
    set_up: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = list[str]()
    inputs = ["a lock"]

    def perform() -> bool:
        first = set_up.Step("Packages", lambda _say: done.append("packages"), inputs=lambda: inputs)
        second = set_up.Step("Model", lambda _say: done.append("model"), (first,), lambda: ["a model"])
        return set_up.Progress([first, second], tmp_path).perform()

    assert perform()
    assert done == ["packages", "model"]
    said = capsys.readouterr().out
    assert said.startswith("[1/2] Packages ...\n[1/2] Packages: done, 0 s\n[2/2] Model ...\n")
    assert "Set up in 0 s: Packages 0 s, Model 0 s." in said
    assert perform()
    assert (len(done), capsys.readouterr().out) == (2, "")
    inputs[0] = "a new lock"
    assert perform()
    assert done[2:] == ["packages", "model"], "what comes after it is done again too"


def test_a_step_that_fails_says_why_and_stops_what_needs_it(
    set_up: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = list[str]()
    script = "print('looking'); print('no network'); raise SystemExit(3)"
    failing = set_up.Step("Packages", lambda say: set_up._run([sys.executable, "-c", script], say))
    after = set_up.Step("Model", lambda _say: done.append("model"), (failing,))
    beside = set_up.Step("Page", lambda _say: done.append("page"))
    assert not set_up.Progress([failing, after, beside], tmp_path).perform()
    assert done == ["page"]
    said = capsys.readouterr()
    assert "Packages: `" in said.err
    assert "failed (exit 3):\n  looking\n  no network" in said.err
    assert "Set up in" not in said.out


def test_what_is_not_needed_may_fail(
    set_up: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(_say: object) -> None:
        raise set_up.Failed("please run: sudo apt-get install nginx")

    assert set_up.Progress([set_up.Step("Programs", refuse, needed=False)], tmp_path).perform()
    assert "please run: sudo apt-get install nginx" in capsys.readouterr().err


def test_without_node_it_says_what_to_install_and_how_to_do_without(
    set_up: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "node"
    old.write_text("#!/bin/sh\necho v16.20.2\n")
    old.chmod(0o755)
    for path, expected in (("/nowhere", "there is none here"), (str(tmp_path), "this is 16")):
        monkeypatch.setenv("PATH", path)
        with pytest.raises(set_up.Failed, match=expected) as refused:
            set_up._install_libraries(lambda _line: None)
        assert "apt-get install nodejs npm" in str(refused.value)
        assert "make wheel" in str(refused.value)


def pins() -> list[Requirement]:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    return [Requirement(line) for line in lines if not line.startswith("#")]


@pytest.mark.parametrize("python", PYTHONS)
def test_everything_is_pinned_once_for_every_python(python: str) -> None:
    environment = {**HERE, "python_full_version": python, "python_version": python.rpartition(".")[0]}
    applying = Counter(
        canonicalize_name(pin.name)
        for pin in pins()
        if pin.marker is None or pin.marker.evaluate(environment)
    )
    assert set(applying.values()) == {1}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    for wish in map(Requirement, chain(project["dependencies"], *extras)):
        if wish.marker is None or wish.marker.evaluate(environment):
            assert canonicalize_name(wish.name) in applying, wish


def test_pins_name_no_place() -> None:
    assert all(re.fullmatch(r"==[\w.+]+", str(pin.specifier)) and pin.url is None for pin in pins())


def test_the_readme_names_the_versions_that_set_up_checks(set_up: ModuleType) -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert f"Node.js {set_up.NODE} or newer" in readme
    assert f"Python {project['requires-python'].removeprefix('>=').removesuffix('.0')} or newer" in readme
