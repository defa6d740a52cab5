"""Those at this terminal take part: when the debate waits for one of them, they are asked, and answer here.

A `Talk` is a screen around a screen. It follows the debate like any other, so it learns from the log when it
is somebody's turn, and also when it no longer is: because their time is up, or they spoke elsewhere.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Coroutine
from typing import Any, assert_never

from msgspec import Struct

from moot.cli.debate_source import Hall
from moot.cli.keyboard import Keyboard
from moot.cli.prompts.fill_ballot import fill_in
from moot.cli.prompts.person_prompt import Desk
from moot.cli.prompts.type_speech import speak
from moot.cli.render.screens import Screen
from moot.cli.visible_records import Attendance, Eyes
from moot.core.events import Recorded, TurnCompleted, TurnInterrupted
from moot.core.schedule import opposed
from moot.core.state import Debate, Turn
from moot.rules.participation import AnswerPoint

YES_OR_NO = {"yes": True, "y": True, "no": False, "n": False}


class Speech(Struct, frozen=True):
    turn: int


class Leave(Struct, frozen=True):
    """A point of information waits for the speaker's yes or no."""

    aside: int
    seat: str


class Paper(Struct, frozen=True):
    judging: int
    judge: str


Wanted = Speech | Leave | Paper


def wanted(debate: Debate, who: Attendance) -> Wanted | None:
    """What the debate waits for at this terminal, one thing after the other."""
    if debate.status == "paused":
        return None
    for aside in debate.open_asides:
        if aside.kind == "leave" and aside.seat in who.seats:
            return Leave(aside.number, aside.seat)
    for turn in debate.live:
        if turn.seat in who.seats and turn.call is not None and debate.seat(turn.seat).model.human:
            return Speech(turn.number)
    judging = debate.judging
    if judging is None or judging.closed:
        return None
    for judge in judging.judges:
        if judge.id in who.judges and judge.model.human and not judging.has(judge.id, 0):
            return Paper(judging.number, judge.id)
    return None


class Talk:
    """`debate` is how it stands now: nobody is asked about what was before."""

    def __init__(
        self,
        hall: Hall,
        debate: Debate,
        view: Screen,
        who: Attendance,
        leave: Callable[[], None],
        keyboard: Keyboard | None = None,
    ) -> None:
        self._view = view
        self._who = who
        self._keyboard = keyboard or Keyboard()
        self._desk = Desk(hall, debate.id, self._keyboard, leave)
        self._eyes = Eyes(who)
        self._since = debate.seq
        self._debate = debate
        self._on_page: set[int] = set()
        self._told_how = False
        self._asked: Wanted | None = None
        self._asking: asyncio.Task[None] | None = None

    async def follow(
        self, records: AsyncIterable[Recorded], begun: Debate | None
    ) -> AsyncGenerator[Recorded, None]:
        """The records that those at this terminal may see; what is asked of them is asked in between."""
        self._eyes = Eyes(self._who, begun)
        async for recorded in records:
            for shown in self._eyes.see(recorded):
                yield shown
            self._look(recorded.seq)

    def show(self, debate: Debate, recorded: Recorded) -> None:
        self._debate = debate = self._eyes.counted(debate)
        self._view.show(debate, recorded)
        if isinstance(recorded.event, TurnCompleted | TurnInterrupted):
            self._on_page.add(recorded.event.turn)

    def catch_up(self, debate: Debate) -> None:
        self._debate = debate
        self._view.catch_up(debate)
        self._look(debate.seq)

    def give_way(self, turn: int | None = None) -> None:
        self._view.give_way(turn)

    def go_on(self) -> None:
        self._view.go_on()

    def tick(self) -> None:
        if self._asking is None or self._asking.done():
            self._view.tick()

    def flush(self) -> None:
        self._view.flush()

    def close(self) -> None:
        self._view.close()

    async def end(self) -> None:
        """Ask no more."""
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.gather(self._asking, return_exceptions=True)

    def _look(self, seq: int) -> None:
        want = wanted(self._debate, self._who) if seq >= self._since else None
        if want == self._asked:
            return
        before, self._asked = self._asking, want
        if before is not None:
            before.cancel()
        self._asking = asyncio.create_task(self._ask(want, before), name="asking") if want else None

    async def _ask(self, want: Wanted, before: asyncio.Task[None] | None) -> None:
        if before is not None:
            await asyncio.gather(before, return_exceptions=True)
        self._view.give_way(want.turn if isinstance(want, Speech) and self._keyboard.typed else None)
        # What was typed before the question is no answer to it, such as the rest of a text that was pasted.
        self._desk.forget()
        try:
            await self._answered(want)
        except asyncio.CancelledError:
            self._desk.forget()
            raise
        finally:
            self._view.go_on()

    def _answered(self, want: Wanted) -> Coroutine[Any, Any, None]:
        match want:
            case Speech():
                return self._speak(want.turn)
            case Leave():
                return self._take_or_decline(want)
            case Paper():
                return fill_in(self._desk, self._debate, want.judge)
            case _:
                assert_never(want)

    async def _speak(self, number: int) -> None:
        if (turn := self._debate.turn(number)) is not None:
            first, self._told_how = not self._told_how, True
            await speak(self._desk, lambda: self._debate, turn, self._unread(turn), first=first)

    async def _take_or_decline(self, want: Leave) -> None:
        self._desk.tell("A point of information is offered. Do you take it? yes or no", "bold")
        while (typed := await self._desk.line("take it ›")) is not None:
            if (answer := YES_OR_NO.get(typed.strip().casefold())) is not None:
                await self._desk.do(AnswerPoint(want.seat, answer))
                return

    def _unread(self, turn: Turn) -> Turn | None:
        """The last speech of the other side, where it was given before anything was shown here."""
        debate = self._debate
        others = [t for t in debate.turns if t.said and opposed(debate.seats, t.seat, turn.seat)]
        return others[-1] if others and others[-1].number not in self._on_page else None
