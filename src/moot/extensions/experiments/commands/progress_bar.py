"""The progress of an experiment in the terminal."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

from rich.progress import TaskProgressColumn

from moot.cli.render.output import Terminal
from moot.cli.render.progress import shown_progress
from moot.extensions.experiments.progress import ExperimentProgress


@contextmanager
def experiment_bar(name: str) -> Generator[Callable[[ExperimentProgress], None]]:
    """Show how many debates are held, how fast, and at what cost; without a terminal, a line for every tenth
    of the experiment."""
    terminal = Terminal.err()
    tenths = -1
    with shown_progress(terminal, TaskProgressColumn()) as bar:
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
