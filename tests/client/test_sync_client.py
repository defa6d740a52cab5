"""The blocking client is generated from the asynchronous one, and up to date."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

from moot.client import AsyncClient, Client

SCRIPT = Path(__file__).parents[2] / "scripts/sync_client.py"


def test_the_generated_file_is_up_to_date():
    checked = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr


def test_every_method_keeps_its_parameters_and_its_docstring():
    for name, method in inspect.getmembers(AsyncClient, inspect.isfunction):
        if name.startswith("_"):
            continue
        blocking = getattr(Client, name)
        assert inspect.signature(blocking).parameters == inspect.signature(method).parameters, name
        assert blocking.__doc__ == method.__doc__, name
        assert blocking.__doc__, name
        assert not inspect.iscoroutinefunction(blocking), name
