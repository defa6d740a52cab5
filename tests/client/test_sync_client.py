"""The blocking client is generated from the asynchronous one, and up to date."""

from __future__ import annotations

import inspect
import runpy
import subprocess
import sys
from pathlib import Path

from moot.client import AsyncClient, Client

SCRIPT = Path(__file__).parents[2] / "scripts/sync_client.py"


def test_the_generated_file_is_up_to_date():
    script = runpy.run_path(str(SCRIPT))
    assert script["TARGET"].read_text("utf-8") == script["generate"](script["SOURCE"].read_text("utf-8"))


def test_without_the_generated_file_it_says_how_to_make_it():
    code = """
import sys
sys.modules["moot.client.sync_client"] = None
import moot.client
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.endswith("The blocking client is generated at set-up: run `make setup`.\n")


def test_every_method_keeps_its_parameters_and_its_docstring():
    for name, method in inspect.getmembers(AsyncClient, inspect.isfunction):
        if name.startswith("_"):
            continue
        blocking = getattr(Client, name)
        assert inspect.signature(blocking).parameters == inspect.signature(method).parameters, name
        assert blocking.__doc__ == method.__doc__, name
        assert blocking.__doc__, name
        assert not inspect.iscoroutinefunction(blocking), name
