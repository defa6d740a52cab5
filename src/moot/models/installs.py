"""Installs in the background, one after the other; Ollama pulls its models beside them.

`ModelFiles` blocks in a thread; its progress is kept here for status requests. To stop an install, its next
progress report raises: the downloaded part stays on the disk, and the next install continues from there.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from moot.core.errors import MootError, Unavailable
from moot.models import hub, ollama
from moot.models.catalogue import CatalogueEntry
from moot.models.model_files import InstallProgress, ModelFiles

State = Literal["absent", "installing", "installed", "failed"]
Pull = Callable[[str, ollama.OnPull], Awaitable[None]]

log = logging.getLogger(__name__)


class InstallStatus(Struct, frozen=True):
    """The state of one model that is or can be installed, in bytes."""

    entry: CatalogueEntry
    state: State
    done: int
    total: int
    error: str = ""
    """What went wrong, and the remedy."""
    label: str = ""
    """What the model is called in a debate."""


class _InstallStopped(Exception):
    """The install was stopped on request."""


async def no_ollama(name: str, _report: ollama.OnPull) -> None:
    raise Unavailable(f"Ollama is not set up here, so {name} cannot be pulled.")


class InstallManager:
    def __init__(
        self,
        model_files: ModelFiles,
        check_possible: Callable[[], None] = lambda: None,
        pull: Pull = no_ollama,
    ) -> None:
        self._model_files = model_files
        self._check_possible = check_possible
        self._pull = pull
        self._lock = asyncio.Lock()
        self._fetching = ""
        self._requested: dict[str, CatalogueEntry] = {}
        """Models beyond the catalogue that were asked for: of the hub, and of Ollama."""
        self._pulled: set[str] = set()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._stopped: set[str] = set()
        self._done: dict[str, int] = {}
        self._errors: dict[str, str] = {}
        self.finished = 0
        """Rises with every installed model: lists of models made before are out of date."""

    def all(self) -> tuple[InstallStatus, ...]:
        return tuple(self.status(name) for name in (*self._model_files.catalogue, *self._requested))

    def status(self, name: str) -> InstallStatus:
        """Raises Unavailable for a name that is not in the catalogue and was not asked for."""
        entry = self._model_files.catalogue.get(name) or self._requested.get(name)
        if entry is None:
            raise Unavailable(f"There is no model {name} to install.")
        is_pulled = _is_ollamas(name)
        fetched = 0 if is_pulled else self._model_files.fetched_bytes(entry)
        label = f"{ollama.PREFIX}{entry.title}" if is_pulled else f"local/{name}"
        result = InstallStatus(entry, "absent", fetched, entry.size, label=label)
        if name in self._tasks:
            return replace(result, state="installing", done=max(fetched, self._done.get(name, 0)))
        if name in self._pulled or (not is_pulled and self._model_files.is_installed(entry)):
            return replace(result, state="installed", done=entry.size)
        if error := self._errors.get(name):
            return replace(result, state="failed", error=error)
        return result

    async def request(self, source: str) -> InstallStatus:
        """Begin to install `hf:owner/repo/file.gguf`, `ollama/NAME` or a model of the catalogue.

        Raises Invalid for what names no model, Unavailable where the hub has none of that name.
        """
        if source.startswith(ollama.PREFIX):
            model = source.removeprefix(ollama.PREFIX)
            ollama.check_name(model)
            name = f"ollama:{model.replace('/', ':')}"
            self._requested[name] = CatalogueEntry(name, model, "", 0, 0)
            self._pulled.discard(name)
            return self.start(name)
        if source.startswith(hub.PREFIX):
            entry = await asyncio.to_thread(self._model_files.look_up, source)
            if entry.name not in self._model_files.catalogue:
                self._requested[entry.name] = entry
            return self.start(entry.name)
        return self.start(source.removeprefix("local/"))

    def start(self, name: str) -> InstallStatus:
        """Begin to install a model, unless it is installed or being installed."""
        current = self.status(name)
        if current.state in ("absent", "failed"):
            self._errors.pop(name, None)
            self._stopped.discard(name)
            self._tasks[name] = asyncio.create_task(self._install(current.entry), name=f"installing {name}")
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
        """Cancel one that waits or pulls; the one in a thread stops at its next report."""
        self._stopped.add(name)
        if name != self._fetching:
            task.cancel()

    async def _install(self, entry: CatalogueEntry) -> None:
        name = entry.name
        try:
            if _is_ollamas(name):
                await self._pull(entry.title, lambda done, total: self._count_pull(entry, done, total))
                self._pulled.add(name)
            else:
                async with self._lock:
                    self._fetching = name
                    await asyncio.to_thread(self._fetch, entry)
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

    def _fetch(self, entry: CatalogueEntry) -> None:
        """Runs in a thread. Raises _InstallStopped if it was stopped."""

        def report(progress: InstallProgress) -> None:
            self._done[entry.name] = progress.done
            self._check_stopped(entry.name)

        self._check_stopped(entry.name)
        self._check_possible()
        self._model_files.install_entry(entry, report)

    def _check_stopped(self, name: str) -> None:
        if name in self._stopped:
            raise _InstallStopped

    def _count_pull(self, entry: CatalogueEntry, done: int, total: int) -> None:
        self._done[entry.name] = done
        self._requested[entry.name] = replace(entry, size=total)


def _is_ollamas(name: str) -> bool:
    """Whether Ollama pulls it: no name of a file has a colon."""
    return name.startswith("ollama:")


def _error_text(error: MootError) -> str:
    fix = error.fix if isinstance(error, Unavailable) else ""
    return f"{error} {fix}".strip()
