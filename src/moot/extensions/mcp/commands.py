"""`moot mcp`: Moot as a tool of other programs, on standard input and output."""

from __future__ import annotations

import importlib.util
import logging
import os

from moot.cli.commands.serve import settings_and_logging
from moot.cli.run_command import run
from moot.core.errors import Unavailable
from moot.installation import install_command


def mcp() -> int:
    """Serve the Model Context Protocol on stdin and stdout, until stdin ends. Debates are held here."""
    if importlib.util.find_spec("mcp") is None:
        raise Unavailable("`moot mcp` needs the package mcp, which is not installed.", install_command("mcp"))
    from moot.extensions.mcp.server import serve as serve_mcp

    if run(serve_mcp(settings_and_logging(logging.WARNING))):
        # A thread still waits for a line that may never come. All that counts is in the log.
        os._exit(0)
    return 0
