"""Which runners are alive: each holds a lock on a file of its own, and the kernel frees it however it dies.

The name of the lock stands in the head row of the debates a process runs, so another process may take over
exactly those whose lock is free. A lock file whose owner is gone is removed by whoever finds it. Listeners
are known to other processes in the same way (`compat/turn_sessions.py`): by locks whose names begin with the
debate.
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
        """Waits if someone holds this very name; a name made here is nobody else's."""
        path = _path(data_dir, name or uuid4().hex)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if name is None:
            remove_stale_locks(data_dir)
        while True:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            if _locked(descriptor, wait=True) and _is_at(path, descriptor):
                return cls(path, descriptor)
            # Someone swept the new file away before we had locked it.
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
    """Whether nobody alive holds this lock. Removes the file that a dead one has left."""
    path = _path(data_dir, name)
    try:
        descriptor = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return True
    try:
        # Shared, so that two who ask at once do not take each other for the runner.
        if not _locked(descriptor, shared=True):
            return False
        # Only the very file that we have locked may go: a new one of this name is a living runner's.
        if _locked(descriptor) and _is_at(path, descriptor):
            _remove(path)
        return True
    finally:
        os.close(descriptor)


def is_held(data_dir: Path, prefix: str) -> bool:
    """Whether anybody alive holds a lock whose name begins like this."""
    paths = _path(data_dir, "").parent.glob(f"{prefix}*.lock")
    return any(not is_free(data_dir, path.stem) for path in paths)


def remove_stale_locks(data_dir: Path) -> None:
    """Remove what dead runners have left."""
    for path in _path(data_dir, "").parent.glob("*.lock"):
        is_free(data_dir, path.stem)


def _path(data_dir: Path, name: str) -> Path:
    return data_dir / "runners" / f"{name}.lock"


def _locked(descriptor: int, *, shared: bool = False, wait: bool = False) -> bool:
    """`flock`, not `lockf`: it belongs to the open file, so our own process is told of its own locks."""
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
    # Windows refuses to remove a file that is open; the next sweep will.
    with suppress(FileNotFoundError, PermissionError):
        path.unlink()
