"""The lines of a debate around its speeches: the heading, notes on what happens, the ending."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from rich.cells import cell_len
from rich.text import Text

from moot.cli.render import verdict
from moot.cli.render.output import (
    INDENT,
    StyledText,
    cell,
    figures_row,
    join,
    paragraph,
    seat_colour,
    styled,
)
from moot.cli.render.wrapping import wrap
from moot.core.events import (
    BallotCast,
    BallotSpoiled,
    BudgetExhausted,
    BudgetShortened,
    BudgetWarned,
    CallFailed,
    ConcessionMade,
    DebatePaused,
    DebateResumed,
    DebateStopped,
    Event,
    JudgingFailed,
    PointRaised,
    PollClosed,
    PollOpened,
    RemarkInjected,
    RoundsAdded,
    SeatFilled,
    SeatLeft,
    SeatTaken,
    StalemateFound,
    TurnExtended,
    TurnRetried,
    TurnSkipped,
)
from moot.core.setup_table import added_fields
from moot.core.state import Debate
from moot.core.terms import Seat, settings_of
from moot.extension import Fact, Reported
from moot.judging.ballots import reasoning_so_far
from moot.judging.neutral_labels import with_names
from moot.judging.parties import vote_choices
from moot.rules import turn_by_turn
from moot.views.costs import bill, cost_warning, costs, limit_reached, words_shortened
from moot.views.outcome import ending as how_it_ended
from moot.views.outcome import fewer_rounds
from moot.views.participants import participants
from moot.views.poll_results import poll_report
from moot.views.report_blocks import (
    Bullets,
    DebateBlock,
    Folded,
    Listing,
    Note,
    Picture,
    ReportTable,
    Sentences,
    VoteCount,
)
from moot.views.speech_issues import find_issues
from moot.views.text import clock, single_line
from moot.views.transcript import author_name
from moot.views.verdict_views import verdict_views

MAX_NAME_WIDTH = 28
ROLE_WIDTH = 9
COLUMN_WIDTH = 16


def heading(debate: Debate, width: int | None, *, coloured: bool) -> Iterator[Text]:
    yield styled("")
    yield from paragraph(debate.motion, width, "bold")
    if debate.setup.objective:
        yield from paragraph(f"To settle: {debate.setup.objective}", width, "dim")
    length = count_text(debate.limits.turns, "turn") or count_text(debate.rounds_planned, "round")
    yield styled(("  " + join((single_line(debate.format.title), length, debate.id)), "dim"))
    for warning in fewer_rounds(debate.format, debate.limits.rounds):
        yield from paragraph(warning, width, "yellow")
    if settings := join(_settings(debate)):
        yield from paragraph(settings, width, "dim")
    yield styled("")
    shown = [seat.shown for seat in participants(debate).values()]
    names = shown + [judge.name for judge in debate.judges]
    name_width = min(MAX_NAME_WIDTH, max(cell_len(single_line(name)) for name in names)) + 2
    for index, seat in enumerate(debate.seats):
        role = seat.side if seat.role == "debater" else "chair"
        seat_name = f"{single_line(seat.name)} · " if shown[index] != seat.name else ""
        about = cell(role, ROLE_WIDTH, width) + seat_name + _speaker_text(debate, seat)
        yield styled(
            *speaker_margin(index, coloured),
            (cell(shown[index], name_width, width), f"bold {seat_colour(index)}"),
            (about, "dim"),
        )
    for judge in debate.judges:
        who = "a person" if judge.model.human else judge.model.label
        role = cell("judges", ROLE_WIDTH, width)
        yield styled("    ", cell(judge.name, name_width, width), (role + who, "dim"))
        if judge.recused:
            margin = " " * (4 + name_width + ROLE_WIDTH if width else 6)
            yield from paragraph(f"not asked: {judge.recused}", width, "dim", margin)


def _speaker_text(debate: Debate, seat: Seat) -> str:
    if not seat.model.human:
        return seat.model.label
    if turn_by_turn.is_unasked(debate, seat):
        return "no one yet"
    return join(("a person", f"{seat.stand_in.label} stands in" if seat.stand_in else ""))


def _settings(debate: Debate) -> Iterator[str]:
    """Yield what is unusual about how the debate is held."""
    if debate.setup.blind:
        yield "openings at the same time"
    if debate.setup.prep:
        yield "private notes"
    settings = settings_of(debate.limits, debate.setup)
    yield from (field.heading for field in added_fields() if field.heading and settings[field.name])
    if debate.setup.reading == "by-side":
        yield "judges read by side"
    if debate.setup.winning == "audience":
        yield "the audience decides"
    elif debate.setup.polls is not None:
        yield "the audience votes"
    if debate.setup.winning == "user-decides" and debate.format.result != "none":
        yield "decided by hand"
    if debate.setup.winning == "self-terminate":
        yield "it ends when one side gives way"


def speaker_margin(index: int, coloured: bool) -> tuple[StyledText, ...]:
    """The bar in the colour of the seat before each line of a speech; without colours only spaces."""
    return ("  ", ("┃", seat_colour(index)), " ") if coloured else ("    ",)


def count_text(number: int | None, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}" if number else ""


REASONING_LINES = 3
"""Lines of a judge's reasoning in sight while it is being written."""


def event_note(debate: Debate, event: Event, ending: str = "") -> str:
    """Return a sentence on an event, empty for events that need none; `ending` as in `screens`."""
    match event:
        case CallFailed():
            beside = not (debate.live or debate.being_judged)
            return "" if beside else _call_failed(event)
        case DebatePaused(by="step"):
            return "A step: it pauses after this speech." if debate.live else "A step: it pauses here."
        case DebatePaused():
            return f"Paused{_by(event.by)}."
        case DebateResumed():
            return "Resumed."
        case DebateStopped():
            return "Stopped early; what was said is judged."
        case TurnSkipped():
            return f"{_name(debate, event.seat)}'s speech was skipped."
        case TurnRetried():
            turn = debate.turn(event.turn)
            whose = f"{_name(debate, turn.seat)}'s speech" if turn else "A speech"
            return f"{whose}: retrying the speech."
        case BudgetWarned():
            return cost_warning(event)
        case BudgetShortened():
            return words_shortened(event)
        case BudgetExhausted():
            return limit_reached(event)
        case StalemateFound():
            return "The last speeches are nearly the same: the debate goes in circles."
        case ConcessionMade():
            agreed = f" The referee: {single_line(event.referee)}" if event.referee else ""
            return f"{_name(debate, event.seat)} gives way: “{single_line(event.words)}”{agreed}"
        case BallotSpoiled():
            judge = single_line(debate.judge(event.judge).name)
            if event.waived:
                return (
                    f"{judge} reads the debate only once: the cost limit leaves no room for a second reading."
                )
            return f"{judge} gave no usable ballot. {single_line(event.message)}"
        case _:
            return _in_the_room(debate, event, ending)


def _in_the_room(debate: Debate, event: Event, ending: str) -> str:
    """Notes on what people do."""
    match event:
        case SeatTaken():
            who, seat = single_line(author_name(event.by)) or "A person", _seat_name(debate, event.seat)
            return f"{who} sits down as {seat}; {single_line(_stand_in(debate, event.seat))} stands in."
        case SeatLeft():
            reason = "did not speak in time" if event.by == "clock" else "leaves"
            speaks = single_line(_stand_in(debate, event.seat))
            seat = _seat_name(debate, event.seat)
            return f"The person in the seat of {seat} {reason}: {speaks} speaks instead."
        case SeatFilled():
            return f"{single_line(event.model.label)} speaks as {_seat_name(debate, event.seat)}."
        case TurnExtended():
            turn = debate.turn(event.turn)
            who = _name(debate, turn.seat) if turn else "The speaker"
            return f"{who} has {clock(event.seconds)} minutes more."
        case RoundsAdded():
            more = "One more round" if event.rounds == 1 else f"{event.rounds} more rounds"
            return f"{more}: {debate.rounds_planned} in all."
        case PointRaised() if event.accepted:
            return f"{_name(debate, event.seat)}, on a point of information: “{single_line(event.text)}”"
        case PointRaised():
            return f"{_name(debate, event.seat)} rises on a point of information, which is declined."
        case PollOpened():
            when = f" for {clock(event.seconds)} minutes" if event.seconds is not None else ""
            how = f"moot vote {debate.id} CHOICE{ending}"
            return f"The audience votes{when}: {', '.join(vote_choices(debate))}. ({how})"
        case PollClosed():
            cast = sum(vote.poll == event.poll for vote in debate.votes)
            return f"The vote is closed: {cast} {'vote' if cast == 1 else 'votes'}."
        case BallotCast() if debate.judge(event.ballot.judge).model.human:
            return f"{single_line(debate.judge(event.ballot.judge).name)} has cast a ballot."
        case JudgingFailed():
            return f"It was judged again without a result. {single_line(event.message)}"
        case _:
            return ""


def remark_note(debate: Debate | None, event: RemarkInjected) -> str:
    to = f" to {_name(debate, event.to)}" if debate and event.to else ""
    what = "A question" if event.question else "A remark"
    return f"{what} from the floor{_by(event.by)}{to}: “{single_line(event.text)}”"


def _by(name: str) -> str:
    return f" by {single_line(author_name(name))}" if author_name(name) else ""


def _stand_in(debate: Debate, seat_id: str) -> str:
    seat = debate.seat(seat_id)
    return seat.stand_in.label if seat.stand_in else "nobody"


def _call_failed(event: CallFailed) -> str:
    if event.retry_in_ms is None:
        return ""
    wait = event.retry_in_ms / 1000
    when = f" in {wait:.0f} s" if wait >= 1 else ""
    return f"{single_line(event.message)} Retrying{when}."


def ending_note(debate: Debate) -> str:
    reason = how_it_ended(debate)
    if debate.status == "completed" and debate.verdict is None:
        return f"{reason} There is no verdict."
    return reason


def judge_lines(debate: Debate, width: int) -> Iterator[Text]:
    """The last lines of what a judge has written so far."""
    for call in debate.calls:
        if call.judge is None:
            continue
        reasoning = with_names(reasoning_so_far(call.text), debate, call.order)
        lines = [words for _, words in wrap(single_line(reasoning), width - 6)]
        yield from (
            one for words in lines[-REASONING_LINES:] for one in paragraph(words, width, "dim italic")
        )
        return


def _seat_name(debate: Debate, seat_id: str) -> str:
    return single_line(debate.seat(seat_id).name)


def _name(debate: Debate, seat_id: str) -> str:
    return single_line(participants(debate)[seat_id].shown)


def verdict_lines(debate: Debate, width: int | None) -> Iterator[Text]:
    """The latest one."""
    result = verdict_views(debate)[-1]
    yield from verdict.verdict_lines(result, width)
    yield from verdict.brief_lines(debate, result, width)


def audience_lines(debate: Debate, width: int | None, ending: str = "") -> Iterator[Text]:
    """The result of the votes; where the log hides them, the command that shows the result."""
    if not all(vote.choice for vote in debate.votes):
        yield from paragraph(f"Results: moot polls {debate.id}{ending}", width, "dim")
    elif (results := poll_report(debate)) is not None and results.headline:
        yield from verdict.poll_lines(results, width)


def fact_lines(facts: tuple[Fact, ...], width: int | None) -> Iterator[Text]:
    """Figures of extensions, each on a line of its own."""
    for fact in facts:
        yield from paragraph(f"{single_line(fact.label)}: {single_line(fact.text)}", width)


def report_lines(report: Reported, width: int | None) -> Iterator[Text]:
    """What an extension tells of the debate. A section with the title of the whole has no heading."""
    for section in report.sections:
        if section.title != report.title:
            yield from paragraph(f"{section.called or section.title}:", width, "dim")
        for block in section.blocks:
            yield from _block_lines(block, width)


def _block_lines(block: DebateBlock, width: int | None) -> Iterator[Text]:
    match block:
        case Sentences(texts=texts):
            for text in texts:
                yield from paragraph(text, width)
        case Bullets(items=items):
            for item in items:
                yield from paragraph(f"{item.text}{f' (S{item.turn})' if item.turn else ''}", width)
        case ReportTable():
            yield from _table_lines(block, width)
        case Folded(table=table):
            yield from _table_lines(table, width)
        case Listing(text=text):
            for line in text.splitlines():
                yield from paragraph(line, width, "dim")
        case VoteCount(report=report):
            yield from verdict.poll_lines(report, width)
        case Note() | Picture():
            return
        case _:
            assert_never(block)


def _table_lines(table: ReportTable, width: int | None) -> Iterator[Text]:
    if not table.rows:
        return
    heads, rows = table.headings, table.rows
    longest = max(len(row[0]) for row in rows)
    name_width = max(12, min(longest, (width or 0) - 4 - COLUMN_WIDTH * (len(heads) - 1)))
    for name, *figures in (*_heading_rows(heads, width), *rows):
        row = figures_row(name, figures, (name_width, COLUMN_WIDTH), width)
        yield styled(INDENT, (row, "dim"))


def _heading_rows(heads: tuple[str, ...], width: int | None) -> Iterator[tuple[str, ...]]:
    """The headings of a table on as many lines as the longest of them needs."""
    room = None if width is None else COLUMN_WIDTH - 1
    wrapped = [[words for _, words in wrap(single_line(head), room)] for head in heads]
    height = max(map(len, wrapped))
    yield from zip(*([""] * (height - len(lines)) + lines for lines in wrapped), strict=True)


def ending_lines(debate: Debate, width: int | None, style: str = "dim") -> Iterator[Text]:
    yield from paragraph(ending_note(debate), width, style)
    for words in issue_sentences(debate):
        yield from paragraph(words, width, "dim")
    figures = costs(debate)
    about = "about " if figures.estimated else ""
    seconds = (debate.updated_at - (debate.started_at or debate.created_at)).total_seconds()
    spent = join((clock(seconds), f"{about}{figures.usage.total:,} tokens", bill(figures)))
    yield from paragraph(spent, width, "dim")


def issue_sentences(debate: Debate) -> Iterator[str]:
    """Yield what went wrong in the speeches, a sentence for each seat."""
    issues = find_issues(debate)
    for seat, kinds in issues.by_seat.items():
        texts = [f"{issues.words(kind, turns)} ({_speeches(turns)})" for kind, turns in kinds.items()]
        yield f"{_name(debate, seat)} {', '.join(texts)}."


def _speeches(turns: tuple[int, ...]) -> str:
    numbers = ", ".join(str(turn) for turn in turns)
    return f"speech {numbers}" if len(turns) == 1 else f"speeches {numbers}"
