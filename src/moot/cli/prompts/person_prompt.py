"""Where somebody sits at this terminal: what they are told, what they are asked, and what they do about it.

Questions go to standard error, so that what is piped on stays what it is.
"""

from __future__ import annotations

from collections.abc import Callable

from moot.cli.debate_source import DebateSource
from moot.cli.keyboard import Keyboard
from moot.cli.remote import RemoteSource
from moot.cli.render import verdict
from moot.cli.render.output import Terminal
from moot.core.errors import MootError, Refused
from moot.rules.commands import Command
from moot.rules.participation import draft

MARGIN = "    "


class PersonPrompt:
    """`leave` is what Ctrl-C would do here: `/quit`, and a text that ends before it has begun."""

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
        for one in verdict.paragraph(words, self._terminal.width, style, MARGIN):
            self._terminal.print(one)

    async def line(self, prompt: str) -> str | None:
        """What they type; None where they end it."""
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
        """What they have written so far. A server tells it to whoever asks at the seat, not in its log."""
        if isinstance(self._source, RemoteSource):
            return await self._source.draft(self._id, seat)
        return draft(await self._source.state(self._id), seat)

    async def run_command(self, command: Command) -> bool:
        """Whether it could be done; else they are told why not."""
        try:
            await self._source.ask(self._id, command)
        except MootError as error:
            self.say(error.reason if isinstance(error, Refused) else str(error), "yellow")
            return False
        return True

    def discard_typed(self) -> None:
        self._keyboard.discard_typed()
