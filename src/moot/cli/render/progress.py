"""Progress bars, on standard error and only where it is a terminal."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    ProgressColumn,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

from moot.cli.render.output import Terminal
from moot.models.model_files import InstallProgress, OnInstallProgress

ShowProgress = Callable[[int, int | None, str], None]
"""How much is done, of how much in all where that is known, and what is being done."""


def shown_progress(terminal: Terminal, amount: ProgressColumn) -> Progress:
    return Progress(
        TextColumn("  {task.description}"),
        BarColumn(bar_width=28),
        amount,
        TimeRemainingColumn(compact=True),
        console=terminal.console,
        transient=True,
        disable=not terminal.rich,
    )


@contextmanager
def progress_bar(label: str) -> Generator[ShowProgress]:
    with shown_progress(Terminal.err(), TaskProgressColumn()) as progress:
        task = progress.add_task(label, total=None)
        yield lambda done, total, text: progress.update(task, completed=done, total=total, description=text)


@contextmanager
def install_bar() -> Generator[OnInstallProgress]:
    """Show models on their way; where no terminal shows a bar, print one line when each begins."""
    terminal = Terminal.err()
    tasks: dict[str, TaskID] = {}
    bar = shown_progress(terminal, DownloadColumn())

    def report(progress: InstallProgress) -> None:
        label = f"{progress.stage} {progress.name}"
        if progress.name not in tasks:
            if not terminal.rich:
                terminal.line(f"Fetching {progress.name} ({progress.total // 1_000_000} MB) ...")
            bar.start()
            tasks[progress.name] = bar.add_task(label, total=progress.total)
        bar.update(tasks[progress.name], description=label, completed=progress.done)

    try:
        yield report
    finally:
        bar.stop()
