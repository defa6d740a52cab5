"""`moot extensions`: what is loaded beside the core, and where from."""

from __future__ import annotations

from moot.cli.render.output import Terminal, add_row, make_table
from moot.extension import VARIABLE, loaded


def extensions() -> int:
    """List the extensions, and why one is left out. MOOT_EXTENSIONS=-NAME leaves NAME out."""
    terminal = Terminal.out()
    table = make_table("extension", "from", "what it brings")
    table.columns[0].no_wrap = True
    found = loaded()
    for extension in found:
        add_row(table, (extension.name, "bold"), found.sources.get(extension.name, ""), extension.summary)
    for name, reason in found.failures.items():
        add_row(table, (name, "bold red"), "left out", reason)
    for name in found.left_out:
        add_row(table, (name, "dim"), "left out", (f"by {VARIABLE}", "dim"))
    terminal.table(table)
    return 1 if found.failures else 0
