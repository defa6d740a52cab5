"""How help looks: headings and two columns, no boxes; below its first sentence a command has examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cyclopts import App
from rich.text import Text

from moot.cli.render.wrapping import wrap

if TYPE_CHECKING:
    from cyclopts.help import HelpEntry, HelpPanel
    from rich.console import Console, ConsoleOptions

OPTION_WIDTH, COMMAND_WIDTH = 28, 17
"""How wide the left column is."""
METAVAR_NAMES = {"STR": "TEXT", "INT": "N", "FLOAT": "N", "PATH": "FILE", "CHOICE": "WORD"}
"""What a value is, in a reader's words."""


FIRST_EXAMPLES = (
    'moot "Should AI development be regulated by government?"',
    'moot "Cats are better than dogs" --rounds 2 --intensity 5',
    'moot "Tea is better than coffee" --for human --against ollama/llama3.2',
    'moot "This house would ban homework" --model ollama/llama3.2 -o debate.html',
    "moot show last",
    'moot "Tabs are better than spaces" --server http://127.0.0.1:8000',
)
EXAMPLES: dict[str, tuple[str, ...]] = {
    "ask": ('moot ask last "Who pays for it?" --to for',),
    "extend": (
        "moot extend last --seconds 60",
        "moot extend last --rounds 1",
    ),
    "take": (
        "moot take last against",
        "moot watch last --as against",
    ),
    "say": (
        'moot say last "Homework widens the gap it should close."',
        "moot say last - < speech.txt",
    ),
    "point": (
        'moot point last "And who would mark it?"',
        "moot point last no",
    ),
    "vote": ("moot vote last for",),
    "ballot": ('moot ballot last against "The cost was never answered." --speeches "2 4"',),
    "rejudge": (
        "moot rejudge last --judge ollama/qwen3 --judge ollama/gemma3",
        'moot rejudge last --criterion "Who was clearer?"',
    ),
    "invite": (
        "moot invite last participant --seat against --name Zoe",
        "moot invite last audience --many",
    ),
    "export": (
        "moot export last -o debate.html",
        "moot export legacy events.jsonl",
    ),
    "import": (
        "moot import legacy postgresql://me@db.example/app --dry-run",
        "moot import legacy old.db --table events",
        "moot import sessions postgresql://me@db.example/app",
    ),
    "migrate-store": (
        "moot migrate-store sqlite:moot.db postgresql://moot@db.example/moot --dry-run",
        "moot migrate-store sqlite:moot.db postgresql://moot@db.example/moot",
        "moot migrate-store postgresql://moot@db.example/moot sqlite:back.db",
    ),
    "conversations": ("moot conversations show 6f1c1c1e-5a0e-4f0e-9d55-0d5a3c0f1a11",),
    "serve": (
        "moot serve --open",
        "moot serve --no-run --host 0.0.0.0",
    ),
    "work": (
        "moot work",
        "moot work --concurrency 20 --port 8001",
    ),
    "cluster": (
        "moot cluster status",
        "moot cluster status --json",
    ),
    "join": ("moot join last --name Zoe --server https://moot.example",),
    "watch": (
        "moot take last against",
        "moot watch last --as against",
    ),
}


def command_group(name: str, help: str) -> App:
    """Return a command with subcommands, or the app of a command that has its own default."""
    return App(name=name, help=help, help_format="plaintext", help_formatter=help_of(name))


def help_of(command: str) -> HelpColumns:
    return HelpColumns(EXAMPLES.get(command, ()))


class HelpColumns:
    """A help formatter for cyclopts."""

    def __init__(self, examples: tuple[str, ...] = ()) -> None:
        self._examples = "".join(f"  {example}\n" for example in examples)

    def __call__(self, console: Console, options: ConsoleOptions, panel: HelpPanel) -> None:
        if not panel.entries:
            return
        width = COMMAND_WIDTH if panel.format == "command" else OPTION_WIDTH
        text = Text(f"{panel.title}\n", style="bold")
        for entry in panel.entries:
            text.append(("  " + _label(entry)).ljust(width), style="not bold cyan")
            lines = wrap(_words(entry.description), max(20, options.max_width - width))
            text.append(f"\n{' ' * width}".join(line for _, line in lines) + "\n", style="not bold")
        console.print(text)

    def render_usage(self, console: Console, options: ConsoleOptions, usage: Any) -> None:
        usage = getattr(usage, "plain", str(usage)).strip().removeprefix("Usage:").strip()
        console.print(Text(f"Usage: {usage}"))
        console.print()

    def render_description(self, console: Console, options: ConsoleOptions, description: Any) -> None:
        console.print(description)
        if self._examples:
            console.print(Text(self._examples))


def _label(entry: HelpEntry) -> str:
    metavar = METAVAR_NAMES.get(entry.metavar or "", entry.metavar)
    value = f" {metavar}" if metavar and not entry.positional_label else ""
    longs = entry.positive_names
    if entry.negative_names:
        longs = tuple(name.replace("--", "--[no-]", 1) for name in longs)
    return (entry.positional_label or ", ".join((*entry.positive_shorts, *longs))) + value


def _words(description: Any) -> str:
    plain: str = getattr(getattr(description, "primary_renderable", description), "plain", "")
    return plain.strip()
