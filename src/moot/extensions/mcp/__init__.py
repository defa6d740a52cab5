"""Moot as a server of the Model Context Protocol, so that other programs hold debates."""

from __future__ import annotations

from moot.extension import Extension, TerminalCommand

EXTENSION = Extension(
    "mcp",
    "Serves Moot to other programs over the Model Context Protocol.",
    commands=(
        TerminalCommand(
            "mcp",
            "Serve Moot to other programs over MCP, on stdin and stdout.",
            "moot.extensions.mcp.commands:mcp",
            group="This machine",
            after="extensions",
            examples=("moot mcp",),
        ),
    ),
)
