"""People at this terminal take part: when the debate waits for one of them, they are asked here.

`PeoplePrompts` is a screen around a screen. It follows the log, so it knows when it is a person's turn, and
when it no longer is because time ran out or they spoke in another terminal.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, Literal, assert_never

from msgspec import Struct

from moot.cli.prompts.fill_ballot import fill_in_ballot
from moot.cli.prompts.person_prompt import Keyboard, PersonPrompt
from moot.cli.prompts.type_speech import type_speech
from moot.cli.render.screens import Screen
from moot.cli.visible_records import PeopleHere, VisibleRecords
from moot.core.events import Recorded, TurnCompleted, TurnInterrupted
from moot.core.schedule import opposed
from moot.core.state import Debate, Turn
from moot.rules.participation import AnswerPoint

if TYPE_CHECKING:
    from moot.cli.debate_source import DebateSource

YES_OR_NO = {"yes": True, "y": True, "no": False, "n": False}


class PendingPrompt(Struct, frozen=True):
    """What the debate waits for: a speech, yes or no to a point of information, or a ballot."""

    kind: Literal["speech", "point", "ballot"]
    number: int
    """Of the turn, of the side question, or of the judging."""
    person: str
    """The id of the seat or of the judge."""


def pending_prompt(debate: Debate, people_here: PeopleHere) -> PendingPrompt | None:
    """Return what the debate waits for at this terminal, or None."""
    if debate.status == "paused":
        return None
    for aside in debate.open_asides:
        if aside.kind == "leave" and aside.seat in people_here.seats:
            return PendingPrompt("point", aside.number, aside.seat)
    for turn in debate.live:
        if turn.seat in people_here.seats and turn.call is not None and debate.seat(turn.seat).model.human:
            return PendingPrompt("speech", turn.number, turn.seat)
    judging = debate.judging
    if judging is None or judging.closed:
        return None
    for judge in judging.judges:
        if judge.id in people_here.judges and judge.model.human and not judging.has_ballot(judge.id, 0):
            return PendingPrompt("ballot", judging.number, judge.id)
    return None


class PeoplePrompts:
    """`debate` is the present state: no one is asked about what was before."""

    def __init__(
        self,
        source: DebateSource,
        debate: Debate,
        view: Screen,
        people_here: PeopleHere,
        leave: Callable[[], None],
        keyboard: Keyboard | None = None,
    ) -> None:
        self._view = view
        self._people = people_here
        self._keyboard = keyboard or Keyboard()
        self._person = PersonPrompt(source, debate.id, self._keyboard, leave)
        self._visible = VisibleRecords(people_here)
        self._since = debate.seq
        self._debate = debate
        self._shown_turns: set[int] = set()
        self._gave_help = False
        self._asked: PendingPrompt | None = None
        self._asking: asyncio.Task[None] | None = None

    async def follow(
        self, records: AsyncIterable[Recorded], begun: Debate | None
    ) -> AsyncGenerator[Recorded, None]:
        """The records that those at this terminal may see; what is asked of them is asked in between."""
        self._visible = VisibleRecords(self._people, begun)
        async for recorded in records:
            for visible in self._visible.visible(recorded):
                yield visible
            self._update_prompt(recorded.seq)

    def show(self, debate: Debate, recorded: Recorded) -> None:
        self._debate = debate = self._visible.with_votes(debate)
        self._view.show(debate, recorded)
        if isinstance(recorded.event, TurnCompleted | TurnInterrupted):
            self._shown_turns.add(recorded.event.turn)

    def catch_up(self, debate: Debate) -> None:
        self._debate = debate
        self._view.catch_up(debate)
        self._update_prompt(debate.seq)

    def suspend(self, turn: int | None = None) -> None:
        self._view.suspend(turn)

    def resume(self) -> None:
        self._view.resume()

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

    def _update_prompt(self, seq: int) -> None:
        want = pending_prompt(self._debate, self._people) if seq >= self._since else None
        if want == self._asked:
            return
        before, self._asked = self._asking, want
        if before is not None:
            before.cancel()
        self._asking = asyncio.create_task(self._ask(want, before), name="asking") if want else None

    async def _ask(self, want: PendingPrompt, before: asyncio.Task[None] | None) -> None:
        if before is not None:
            await asyncio.gather(before, return_exceptions=True)
        types_speech = want.kind == "speech" and self._keyboard.typed
        self._view.suspend(want.number if types_speech else None)
        # What was typed before the question is no answer to it, such as the rest of a text that was pasted.
        self._person.discard_typed()
        try:
            await self._answered(want)
        except asyncio.CancelledError:
            self._person.discard_typed()
            raise
        finally:
            self._view.resume()

    def _answered(self, want: PendingPrompt) -> Coroutine[Any, Any, None]:
        match want.kind:
            case "speech":
                return self._ask_speech(want.number)
            case "point":
                return self._take_or_decline(want.person)
            case "ballot":
                return fill_in_ballot(self._person, self._debate, want.person)
            case _:
                assert_never(want.kind)

    async def _ask_speech(self, number: int) -> None:
        if (turn := self._debate.turn(number)) is not None:
            first, self._gave_help = not self._gave_help, True
            await type_speech(self._person, lambda: self._debate, turn, self._unread(turn), first=first)

    async def _take_or_decline(self, seat: str) -> None:
        self._person.say("A point of information is offered. Do you take it? yes or no", "bold")
        while (typed := await self._person.line("take it ›")) is not None:
            if (answer := YES_OR_NO.get(typed.strip().casefold())) is not None:
                await self._person.run_command(AnswerPoint(seat, answer))
                return

    def _unread(self, turn: Turn) -> Turn | None:
        """The last speech of the other side, where it was given before anything was shown here."""
        debate = self._debate
        others = [t for t in debate.turns if t.has_words and opposed(debate.seats, t.seat, turn.seat)]
        return others[-1] if others and others[-1].number not in self._shown_turns else None
