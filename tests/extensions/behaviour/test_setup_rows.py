"""A setting that an extension brings is an argument of MCP's tool, and an option of experiments."""

from __future__ import annotations

from pathlib import Path

from tests.core.test_setup_table import printed

PROGRAM = """
import inspect, json
from moot.extensions.experiments.measuring.definition import OPTIONS
from moot.extensions.mcp.tool_functions import ToolFunctions, with_settings

print(json.dumps({
    "experiments": "house_rules" in OPTIONS,
    "mcp": "house_rules" in inspect.signature(with_settings(ToolFunctions.start_debate)).parameters,
}))
"""


def test_one_row_is_enough(tmp_path: Path) -> None:
    assert printed(PROGRAM, tmp_path, "+house:EXTENSION") == {"experiments": True, "mcp": True}
