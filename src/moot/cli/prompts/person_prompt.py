"""Where somebody sits at this terminal: what they are told, what they are asked, and what they do about it.

Questions go to standard error, so that what is piped on stays what it is.
"""

from __future__ import annotations

from collections.abc import Callable

from moot.cli.debate_source import Hall
from moot.cli.keyboard import Keyboard
from moot.cli.remote import Remote
from moot.cli.render import verdict
from moot.cli.render.output import Page
from moot.core.errors import MootError, Refused
from moot.rules.commands import Command
from moot.rules.participation import draft

MARGIN = "    "


class Desk:
    """`leave` is what Ctrl-C would do here: `/quit`, and a text that ends before it has begun."""

    def __init__(self, hall: Hall, debate_id: str, keyboard: Keyboard, leave: Callable[[], None]) -> None:
        self._hall = hall
        self._id = debate_id
        self._keyboard = keyboard
        self._page = Page.err()
        self.leave = leave

    @property
    def typed(self) -> bool:
        return self._keyboard.typed

    @property
    def pasting(self) -> bool:
        return self._keyboard.pasting

    def tell(self, words: str, style: str = "dim") -> None:
        for one in verdict.paragraph(words, self._page.width, style, MARGIN):
            self._page.print(one)

    async def line(self, prompt: str) -> str | None:
        """What they type; None where they end it."""
        if self._keyboard.typed:
            self._page.prompt(MARGIN, (f"{prompt} ", "bold"))
        typed = await self._keyboard.line()
        if typed is None and self._keyboard.typed:
            self._page.line()
        return typed

    async def lines(self, prompt: str) -> str:
        """Several lines, up to an empty one or the end."""
        written: list[str] = []
        while (typed := await self.line(prompt)) is not None and (typed.strip() or not written):
            written += [typed] if typed.strip() else []
        return "\n".join(written)

    async def kept(self, seat: str) -> str:
        """What they have written so far. A server tells it to whoever asks at the seat, not in its log."""
        if isinstance(self._hall, Remote):
            return await self._hall.draft(self._id, seat)
        return draft(await self._hall.state(self._id), seat)

    async def do(self, command: Command) -> bool:
        """Whether it could be done; else they are told why not."""
        try:
            await self._hall.ask(self._id, command)
        except MootError as error:
            self.tell(error.reason if isinstance(error, Refused) else str(error), "yellow")
            return False
        return True

    def forget(self) -> None:
        self._keyboard.forget()
