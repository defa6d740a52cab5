"""How help looks: headings and two columns, no boxes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from moot.cli.render.wrapping import wrap

if TYPE_CHECKING:
    from cyclopts.help import HelpEntry, HelpPanel
    from rich.console import Console, ConsoleOptions

OPTION_WIDTH, COMMAND_WIDTH = 28, 17
"""How wide the left column is."""
METAVAR_NAMES = {"STR": "TEXT", "INT": "N", "FLOAT": "N", "PATH": "FILE", "CHOICE": "WORD"}
"""What a value is, in a reader's words."""


class HelpColumns:
    """A help formatter for cyclopts."""

    def __init__(self, examples: str = "") -> None:
        self._examples = examples

    def __call__(self, console: Console, options: ConsoleOptions, panel: HelpPanel) -> None:
        if not panel.entries:
            return
        width = COMMAND_WIDTH if panel.format == "command" else OPTION_WIDTH
        shown = Text(f"{panel.title}\n", style="bold")
        for entry in panel.entries:
            shown.append(("  " + _label(entry)).ljust(width), style="not bold cyan")
            lines = wrap(_words(entry.description), max(20, options.max_width - width))
            shown.append(f"\n{' ' * width}".join(line for _, line in lines) + "\n", style="not bold")
        console.print(shown)

    def render_usage(self, console: Console, options: ConsoleOptions, usage: Any) -> None:
        usage = getattr(usage, "plain", str(usage)).strip().removeprefix("Usage:").strip()
        console.print(Text(f"Usage: {usage}"))
        console.print()

    def render_description(self, console: Console, options: ConsoleOptions, description: Any) -> None:
        console.print(description)
        if self._examples:
            console.print(Text(self._examples))


def _label(entry: HelpEntry) -> str:
    given = METAVAR_NAMES.get(entry.metavar or "", entry.metavar)
    value = f" {given}" if given and not entry.positional_label else ""
    longs = entry.positive_names
    if entry.negative_names:
        longs = tuple(name.replace("--", "--[no-]", 1) for name in longs)
    return (entry.positional_label or ", ".join((*entry.positive_shorts, *longs))) + value


def _words(description: Any) -> str:
    plain: str = getattr(getattr(description, "primary_renderable", description), "plain", "")
    return plain.strip()
