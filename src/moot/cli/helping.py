"""How help looks: headings and two columns, no boxes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from cyclopts.help import HelpEntry, HelpPanel
    from rich.console import Console, ConsoleOptions

OPTIONS, COMMANDS = 26, 12
"""How wide the left column is."""


class Columns:
    """A help formatter for cyclopts."""

    def __init__(self, examples: str = "") -> None:
        self._examples = examples

    def __call__(self, console: Console, options: ConsoleOptions, panel: HelpPanel) -> None:
        if not panel.entries:
            return
        console.print(Text(str(panel.title), style="bold"))
        table = Table.grid(padding=(0, 2, 0, 0))
        width = COMMANDS if panel.format == "command" else OPTIONS
        table.add_column(min_width=width, max_width=width, overflow="fold")
        table.add_column(overflow="fold")
        for entry in panel.entries:
            table.add_row(Text("  " + _label(entry), style="cyan"), entry.description or "")
        console.print(table)
        console.print()

    def render_usage(self, console: Console, options: ConsoleOptions, usage: Any) -> None:
        usage = getattr(usage, "plain", str(usage)).strip().removeprefix("Usage:").strip()
        console.print(Text(f"Usage: {usage}"))
        console.print()

    def render_description(self, console: Console, options: ConsoleOptions, description: Any) -> None:
        console.print(description)
        if self._examples:
            console.print(Text(self._examples))


def _label(entry: HelpEntry) -> str:
    value = f" {entry.metavar}" if entry.metavar and not entry.positional_label else ""
    longs = entry.positive_names
    if entry.negative_names:
        longs = tuple(name.replace("--", "--[no-]", 1) for name in longs)
    return (entry.positional_label or ", ".join((*entry.positive_shorts, *longs))) + value
