"""The real small model, fetched once into a folder outside the repository."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from moot.models.catalogue import DEFAULT
from moot.models.model_files import ModelFiles


@pytest.fixture(scope="session")
def manager() -> ModelFiles:
    """`MOOT_TEST_MODELS` names the folder; the download, where one is needed, is set-up."""
    folder = os.environ.get("MOOT_TEST_MODELS") or "~/.cache/moot-test-models"
    manager = ModelFiles(Path(folder).expanduser(), environ=os.environ)
    manager.install(DEFAULT)
    return manager
