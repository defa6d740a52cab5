"""Installs in the background, one after the other.

`ModelFiles` blocks in a thread; its progress is kept here for status requests. To stop an install, its next
progress report raises: the downloaded part stays on the disk, and the next install continues from there.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from moot.core.errors import MootError, Unavailable
from moot.models.catalogue import CatalogueEntry
from moot.models.model_files import InstallProgress, ModelFiles

State = Literal["absent", "installing", "installed", "failed"]

log = logging.getLogger(__name__)


class InstallStatus(Struct, frozen=True):
    """The state of one model of the catalogue, in bytes."""

    entry: CatalogueEntry
    state: State
    done: int
    total: int
    error: str = ""
    """What went wrong, and the remedy."""


class _InstallStopped(Exception):
    """The install was stopped on request."""


class InstallManager:
    def __init__(self, model_files: ModelFiles, check_possible: Callable[[], None] = lambda: None) -> None:
        self._model_files = model_files
        self._check_possible = check_possible
        self._lock = asyncio.Lock()
        self._fetching = ""
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._stopped: set[str] = set()
        self._done: dict[str, int] = {}
        self._errors: dict[str, str] = {}
        self.finished = 0
        """Rises with every installed model: lists of models made before are out of date."""

    def all(self) -> tuple[InstallStatus, ...]:
        return tuple(self.status(name) for name in self._model_files.catalogue)

    def status(self, name: str) -> InstallStatus:
        """Raises Unavailable for a name that is not in the catalogue."""
        entry = self._model_files.catalogue.get(name)
        if entry is None:
            raise Unavailable(f"There is no model {name} to install.")
        fetched = self._model_files.fetched_bytes(entry)
        result = InstallStatus(entry, "absent", fetched, entry.size)
        if name in self._tasks:
            return replace(result, state="installing", done=max(fetched, self._done.get(name, 0)))
        if self._model_files.is_installed(entry):
            return replace(result, state="installed", done=entry.size)
        if error := self._errors.get(name):
            return replace(result, state="failed", error=error)
        return result

    def start(self, name: str) -> InstallStatus:
        """Begin to install a model, unless it is installed or being installed."""
        current = self.status(name)
        if current.state in ("absent", "failed"):
            self._errors.pop(name, None)
            self._stopped.discard(name)
            self._tasks[name] = asyncio.create_task(self._install(name), name=f"installing {name}")
            self._tasks[name].add_done_callback(lambda _: self._cleanup(name))
        return self.status(name)

    async def stop(self, name: str) -> bool:
        """Stop an install; what it has downloaded is kept. Returns whether there was one."""
        self.status(name)
        task = self._tasks.get(name)
        if task is None:
            return False
        self._cancel(name, task)
        await asyncio.wait([task])
        return True

    async def close(self) -> None:
        tasks = dict(self._tasks)
        for name, task in tasks.items():
            self._cancel(name, task)
        if tasks:
            await asyncio.wait(tasks.values())

    def _cancel(self, name: str, task: asyncio.Task[None]) -> None:
        """Cancel one that waits; the one that runs is in a thread, and stops at its next report."""
        self._stopped.add(name)
        if name != self._fetching:
            task.cancel()

    async def _install(self, name: str) -> None:
        try:
            async with self._lock:
                self._fetching = name
                await asyncio.to_thread(self._fetch, name)
            self.finished += 1
        except _InstallStopped:
            pass
        except MootError as error:
            self._errors[name] = _error_text(error)
        except Exception:
            log.exception("an install failed", extra={"model": name})
            self._errors[name] = "Something unexpected went wrong; the server's log has it. Try again."
        finally:
            self._fetching = "" if self._fetching == name else self._fetching

    def _cleanup(self, name: str) -> None:
        """Runs even for one that was cancelled before its first step."""
        self._done.pop(name, None)
        del self._tasks[name]

    def _fetch(self, name: str) -> None:
        """Runs in a thread. Raises _InstallStopped if it was stopped."""

        def report(progress: InstallProgress) -> None:
            self._done[name] = progress.done
            self._check_stopped(name)

        self._check_stopped(name)
        self._check_possible()
        self._model_files.install(name, report)

    def _check_stopped(self, name: str) -> None:
        if name in self._stopped:
            raise _InstallStopped


def _error_text(error: MootError) -> str:
    fix = error.fix if isinstance(error, Unavailable) else ""
    return f"{error} {fix}".strip()
