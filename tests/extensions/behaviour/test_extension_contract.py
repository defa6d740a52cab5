"""The suite for extensions, passed by ours and by that of docs/extending.md; and what it finds."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from moot.extension import Extension, ExtensionEvent, load
from moot.testing import ExtensionContract
from tests.extensions.behaviour.test_extending import SOURCE

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
