"""How help looks: headings and two columns, no boxes; below its first sentence a command has examples."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import IO, TYPE_CHECKING, Any

from moot.cli.render.wrapping import line_width, wrap
from moot.extension import loaded

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
    "debate": (
        "moot debate Vegetarianism",
        'moot debate "This house would ban homework" --model ollama/llama3.2',
    ),
    "list": (
        "moot list",
        "moot list --search homework --status completed",
    ),
    "show": ("moot show last",),
    "replay": ("moot replay last --speed 4",),
    "verdicts": ("moot verdicts last",),
    "stats": ("moot stats",),
    "delete": ("moot delete last --yes",),
    "resume": (
        "moot resume last",
        "moot resume last --step turn",
    ),
    "pause": ("moot pause last --now",),
    "inject": ('moot inject last "Mind the cost."',),
    "skip": ("moot skip last --speech 4",),
    "retry": ("moot retry last",),
    "next-round": ("moot next-round last",),
    "judge": ("moot judge last",),
    "decide": ('moot decide last for --reason "The cost was never answered."',),
    "stop": ("moot stop last",),
    "abort": ("moot abort last",),
    "leave": ("moot leave last",),
    "draft": ('moot draft last "Homework widens the gap."',),
    "polls": (
        "moot polls last",
        "moot polls close last",
    ),
    "token": (
        "moot token new zoe --role viewer --days 30",
        "moot token revoke zoe",
    ),
    "backup": ("moot backup debates.db",),
    "models": (
        "moot models install qwen3-4b",
        "moot models install hf:owner/repo/file.gguf",
        "moot models install ollama/llama3.2",
        "moot models test openai/gpt-6-luna",
    ),
    "formats": (
        "moot formats show oxford",
        "moot formats check mine.toml",
    ),
    "tools": ('moot tools try files/read \'{"path": "notes.md"}\'',),
    "extensions": ("moot extensions", "MOOT_EXTENSIONS=-experiments moot serve"),
    "doctor": ("moot doctor",),
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
    "export": ("moot export last -o debate.html",),
    "migrate-store": (
        "moot migrate-store sqlite:moot.db postgresql://moot@db.example/moot --dry-run",
        "moot migrate-store sqlite:moot.db postgresql://moot@db.example/moot",
        "moot migrate-store postgresql://moot@db.example/moot sqlite:back.db",
    ),
    "keys": (
        "moot keys set openai",
        "moot keys set anthropic < key.txt",
        "moot keys test openai",
    ),
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


class HelpWriter:
    """Writes help to a stream, on a terminal wrapped and in colour. Of rich it loads at most `rich.cells`."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._width = line_width(stream)
        self._bold, self._cyan = _style_codes(stream)

    def usage(self, usage: str) -> None:
        self._write(f"Usage: {usage}")

    def description(self, description: str, examples: tuple[str, ...]) -> None:
        self._write(description)
        if examples:
            self._write("".join(f"  {example}\n" for example in examples))

    def columns(self, title: str, rows: Mapping[str, str], left: int) -> None:
        """Write a heading and its rows; the left column has the given width."""
        lines = [_styled(title, self._bold)]
        room = None if self._width is None else max(20, self._width - left)
        for label, text in rows.items():
            wrapped = [line for _, line in wrap(text, room)] or [""]
            lines.append((_styled(f"  {label}".ljust(left), self._cyan) + wrapped[0]).rstrip())
            lines += [f"{' ' * left}{line}" for line in wrapped[1:]]
        self._stream.write("\n".join(lines) + "\n\n")
        self._stream.flush()

    def _write(self, text: str) -> None:
        lines = [line for _, line in wrap(text, self._width)]
        self._stream.write("\n".join(lines) + "\n\n")
        self._stream.flush()


class HelpColumns:
    """A help formatter for cyclopts."""

    def __init__(self, examples: tuple[str, ...] = ()) -> None:
        self._examples = examples

    def __call__(self, console: Console, options: ConsoleOptions, panel: HelpPanel) -> None:
        if panel.entries:
            width = COMMAND_WIDTH if panel.format == "command" else OPTION_WIDTH
            rows = {_label(entry): _plain_text(entry.description) for entry in panel.entries}
            HelpWriter(console.file).columns(_plain_text(panel.title), rows, width)

    def render_usage(self, console: Console, options: ConsoleOptions, usage: Any) -> None:
        usage = _plain_text(usage).removeprefix("Usage:").strip()
        HelpWriter(console.file).usage(usage)

    def render_description(self, console: Console, options: ConsoleOptions, description: Any) -> None:
        HelpWriter(console.file).description(_plain_text(description), self._examples)


def help_of(command: str) -> HelpColumns:
    rows = [row for extension in loaded() for row in extension.commands]
    own = next((row.examples for row in rows if (row.name, row.parent) == (command, "")), ())
    below = (example for row in rows if row.parent == command for example in row.examples)
    return HelpColumns((*(own or EXAMPLES.get(command, ())), *below))


def _label(entry: HelpEntry) -> str:
    metavar = METAVAR_NAMES.get(entry.metavar or "", entry.metavar)
    value = f" {metavar}" if metavar and not entry.positional_label else ""
    longs = entry.positive_names
    if entry.negative_names:
        longs = tuple(name.replace("--", "--[no-]", 1) for name in longs)
    return (entry.positional_label or ", ".join((*entry.positive_shorts, *longs))) + value


def _plain_text(words: Any) -> str:
    """Return the text of what cyclopts passes: a string, or an object of rich or of its own."""
    words = getattr(words, "primary_renderable", words)
    return str(getattr(words, "plain", words or "")).strip()


def _style_codes(stream: IO[str]) -> tuple[str, str]:
    """Return the codes for bold and cyan; empty ones where they would be printed as they are."""
    # Older consoles of Windows do not know the codes; its Terminal does, and sets this variable.
    unknown = os.name == "nt" and "WT_SESSION" not in os.environ
    if not stream.isatty() or unknown or os.environ.get("TERM", "") in ("dumb", "unknown"):
        return "", ""
    return "\x1b[1m", "" if os.environ.get("NO_COLOR") else "\x1b[36m"


def _styled(text: str, code: str) -> str:
    return f"{code}{text}\x1b[0m" if code else text
