"""The suite for extensions, passed by ours and by those of docs/extending.md; and what it finds."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from moot.extension import Extension, ExtensionEvent, load
from moot.testing import ExtensionContract
from tests.extensions.behaviour.test_extending import CRUX, SOURCE
from tests.testing.behaviour.test_outside import programs, run

OURS = tuple(load())


class TestOurs(ExtensionContract):
    @pytest.fixture(params=OURS, ids=lambda extension: extension.name)
    def extension(self, request: pytest.FixtureRequest) -> Extension:
        return request.param

    @pytest.fixture
    def stored_kinds(self) -> frozenset[str]:
        return frozenset(("belief", "confidence", "persona_vote"))


class TestApplause(ExtensionContract):
    @pytest.fixture
    def applause(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
        (tmp_path / "applause.py").write_text(SOURCE, "utf-8")
        monkeypatch.syspath_prepend(tmp_path)
        yield import_module("applause")
        del sys.modules["applause"]

    @pytest.fixture
    def extension(self, applause: Any) -> Extension:
        return applause.EXTENSION

    @pytest.fixture
    def samples(self, applause: Any) -> tuple[ExtensionEvent, ...]:
        return applause.Given("Zoe"), applause.Given()


TEST_CRUX = """
import pytest

from crux import EXTENSION
from moot.extension import Extension
from moot.testing import ExtensionContract


class TestCrux(ExtensionContract):
    @pytest.fixture
    def extension(self) -> Extension:
        return EXTENSION
"""


def test_an_extension_with_a_setting_passes_with_the_conftest_of_the_page(tmp_path: Path) -> None:
    (conftest,) = (program for program in programs("testing-kit.md") if "MOOT_EXTENSIONS" in program)
    for name, text in (("crux", CRUX), ("conftest", conftest), ("test_crux", TEST_CRUX)):
        (tmp_path / f"{name}.py").write_text(text, "utf-8")
    done = run("pytest", "-q", "-p", "no:cacheprovider", folder=tmp_path)
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout
