"""The terminal as an SVG picture, made by the program itself; it loads nothing from anywhere."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from moot.cli.follow import show_all
from moot.cli.render.live import DebateView
from moot.cli.render.output import Terminal
from moot.cli.render.screens import now
from moot.core.errors import Unavailable
from moot.core.events import Recorded

FORMAT = """\
<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
  <style>
    .{unique_id}-matrix {{
      font-family: ui-monospace, "SFMono-Regular", Menlo, Consolas, "DejaVu Sans Mono", monospace;
      font-size: {char_height}px;
      line-height: {line_height}px;
    }}
    .{unique_id}-title {{ font-size: 15px; font-family: ui-sans-serif, system-ui, sans-serif; }}
    {styles}
  </style>
  <defs>
    <clipPath id="{unique_id}-clip-terminal">
      <rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
    </clipPath>
    {lines}
  </defs>
  {chrome}
  <g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
    {backgrounds}
    <g class="{unique_id}-matrix">{matrix}</g>
  </g>
</svg>
"""


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _theme(background: str, ink: str, *colours: str) -> TerminalTheme:
    return TerminalTheme(_rgb(background), _rgb(ink), [_rgb(colour) for colour in colours])


LIGHT = _theme(
    "#faf8f3", "#1d1b17",
    "#1d1b17", "#b3432b", "#3f7d3a", "#8a6d1b", "#2f5d8a", "#6d4aa2", "#0b6e6e", "#6b655b",
)  # fmt: skip
DARK = _theme(
    "#16150f", "#ece7db",
    "#38342a", "#e58a72", "#8fbf7f", "#d3b25c", "#8ab4dd", "#b79be0", "#4fb8b4", "#ece7db",
)  # fmt: skip


class SvgTerminal(Terminal):
    """Keeps its lines until it is clear which of them go into the picture."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self.lines: list[Text] = []

    def print(self, what: Text) -> None:
        self._blank = not what.plain.strip()
        self.lines.append(what)


def draw(
    records: Sequence[Recorded], path: Path, *, reasoning: bool, dark: bool, columns: int, cut: int
) -> None:
    """Write the picture; with `cut`, only about so many lines from either end, and dots between them."""
    console = Console(
        record=True,
        width=columns,
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
        legacy_windows=False,
        no_color=False,
    )
    sheet = SvgTerminal(console)
    show_all(records, DebateView(sheet, now, reasoning=reasoning, moving=False))
    for line in (*_cut(sheet.lines, cut), Text()):
        console.print(line)
    picture = console.export_svg(
        title="moot", theme=DARK if dark else LIGHT, code_format=FORMAT, unique_id="moot"
    )
    try:
        path.write_text(picture, "utf-8")
    except OSError as error:
        raise Unavailable(f"{path} cannot be written: {error.strerror}.") from error
    Terminal.err().line("Written to ", (str(path), "bold"))


def _cut(lines: list[Text], cut: int) -> list[Text]:
    """Cut between paragraphs, not within a sentence."""
    gaps = [index for index, line in enumerate(lines) if not line.plain.strip(" ┃")]
    first = next((index for index in gaps if index >= cut), 0)
    last = next((index for index in gaps if index >= len(lines) - cut), 0)
    if not cut or last <= first:
        return lines
    return [*lines[:first], Text(), Text("    ⋮", style="dim"), *lines[last:]]
