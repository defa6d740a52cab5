"""A debate in the terminal: finished lines are printed once, the lines under way are redrawn at the bottom.

The same code shows a debate live, replayed or afterwards; a pipe gets the same lines without the moving part.
Only the lines under way and a short status are redrawn, so a frame costs the same however long the debate is,
and the scrollback stays complete.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from rich.console import Group
from rich.live import Live
from rich.text import Text

from moot.cli.render import debate_lines
from moot.cli.render.debate_lines import heading, speaker_margin
from moot.cli.render.emphasis import EmphasisReader
from moot.cli.render.output import MAX_WIDTH, StyledText, Terminal, join, seat_colour, styled
from moot.cli.render.status_line import status_lines
from moot.cli.render.wrapping import LineFlow, narrower
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
from moot.core.visibility import OWNER
from moot.core.word_count import count_words
from moot.extension import loaded
from moot.views.costs import dollars
from moot.views.participants import participants
from moot.views.preview import opening_forecast
from moot.views.text import single_line
from moot.views.tool_uses import tool_uses, tools_line
from moot.views.transcript import THOUGHT_SEPARATOR, by_hand, speech_title, thoughts
from moot.views.transcript import speech_notes as turn_notes

MOMENT_MS = 100


class SpeechLines:
    def __init__(self, turn: Turn, width: int | None) -> None:
        self.turn = turn
        self.width = width
        self.restart()

    def restart(self) -> None:
        self.reasoning, self.text = LineFlow(self.width, label="Thinks: "), LineFlow(self.width)
        self.reasoning_done = False
        self.thought: int | None = None
        """The segment of the last words of reasoning."""
        self.emphasis = EmphasisReader()


def speech_figures(turn: Turn) -> str:
    about = "about " if turn.usage.estimated else ""
    words = turn.words or count_words(turn.text)
    return join(
        (
            f"{words} word{'' if words == 1 else 's'}" + (" by hand" if by_hand(turn) else ""),
            f"{about}{turn.usage.output:,} tokens" if turn.usage.output else "",
            f"{turn.latency_ms / 1000:.1f} s" if turn.latency_ms >= MOMENT_MS else "",
            "" if turn.cost is None or not turn.cost else dollars(turn.cost),
        )
    )


MARGIN = 6

Clock = Callable[[], datetime]


class DebateView:
    """`moving` draws the running lines and the status at the bottom of a terminal; `remark` stands below the
    heading, `ending` behind the commands that the page advises to type."""

    def __init__(
        self,
        terminal: Terminal,
        clock: Clock,
        *,
        reasoning: bool = True,
        moving: bool = True,
        hint: str = "",
        remark: str = "",
        ending: str = "",
    ) -> None:
        self._terminal = terminal
        self._clock = clock
        self._hint = hint
        self._remark = remark
        self._advice = ending
        self._reasoning = reasoning
        self._debate: Debate | None = None
        self._speeches: list[SpeechLines] = []
        self._typed: set[int] = set()
        self._waiting: list[RemarkInjected] = []
        self._frame = 0
        self._live = _moving_part(terminal) if moving and terminal.rich else None

    def __enter__(self) -> DebateView:
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

    def suspend(self, turn: int | None = None) -> None:
        """Draw nothing while a person types. What they type as speech `turn` is on the screen already."""
        if self._live:
            self._live.update(Text(), refresh=False)
            self._live.stop()
        if turn is not None and self._terminal.rich:
            self._typed.add(turn)

    def resume(self) -> None:
        if self._live:
            self._live.start()

    def tick(self) -> None:
        """Draw the moving part; a few times a second is enough."""
        if self._live and self._debate:
            self._frame += 1
            self._live.update(Group(*self._running(self._debate)), refresh=True)

    def flush(self) -> None:
        """Print what is held back, because no more events follow."""
        for speech in self._speeches:
            if self._debate is None:
                return
            if speech is not self._speeches[0]:
                self._announce(self._debate, speech)
            self._finish_thought(self._debate, speech)
            self._lines(self._debate, speech, speech.text.finish()[0])
            self._terminal.line(("    still speaking", "dim"))
        self._remarks()

    # --- what happens ---------------------------------------------------------------------------------

    def catch_up(self, debate: Debate) -> None:
        """Begin in the middle: print the motion, and show what happens from now on."""
        self._debate = debate
        self._heading(debate)
        if any(turn.has_words for turn in debate.turns):
            self._terminal.blank_line()
            self._terminal.paragraph(
                f"The speeches before this one: moot show {debate.id}{self._advice}", "dim"
            )
        for turn in debate.live:
            self._speeches.append(SpeechLines(turn, narrower(self._terminal.width, MARGIN)))
            self._speeches[-1].text.add(turn.text)
        self._terminal.blank_line()
        if self._speeches:
            self._announce(debate, self._speeches[0])
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
                self._print_event_note(debate, event)

    def _heading(self, debate: Debate) -> None:
        self._terminal.print_lines(heading(debate, self._terminal.width, coloured=self._terminal.rich))
        if forecast := opening_forecast(debate):
            self._terminal.paragraph(forecast, "dim")
        if self._remark:
            self._terminal.blank_line()
            self._terminal.paragraph(self._remark, "dim")

    def _rule(self, title: str) -> None:
        tail = "─" * max(2, (self._terminal.width or 0) - len(title) - 8)
        self._terminal.blank_line()
        self._terminal.line(("  ── ", "dim"), (title, "bold"), (f" {tail}", "dim"))
        self._terminal.blank_line()

    def _print_event_note(self, debate: Debate, event: Event) -> None:
        note = debate_lines.event_note(debate, event, self._advice)
        if not note:
            return
        if not self._speeches:
            self._terminal.blank_line()
        self._terminal.paragraph(note, "yellow" if isinstance(event, CallFailed) else "dim")
        if not self._speeches:
            self._terminal.blank_line()

    # --- speeches -------------------------------------------------------------------------------------

    def _turn_started(self, debate: Debate, event: TurnStarted) -> None:
        turn = debate.turn(event.turn)
        if turn is None:
            return
        self._speeches.append(SpeechLines(turn, narrower(self._terminal.width, MARGIN)))
        if len(self._speeches) == 1:
            self._announce(debate, self._speeches[0])

    def _announce(self, debate: Debate, speech: SpeechLines) -> None:
        self._remarks()
        turn = speech.turn
        index = _seat_index(debate, turn.seat)
        name = single_line(participants(debate)[turn.seat].shown)
        self._terminal.line(
            "  ",
            (name, f"bold {seat_colour(index)}"),
            (f"  {single_line(speech_title(debate, turn))}", "dim"),
        )

    def _delta(self, debate: Debate, event: CallDelta) -> None:
        turn = next((turn for turn in debate.live if turn.call == event.call), None)
        speech = next((v for v in self._speeches if turn and v.turn.number == turn.number), None)
        if turn is None or speech is None:
            return
        if event.kind == "text":
            speech.text.add(event.text)
        else:
            another = speech.thought not in (None, event.segment)
            speech.reasoning.add(THOUGHT_SEPARATOR + event.text if another else event.text)
            speech.thought = event.segment
        if speech is self._speeches[0]:
            self._print_ready_lines(debate, speech)

    def _print_ready_lines(self, debate: Debate, speech: SpeechLines) -> None:
        if speech.turn.number in self._typed:
            return
        if speech.text.text and not speech.reasoning_done:
            self._finish_thought(debate, speech)
        if self._reasoning and not speech.reasoning_done:
            self._lines(debate, speech, speech.reasoning.ready(), "dim italic")
        self._lines(debate, speech, speech.text.ready())

    def _finish_thought(self, debate: Debate, speech: SpeechLines, final: str | None = None) -> None:
        speech.reasoning_done = True
        if not speech.reasoning.text and not final:
            return
        if not self._reasoning:
            words = len(final.split()) if final else speech.reasoning.words
            self._lines(debate, speech, [f"thought first, in {words} words"], "dim italic")
            return
        missing, _ = speech.reasoning.finish(final)
        self._lines(debate, speech, [*missing, ""], "dim italic")

    def _lines(self, debate: Debate, speech: SpeechLines, lines: list[str], style: str = "") -> None:
        margin = self._margin(_seat_index(debate, speech.turn.seat))
        for words in lines:
            if not words and not self._terminal.rich:
                self._terminal.line()
            elif self._terminal.rich and not style:
                self._terminal.line(*margin, *speech.emphasis.parts(words))
            else:
                self._terminal.line(*margin, (words, style))

    def _begin_again(self, event: CallStarted) -> None:
        for speech in self._speeches:
            if speech.turn.number == event.turn:
                speech.restart()

    def _turn_ended(self, debate: Debate, number: int) -> None:
        """Several may speak at once: their speeches are printed one after the other."""
        while self._speeches:
            speech = self._speeches[0]
            turn = debate.turn(speech.turn.number)
            if turn is None or turn.state == "live":
                if speech.turn.number != number:
                    self._print_ready_lines(debate, speech)
                return
            self._finish(debate, speech, turn)
            self._speeches.pop(0)
            if self._speeches:
                self._announce(debate, self._speeches[0])

    def _finish(self, debate: Debate, speech: SpeechLines, turn: Turn) -> None:
        if not speech.reasoning_done:
            self._finish_thought(debate, speech, thoughts(turn) or None)
        missing, remark = speech.text.finish(turn.text if turn.text else None)
        if turn.number in self._typed:
            missing, remark = [], ""
        if remark and missing:
            self._terminal.paragraph(remark, "dim")
        self._lines(debate, speech, missing)
        if remark and not missing:
            self._terminal.paragraph(remark, "dim")
        grave = turn.state != "completed" or turn.refusal
        for note in (*turn_notes(turn), *tools_line(tool_uses(turn))):
            self._terminal.line(("    " + note, "yellow" if grave else "dim"))
        self._terminal.line(("    " + speech_figures(turn), "dim"))
        self._terminal.blank_line()

    def _remarks(self) -> None:
        for remark in self._waiting:
            self._terminal.paragraph(debate_lines.remark_note(self._debate, remark), "italic")
            self._terminal.blank_line()
        self._waiting.clear()

    # --- the end --------------------------------------------------------------------------------------

    def _verdict(self, debate: Debate, event: VerdictReached) -> None:
        if event.judging is None:
            self._rule("Verdict")
        self._terminal.print_lines(debate_lines.verdict_lines(debate, self._terminal.width))

    def _poll_closed(self, debate: Debate, event: PollClosed) -> None:
        self._print_event_note(debate, event)
        if event.poll == "after" and (
            lines := tuple(debate_lines.audience_lines(debate, self._terminal.width, self._advice))
        ):
            self._rule("The audience")
            self._terminal.print_lines(lines)

    def _end(self, debate: Debate, event: DebateEnded | DebateFailed) -> None:
        self._remarks()
        self._terminal.blank_line()
        for report in loaded().reports(debate, OWNER):
            if lines := tuple(debate_lines.report_lines(report, self._terminal.width)):
                self._rule(report.title)
                self._terminal.print_lines(lines)
                self._terminal.blank_line()
        if facts := loaded().facts(debate, OWNER):
            self._terminal.print_lines(debate_lines.fact_lines(facts, self._terminal.width))
            self._terminal.blank_line()
        style = "bold red" if isinstance(event, DebateFailed) else "dim"
        self._terminal.print_lines(debate_lines.ending_lines(debate, self._terminal.width, style))

    # --- the moving part ------------------------------------------------------------------------------

    def _running(self, debate: Debate) -> list[Text]:
        lines: list[Text] = []
        width = self._terminal.width or MAX_WIDTH
        if self._speeches:
            speech = self._speeches[0]
            margin = self._margin(_seat_index(debate, speech.turn.seat))
            thinking = not speech.reasoning_done
            remaining = speech.reasoning.remaining() if thinking else speech.text.remaining()
            if thinking and not self._reasoning:
                remaining = ["thinking …"] if speech.reasoning.text else []
            emphasis = speech.emphasis.copy()
            lines += [
                styled(*margin, *([(words, "dim italic")] if thinking else emphasis.parts(words)))
                for words in remaining
            ]
        elif debate.being_judged:
            lines += debate_lines.judge_lines(debate, width)
        waiting = len(self._waiting)
        return [
            *lines,
            styled(""),
            *status_lines(debate, self._clock(), width, self._frame, waiting, self._hint),
        ]

    def _margin(self, seat_index: int) -> tuple[StyledText, ...]:
        return speaker_margin(seat_index, self._terminal.rich)


def _moving_part(terminal: Terminal) -> Live:
    return Live(
        console=terminal.console,
        auto_refresh=False,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )


def _seat_index(debate: Debate, seat_id: str) -> int:
    return next(index for index, seat in enumerate(debate.seats) if seat.id == seat_id)
