"""Which runners are alive: each locks a file of its own, and the kernel frees the lock however it dies.

The name of the lock is in the heads of the debates that a process runs, so another process may take over
exactly those whose lock is free. The lock file of a dead process is removed by the next that finds it.
Whoever listens to a session uses the same files, with names that begin with the debate.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from uuid import uuid4

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


class RunnerLock:
    """Held until `release`, or until the process ends. A forked child would hold it too."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.name = path.stem
        self._path = path
        self._descriptor: int | None = descriptor

    @classmethod
    def hold(cls, data_dir: Path, name: str | None = None) -> RunnerLock:
        """Waits if the name is held by another process; without a name a unique one is made."""
        path = _path(data_dir, name or uuid4().hex)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if name is None:
            remove_stale_locks(data_dir)
        while True:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            if _locked(descriptor, wait=True) and _is_at(path, descriptor):
                return cls(path, descriptor)
            # Another process removed the new file before we had locked it.
            os.close(descriptor)

    def release(self) -> None:
        if self._descriptor is not None:
            _remove(self._path)
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> RunnerLock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def is_free(data_dir: Path, name: str) -> bool:
    """Whether no live process holds this lock. Removes the file of a dead one."""
    path = _path(data_dir, name)
    try:
        descriptor = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return True
    try:
        # Shared, so that two processes that check at once do not take each other for the runner.
        if not _locked(descriptor, shared=True):
            return False
        # Only the file that we have locked may be removed: a new one of this name is a live runner's.
        if _locked(descriptor) and _is_at(path, descriptor):
            _remove(path)
        return True
    finally:
        os.close(descriptor)


def is_held(data_dir: Path, prefix: str) -> bool:
    """Whether a live process holds a lock whose name begins like this."""
    paths = _path(data_dir, "").parent.glob(f"{prefix}*.lock")
    return any(not is_free(data_dir, path.stem) for path in paths)


def remove_stale_locks(data_dir: Path) -> None:
    """Remove the lock files of dead processes."""
    for path in _path(data_dir, "").parent.glob("*.lock"):
        is_free(data_dir, path.stem)


def _path(data_dir: Path, name: str) -> Path:
    return data_dir / "runners" / f"{name}.lock"


def _locked(descriptor: int, *, shared: bool = False, wait: bool = False) -> bool:
    """With `flock`, which belongs to the open file and so shows locks of our own process, unlike `lockf`."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(descriptor, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        else:
            kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
            fcntl.flock(descriptor, kind if wait else kind | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _remove(path: Path) -> None:
    # Windows does not remove an open file; the next `remove_stale_locks` does.
    with suppress(FileNotFoundError, PermissionError):
        path.unlink()
