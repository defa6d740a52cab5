"""The top of a debate: the motion, the format, and who sits where."""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import cell_len
from rich.text import Text

from moot.cli.render import verdict
from moot.cli.render.output import StyledText, join, pad, seat_colour, styled
from moot.core.state import Debate
from moot.core.terms import Seat
from moot.rules import turn_sessions
from moot.views.text import single_line

MAX_NAME_WIDTH = 28


def heading(debate: Debate, width: int, *, coloured: bool) -> Iterator[Text]:
    yield styled("")
    yield from verdict.paragraph(debate.motion, width, "bold")
    if debate.manner.objective:
        yield from verdict.paragraph(f"To settle: {debate.manner.objective}", width, "dim")
    length = count_text(debate.limits.turns, "turn") or count_text(debate.rounds_planned, "round")
    yield styled(("  " + join((single_line(debate.format.title), length, debate.id)), "dim"))
    if manner := join(_manner(debate)):
        yield from verdict.paragraph(manner, width, "dim")
    yield styled("")
    names = [seat.name for seat in debate.seats] + [judge.name for judge in debate.judges]
    name_width = min(MAX_NAME_WIDTH, max(cell_len(single_line(name)) for name in names)) + 2
    for index, seat in enumerate(debate.seats):
        role = seat.side if seat.role == "debater" else "chair"
        about = pad(role, 9) + _speaker_text(debate, seat)
        yield styled(
            *speaker_margin(index, coloured),
            (pad(seat.name, name_width), f"bold {seat_colour(index)}"),
            (about, "dim"),
        )
    for judge in debate.judges:
        who = "a person" if judge.model.human else judge.model.label
        yield styled("    ", pad(judge.name, name_width), (pad("judges", 9) + who, "dim"))
        if judge.recused:
            yield from verdict.paragraph(
                f"not asked: {judge.recused}", width, "dim", " " * (4 + name_width + 9)
            )


def _speaker_text(debate: Debate, seat: Seat) -> str:
    if not seat.model.human:
        return seat.model.label
    if turn_sessions.is_unasked(debate, seat):
        return "nobody yet"
    return join(("a person", f"{seat.stand_in.label} stands in" if seat.stand_in else ""))


def _manner(debate: Debate) -> Iterator[str]:
    """What is unusual about it."""
    if debate.manner.blind:
        yield "openings at the same time"
    if debate.manner.prep:
        yield "private notes"
    if debate.manner.winning == "audience":
        yield "the audience decides"
    elif debate.manner.polls is not None:
        yield "the audience votes"
    if debate.manner.winning == "user-decides" and debate.format.result != "none":
        yield "decided by hand"
    if debate.manner.winning == "self-terminate":
        yield "it ends when one side gives way"


def speaker_margin(index: int, coloured: bool) -> tuple[StyledText, ...]:
    """A speaker's words stand beside a bar in the colour of the seat; without colours it would be noise."""
    return ("  ", ("┃", seat_colour(index)), " ") if coloured else ("    ",)


def count_text(number: int | None, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}" if number else ""
