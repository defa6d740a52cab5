"""`moot mcp`: Moot as a tool for other programs."""

from __future__ import annotations


def mcp() -> int:
    """Serve the Model Context Protocol on stdin and stdout, until stdin ends. Debates are held here."""
    import importlib.util
    import logging
    import os

    from moot import settings as configuration
    from moot.cli.error_messages import debugging
    from moot.cli.follow import run
    from moot.core.errors import Unavailable
    from moot.tools.toolbox import INSTALL_HINT
    from moot.web import logging_setup

    if importlib.util.find_spec("mcp") is None:
        raise Unavailable("`moot mcp` needs the package mcp, which is not installed.", INSTALL_HINT)
    from moot.mcp_server.stdio_server import serve

    settings = configuration.load()
    logging_setup.set_up_logging(settings, level=logging.DEBUG if debugging() else logging.WARNING)
    if run(serve(settings)):
        # A thread still waits for a line that may never come. All that counts is in the log.
        os._exit(0)
    return 0
