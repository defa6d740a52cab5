"""A person at this terminal: lines from standard input, and questions on standard error.

A line is read only when it is needed, so that one text can answer several questions in turn, and waiting
for a line can be cancelled. Questions go to standard error, so that a pipe gets only the debate.
"""

from __future__ import annotations

import asyncio
import os
import select
import termios
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from moot.cli.render.output import Terminal
from moot.core.errors import MootError, Refused
from moot.rules.commands import Command

if TYPE_CHECKING:
    from moot.cli.debate_source import DebateSource

CHUNK = 64 * 1024


class Keyboard:
    def __init__(self, fd: int = 0) -> None:
        self._fd = fd
        self._pending = b""
        self._over = False

    @property
    def typed(self) -> bool:
        """Whether a person types, and not a pipe or a file."""
        return os.isatty(self._fd)

    @property
    def pasting(self) -> bool:
        """Whether further lines are there already, because a text of several paragraphs was pasted."""
        return self.typed and (b"\n" in self._pending or bool(select.select([self._fd], [], [], 0)[0]))

    async def line(self) -> str | None:
        """Return the next line without its end; None at the end of the input, or for Ctrl-D."""
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
        """Discard an unfinished line, so that it does not begin the next."""
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


MARGIN = "    "


class PersonPrompt:
    """`leave` does what Ctrl-C does; it is called for `/quit`, and for an input that ends at once."""

    def __init__(
        self, source: DebateSource, debate_id: str, keyboard: Keyboard, leave: Callable[[], None]
    ) -> None:
        self._source = source
        self._id = debate_id
        self._keyboard = keyboard
        self._terminal = Terminal.err()
        self.leave = leave

    @property
    def typed(self) -> bool:
        return self._keyboard.typed

    @property
    def pasting(self) -> bool:
        return self._keyboard.pasting

    def say(self, words: str, style: str = "dim") -> None:
        self._terminal.paragraph(words, style, MARGIN)

    async def line(self, prompt: str) -> str | None:
        """Return what they type; None where they end the input."""
        if self._keyboard.typed:
            self._terminal.prompt(MARGIN, (f"{prompt} ", "bold"))
        typed = await self._keyboard.line()
        if typed is None and self._keyboard.typed:
            self._terminal.line()
        return typed

    async def lines(self, prompt: str) -> str:
        """Several lines, up to an empty one or the end."""
        written: list[str] = []
        while (typed := await self.line(prompt)) is not None and (typed.strip() or not written):
            written += [typed] if typed.strip() else []
        return "\n".join(written)

    async def saved_draft(self, seat: str) -> str:
        """Return what they have written so far."""
        return await self._source.draft(self._id, seat)

    async def run_command(self, command: Command) -> bool:
        """Give a command; return whether it was accepted, and print why not."""
        try:
            await self._source.ask(self._id, command)
        except MootError as error:
            self.say(error.reason if isinstance(error, Refused) else str(error), "yellow")
            return False
        return True

    def discard_typed(self) -> None:
        self._keyboard.discard_typed()
