"""A debate on the page: what is finished is printed once, what is going on moves at the bottom.

The same code shows a debate live, replayed, or afterwards; in a pipe it is the same page without the moving
part. Only the running lines and a short status are ever drawn again, so the cost of a frame does not grow
with the debate and the scrollback stays whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime

from rich.console import Group
from rich.live import Live
from rich.text import Text

from moot.cli.render import ending as closing
from moot.cli.render import event_notes, verdict
from moot.cli.render.heading import heading, margin
from moot.cli.render.output import Page, Part, hue, text
from moot.cli.render.speech import Voice, facts
from moot.cli.render.status_line import status
from moot.core.events import (
    CallDelta,
    CallFailed,
    CallStarted,
    DebateEnded,
    DebateFailed,
    DebateOpened,
    Event,
    JudgingStarted,
    PollClosed,
    Recorded,
    RemarkInjected,
    RoundStarted,
    TurnCompleted,
    TurnFailed,
    TurnInterrupted,
    TurnStarted,
    VerdictReached,
)
from moot.core.state import Debate, Turn
from moot.views.safe_text import line
from moot.views.tool_uses import aids, uses
from moot.views.transcript import notes as turn_notes
from moot.views.transcript import speech_title, thoughts

MARGIN = 6

Clock = Callable[[], datetime]


class Stage:
    """`moving` draws the running lines and the status at the bottom of a terminal; `remark` stands below the
    heading, `ending` behind the commands that the page advises to type."""

    def __init__(
        self,
        page: Page,
        clock: Clock,
        *,
        reasoning: bool = True,
        moving: bool = True,
        hint: str = "",
        remark: str = "",
        ending: str = "",
    ) -> None:
        self._page = page
        self._clock = clock
        self._hint = hint
        self._remark = remark
        self._advice = ending
        self._reasoning = reasoning
        self._debate: Debate | None = None
        self._voices: list[Voice] = []
        self._typed: set[int] = set()
        self._waiting: list[RemarkInjected] = []
        self._frame = 0
        self._live = _moving_part(page) if moving and page.rich else None

    def __enter__(self) -> Stage:
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._live:
            self._live.update(Text(), refresh=False)
            self._live.stop()
            self._live = None

    def give_way(self, turn: int | None = None) -> None:
        """Nothing moves while somebody types; what they type as that speech is on the page already."""
        if self._live:
            self._live.update(Text(), refresh=False)
            self._live.stop()
        if turn is not None and self._page.rich:
            self._typed.add(turn)

    def go_on(self) -> None:
        if self._live:
            self._live.start()

    def tick(self) -> None:
        """Draw the moving part; a few times a second is enough."""
        if self._live and self._debate:
            self._frame += 1
            self._live.update(Group(*self._running(self._debate)), refresh=True)

    def flush(self) -> None:
        """Nothing more will be shown: print what is still on its way."""
        for voice in self._voices:
            if self._debate is None:
                return
            if voice is not self._voices[0]:
                self._announce(self._debate, voice)
            self._finish_thought(self._debate, voice)
            self._lines(self._debate, voice, voice.said.finish()[0])
            self._page.line(("    still speaking", "dim"))
        self._remarks()

    # --- what happens ---------------------------------------------------------------------------------

    def catch_up(self, debate: Debate) -> None:
        """Begin in the middle: the motion, and what comes from now on."""
        self._debate = debate
        self._heading(debate)
        if any(turn.said for turn in debate.turns):
            self._page.gap()
            self._note(f"The speeches before this one: moot show {debate.id}{self._advice}")
        for turn in debate.live:
            self._voices.append(Voice(turn, self._page.width - MARGIN))
            self._voices[-1].said.add(turn.text)
        self._page.gap()
        if self._voices:
            self._announce(debate, self._voices[0])
        if debate.being_judged:
            self._rule("Verdict")

    def show(self, debate: Debate, recorded: Recorded) -> None:
        """`debate` is the state that includes the event."""
        self._debate = debate
        event = recorded.event
        match event:
            case CallDelta():
                self._delta(debate, event)
            case DebateOpened():
                self._heading(debate)
            case RoundStarted():
                self._rule(f"Round {event.round} of {debate.rounds_planned}")
            case TurnStarted():
                self._turn_started(debate, event)
            case TurnCompleted() | TurnFailed() | TurnInterrupted():
                self._turn_ended(debate, event.turn)
            case CallStarted() if event.attempt > 1 and event.continues is None:
                self._begin_again(event)
            case RemarkInjected():
                self._waiting.append(event)
            case JudgingStarted():
                self._remarks()
                self._rule("Verdict" if not debate.final else "Judged again")
            case VerdictReached():
                self._verdict(debate, event)
            case PollClosed():
                self._poll_closed(debate, event)
            case DebateEnded() | DebateFailed():
                self._end(debate, event)
            case _:
                self._aside(debate, event)

    def _heading(self, debate: Debate) -> None:
        for one in heading(debate, self._page.width, coloured=self._page.rich):
            self._page.print(one)
        if self._remark:
            self._page.gap()
            self._note(self._remark)

    def _rule(self, title: str) -> None:
        tail = "─" * max(0, self._page.width - len(title) - 8)
        self._page.gap()
        self._page.line(("  ── ", "dim"), (title, "bold"), (f" {tail}", "dim"))
        self._page.gap()

    def _note(self, words: str, style: str = "dim") -> None:
        for one in verdict.paragraph(words, self._page.width, style):
            self._page.print(one)

    def _aside(self, debate: Debate, event: Event) -> None:
        said = event_notes.note(debate, event, self._advice)
        if not said:
            return
        if not self._voices:
            self._page.gap()
        self._note(said, "yellow" if isinstance(event, CallFailed) else "dim")
        if not self._voices:
            self._page.gap()

    # --- speeches -------------------------------------------------------------------------------------

    def _turn_started(self, debate: Debate, event: TurnStarted) -> None:
        turn = debate.turn(event.turn)
        if turn is None:
            return
        self._voices.append(Voice(turn, self._page.width - MARGIN))
        if len(self._voices) == 1:
            self._announce(debate, self._voices[0])

    def _announce(self, debate: Debate, voice: Voice) -> None:
        self._remarks()
        turn = voice.turn
        place = _place(debate, turn.seat)
        name = line(debate.seat(turn.seat).name)
        self._page.line("  ", (name, f"bold {hue(place)}"), (f"  {line(speech_title(debate, turn))}", "dim"))

    def _delta(self, debate: Debate, event: CallDelta) -> None:
        turn = next((turn for turn in debate.live if turn.call == event.call), None)
        voice = next((v for v in self._voices if turn and v.turn.number == turn.number), None)
        if turn is None or voice is None:
            return
        (voice.said if event.kind == "text" else voice.thought).add(event.text)
        if voice is self._voices[0]:
            self._give(debate, voice)

    def _give(self, debate: Debate, voice: Voice) -> None:
        if voice.turn.number in self._typed:
            return
        if voice.said.text and not voice.thought_done:
            self._finish_thought(debate, voice)
        if self._reasoning and not voice.thought_done:
            self._lines(debate, voice, voice.thought.ready(), "dim italic")
        self._lines(debate, voice, voice.said.ready())

    def _finish_thought(self, debate: Debate, voice: Voice, final: str | None = None) -> None:
        voice.thought_done = True
        if not voice.thought.text and not final:
            return
        if not self._reasoning:
            words = len(final.split()) if final else voice.thought.words
            self._lines(debate, voice, [f"thought first, in {words} words"], "dim italic")
            return
        missing, _ = voice.thought.finish(final)
        self._lines(debate, voice, [*missing, ""], "dim italic")

    def _lines(self, debate: Debate, voice: Voice, lines: list[str], style: str = "") -> None:
        margin = self._margin(_place(debate, voice.turn.seat))
        for words in lines:
            self._page.line(*margin, (words, style)) if words or self._page.rich else self._page.line()

    def _begin_again(self, event: CallStarted) -> None:
        for voice in self._voices:
            if voice.turn.number == event.turn:
                voice.begin_again()

    def _turn_ended(self, debate: Debate, number: int) -> None:
        """Several may speak at once: those who wait for the page are printed when their turn comes."""
        while self._voices:
            voice = self._voices[0]
            turn = debate.turn(voice.turn.number)
            if turn is None or turn.state == "live":
                if voice.turn.number != number:
                    self._give(debate, voice)
                return
            self._finish(debate, voice, turn)
            self._voices.pop(0)
            if self._voices:
                self._announce(debate, self._voices[0])

    def _finish(self, debate: Debate, voice: Voice, turn: Turn) -> None:
        if not voice.thought_done:
            self._finish_thought(debate, voice, thoughts(turn) or None)
        missing, remark = voice.said.finish(turn.text if turn.text else None)
        if turn.number in self._typed:
            missing, remark = [], ""
        if remark and missing:
            self._note(remark)
        self._lines(debate, voice, missing)
        if remark and not missing:
            self._note(remark)
        grave = turn.state != "completed" or turn.refusal
        for note in (*turn_notes(turn), *aids(uses(turn))):
            self._page.line(("    " + note, "yellow" if grave else "dim"))
        self._page.line(("    " + facts(turn), "dim"))
        self._page.gap()

    def _remarks(self) -> None:
        for remark in self._waiting:
            self._note(event_notes.remark(self._debate, remark), "italic")
            self._page.gap()
        self._waiting.clear()

    # --- the end --------------------------------------------------------------------------------------

    def _verdict(self, debate: Debate, event: VerdictReached) -> None:
        if event.judging is None:
            self._rule("Verdict")
        self._print(closing.verdict(debate, self._page.width))

    def _poll_closed(self, debate: Debate, event: PollClosed) -> None:
        self._aside(debate, event)
        if event.poll == "after" and (
            told := tuple(closing.audience(debate, self._page.width, self._advice))
        ):
            self._rule("The audience")
            self._print(told)

    def _end(self, debate: Debate, event: DebateEnded | DebateFailed) -> None:
        self._remarks()
        self._page.gap()
        style = "bold red" if isinstance(event, DebateFailed) else "dim"
        self._print(closing.ending(debate, self._page.width, style))

    def _print(self, lines: Iterable[Text]) -> None:
        for one in lines:
            self._page.print(one)

    # --- the moving part ------------------------------------------------------------------------------

    def _running(self, debate: Debate) -> list[Text]:
        lines: list[Text] = []
        if self._voices:
            voice = self._voices[0]
            margin = self._margin(_place(debate, voice.turn.seat))
            thinking = not voice.thought_done
            shown = voice.thought.rest() if thinking else voice.said.rest()
            if thinking and not self._reasoning:
                shown = ["thinking …"] if voice.thought.text else []
            style = "dim italic" if thinking else ""
            lines += [text(*margin, (words, style)) for words in shown]
        elif debate.being_judged:
            lines += event_notes.weighing(debate, self._page.width)
        width = self._page.width
        waiting = len(self._waiting)
        return [*lines, text(""), *status(debate, self._clock(), width, self._frame, waiting, self._hint)]

    def _margin(self, place: int) -> tuple[Part, ...]:
        return margin(place, self._page.rich)


def _moving_part(page: Page) -> Live:
    return Live(
        console=page.console,
        auto_refresh=False,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )


def _place(debate: Debate, seat_id: str) -> int:
    return next(place for place, seat in enumerate(debate.seats) if seat.id == seat_id)
