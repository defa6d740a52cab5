"""Progress bars, on standard error and only where it is a terminal."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from moot.engine.experiment_progress import ExperimentProgress

ShowProgress = Callable[[int, int | None, str], None]
"""How much is done, of how much in all where that is known, and what is being done."""


def _progress(terminal: Terminal, amount: ProgressColumn) -> Progress:
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
    with _progress(Terminal.err(), TaskProgressColumn()) as progress:
        task = progress.add_task(label, total=None)
        yield lambda done, total, text: progress.update(task, completed=done, total=total, description=text)


@contextmanager
def experiment_bar(name: str) -> Generator[Callable[[ExperimentProgress], None]]:
    """Show how many debates are held, how fast, and at what cost; without a terminal, a line for every tenth
    of the experiment."""
    terminal = Terminal.err()
    tenths = -1
    with _progress(terminal, TaskProgressColumn()) as bar:
        task = bar.add_task(name, total=None)

        def show(progress: ExperimentProgress) -> None:
            nonlocal tenths
            done = progress.finished + progress.failed
            spent = f" · {progress.spent_text}" if progress.spent or progress.unpriced else ""
            failed = f" · {progress.failed} failed" if progress.failed else ""
            rate = f" · {progress.per_hour:,.0f}/h" if progress.held_now else ""
            text = f"{name} {done}/{progress.planned}{failed}{rate}{spent}"
            bar.update(task, completed=done, total=progress.planned, description=text)
            reached = 10 * done // progress.planned if progress.planned else 0
            if not terminal.rich and reached > tenths:
                tenths = reached
                terminal.line(text)

        yield show


@contextmanager
def install_bar() -> Generator[OnInstallProgress]:
    """Show models on their way; where no terminal shows a bar, print one line when each begins."""
    terminal = Terminal.err()
    tasks: dict[str, TaskID] = {}
    bar = _progress(terminal, DownloadColumn())

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
