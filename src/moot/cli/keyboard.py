"""Lines from standard input, one at a time and only when they are asked for: typed, or from a pipe or a file.

Nothing is read ahead of its need, so that one text can answer several questions in turn, and whoever waits
for a line can be told to wait no longer.
"""

from __future__ import annotations

import asyncio
import os
import select
import termios
from contextlib import suppress

CHUNK = 64 * 1024


class Keyboard:
    def __init__(self, fd: int = 0) -> None:
        self._fd = fd
        self._pending = b""
        self._over = False

    @property
    def typed(self) -> bool:
        """Somebody sits there, and sees what they type."""
        return os.isatty(self._fd)

    @property
    def pasting(self) -> bool:
        """Further lines stand there already: a whole text was put in, with its paragraphs."""
        return self.typed and (b"\n" in self._pending or bool(select.select([self._fd], [], [], 0)[0]))

    async def line(self) -> str | None:
        """The next line without its end; None where there will be no more, or Ctrl-D was typed."""
        while b"\n" not in self._pending:
            read = b"" if self._over else await self._read()
            if not read:
                # On a terminal it ends this text; there may be others.
                self._over = not self.typed
                last, self._pending = self._pending, b""
                return _decoded(last) if last else None
            self._pending += read
        line, _, self._pending = self._pending.partition(b"\n")
        return _decoded(line)

    def discard_typed(self) -> None:
        """What was typed of a line that nobody waits for any more does not begin the next."""
        if self.typed:
            self._pending = b""
            with suppress(termios.error):
                termios.tcflush(self._fd, termios.TCIFLUSH)

    async def _read(self) -> bytes:
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()
        try:
            loop.add_reader(self._fd, _wake, ready)
        except OSError:  # a file: it never lets anybody wait
            return _readable(self._fd)
        try:
            await ready
        finally:
            loop.remove_reader(self._fd)
        return _readable(self._fd)


def _wake(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)


def _readable(fd: int) -> bytes:
    try:
        return os.read(fd, CHUNK)
    except OSError:  # the terminal is gone
        return b""


def _decoded(line: bytes) -> str:
    return line.decode("utf-8", "replace").rstrip("\r")
