"""A progress bar for models on their way."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from moot.cli.render.output import Terminal
from moot.models.model_files import InstallProgress as Fetched
from moot.models.model_files import OnInstallProgress


@contextmanager
def install_bar() -> Generator[OnInstallProgress]:
    """On standard error; where nobody watches, one line when it begins."""
    terminal = Terminal.err()
    tasks: dict[str, TaskID] = {}
    shown = Progress(
        TextColumn("  {task.description}"),
        BarColumn(bar_width=28),
        DownloadColumn(),
        TimeRemainingColumn(compact=True),
        console=terminal.console,
        transient=True,
    )

    def report(fetched: Fetched) -> None:
        words = f"{fetched.stage} {fetched.name}"
        if fetched.name not in tasks:
            if not terminal.rich:
                terminal.line(f"Fetching {fetched.name} ({fetched.total // 1_000_000} MB) ...")
            else:
                shown.start()
            tasks[fetched.name] = shown.add_task(words, total=fetched.total)
        shown.update(tasks[fetched.name], description=words, completed=fetched.done)

    try:
        yield report
    finally:
        if shown.live.is_started:
            shown.stop()
