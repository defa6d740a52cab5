"""The live view of the terminal: what is printed, and when."""

from __future__ import annotations

import io
from collections.abc import Sequence

from msgspec.structs import replace
from rich.cells import cell_len
from rich.console import Console

from moot.cli.follow import show_all
from moot.cli.render.live import DebateView
from moot.cli.render.output import Terminal
from moot.core.events import (
    AsideAsked,
    BallotSpoiled,
    BudgetExhausted,
    BudgetWarned,
    CallDelta,
    ConcessionMade,
    DebatePaused,
    DebateResumed,
    JudgingFailed,
    PointRaised,
    PollClosed,
    PollOpened,
    Recorded,
    RemarkInjected,
    RoundsAdded,
    SeatLeft,
    SeatTaken,
    StalemateFound,
    TurnCompleted,
    TurnExtended,
    TurnFailed,
    TurnInterrupted,
    TurnRetried,
    TurnSkipped,
    TurnStarted,
)
from moot.core.terms import DebateLimits, DebateSetup, Money, PollSettings
from moot.testing.event_factories import call_started
from tests.golden.reading import log_of
from tests.views.logs import BEGAN, Log, held, seat


def shown(log: Log | Sequence[Recorded], width: int = 80, **options: bool) -> str:
    out = io.StringIO()
    page = Terminal(Console(file=out, width=width, color_system=None, force_terminal=False))
    stage = DebateView(page, lambda: BEGAN, **options)
    show_all(log.records if isinstance(log, Log) else log, stage)
    return out.getvalue()


def test_a_debate_reads_from_top_to_bottom():
    page = shown(held())
    order = [
        "Cats are better than dogs", "Round 1 of 2", "Opening statement", "Thinks: Lead with safety.",
        "Licences keep people safe.", "4 words · 20 tokens · 1.5 s", "Round 2 of 2", "Verdict", "For wins",
        "78.0", "71.0", "agreement", "The judge preferred For both times, by 7 points.",
        "Because of the evidence.", "All rounds were held.",
    ]  # fmt: skip
    places = [page.index(words) for words in order]
    assert places == sorted(places)


def test_narrow_and_wide_terminals_are_filled_and_not_overrun():
    for width in (30, 40, 80, 200):
        assert all(cell_len(line) <= min(width, 92) for line in shown(held(), width).splitlines())


def test_a_further_attempt_is_announced_and_begins_anew():
    log = Log().start()
    turn = log.begin("for")
    log.hear("A first try that").fail_call(retry_in_ms=2000)
    log.add(call_started(2, turn, attempt=2), CallDelta(2, 0, "text", "Second try."))
    log._calls = 2
    log.settle("Second try.").add(TurnCompleted(turn, 2))
    page = shown(log)
    assert "The provider is overloaded. Retrying in 2 s." in page
    assert "    Second try.\n" in page


def test_speeches_given_at_once_are_printed_one_after_the_other():
    log = Log().start()
    for number, side in ((1, "for"), (2, "against")):
        log.add(TurnStarted(number, number - 1, 1, "opening", "opening", side), call_started(number, number))
    for number in (1, 2, 1, 2):
        log.add(CallDelta(number, 0, "text", f"words of {number} "))
    log.add(TurnCompleted(2, 6), TurnCompleted(1, 6))
    page = shown(log)
    assert (
        page.index("words of 1 words of 1")
        < page.index("Against  Opening")
        < page.index("words of 2 words of 2")
    )


def test_a_remark_waits_until_the_speech_is_over():
    log = Log().start()
    turn = log.begin("for")
    log.hear("Before ").add(RemarkInjected(1, "Mind the time.", by="Chair")).hear("after.")
    log.settle("Before after.").add(TurnCompleted(turn, 2)).say("against", "No.")
    page = shown(log)
    assert (
        page.index("Before after.")
        < page.index("by Chair: “Mind the time.”")
        < page.index("Against  Opening")
    )


def test_whatever_happens_beside_the_speeches_is_said():
    log = Log().start().say("for", "Yes.")
    turn = log.begin("against")
    log.add(TurnFailed(turn, "timeout", "The model did not answer in time."), TurnRetried(turn))
    turn = log.begin("against")
    log.hear("Half").add(TurnInterrupted(turn, "skip"), TurnSkipped(2, "for"))
    log.add(
        BudgetWarned(Money("0.5"), Money("0.6")),
        BudgetExhausted(Money(1), Money("0.9"), Money(0)),
        StalemateFound((), 0.9),
        ConcessionMade(1, "for", "I concede."),
        DebatePaused("Ann"),
        DebateResumed(),
    )
    log.add(BallotSpoiled(1, "judge", 0, "The provider's answer could not be read."))
    page = shown(log)
    for words in (
        "No speech: The model did not answer in time.",
        "Against's speech: retrying the speech.",
        "Cut short: skipped.",
        "For's speech was skipped.",
        "the warning was set at $0.50.",
        "The cost limit of $1.00 leaves no room for a further call.",
        "the debate goes in circles",
        "For gives way: “I concede.”",
        "Paused by Ann.",
        "Resumed.",
        "Judge gave no usable ballot.",
    ):
        assert words in page


def test_what_people_do_is_said():
    log = Log(limits=DebateLimits(rounds=2), setup=DebateSetup(polls=PollSettings(seconds=60))).start()
    log.add(PollOpened("before", 60), PollClosed("before"))
    log.add(SeatTaken("for", "Ann"), RoundsAdded(1, "Chair"))
    turn = log.begin("for")
    log.hear("Mine.").add(
        TurnExtended(turn, 90.0, "Chair"), RemarkInjected(1, "Why?", question=True, to="for")
    )
    log.settle("Mine.").add(TurnCompleted(turn, 1, clipped=1))
    log.add(PointRaised(1, turn, "against", True, "And cats?"), PointRaised(2, turn, "against", False, "No!"))
    log.add(SeatLeft("for", "clock"), ConcessionMade(turn, "for", "I give way.", referee="It is so."))
    log.add(JudgingFailed(2, "Nobody could be asked."))
    page = " ".join(shown(log).split())
    for words in (
        "the audience votes",
        "The audience votes for 1:00 minutes: for, against, undecided. (moot vote",
        "The vote is closed: 0 votes.",
        "Ann sits down as For; scripted/parrot stands in.",
        "One more round: 3 in all.",
        "For has 1:30 minutes more.",
        "A question from the floor to For: “Why?”",
        "only the first 1 words count",
        "parrot, on a point of information: “And cats?”",
        "parrot rises on a point of information, which is declined.",
        "The person in the seat of For did not speak in time: scripted/parrot speaks instead.",
        "For gives way: “I give way.” The referee: It is so.",
        "It was judged again without a result. Nobody could be asked.",
    ):
        assert words in page


def test_a_seat_is_nobodys_until_a_model_is_named_for_it():
    page = shown(log_of("asked-for"))
    assert "no one yet" in page
    assert "decided by hand" not in page.partition("Round 1")[0]
    assert "scripted/heron speaks as NEGATIVE." in page


def test_a_call_beside_the_speeches_fails_in_silence():
    log = Log().start().say("for", "Yes.")
    log.add(AsideAsked(1, "notes", 1, "against"), replace(call_started(2, None), aside=1))
    log._calls = 2
    assert "asked again" not in shown(log.fail_call(retry_in_ms=2000))


def test_the_moving_part_names_who_speaks_the_round_the_tokens_the_money_and_the_time():
    log = Log(
        limits=DebateLimits(rounds=2, cost_limit=Money(1)),
        seats=(seat("for", name="Ann"), seat("against", name="Bob")),
    )
    log.start().say("for", "Yes.").begin("against")
    log.hear("Not so fast").add(RemarkInjected(1, "Hush."))
    out = io.StringIO()
    console = Console(
        file=out,
        width=80,
        force_terminal=True,
        color_system=None,
        _environ={"TERM": "xterm"},
        legacy_windows=False,
    )
    with DebateView(Terminal(console), lambda: log.debate.updated_at, hint="Ctrl-C pauses") as stage:
        stage.catch_up(log.debate)
        stage.tick()
    said = out.getvalue()
    assert "━╸──" in said
    assert "round 1 of 2 · Bob · Opening statement · 3 words" in said
    assert "about 123 tokens · $0.00 of $1.00 · 0:11" in said
    assert "Ctrl-C pauses" in said


def test_a_speech_that_is_still_being_given_is_shown_as_far_as_it_has_come():
    log = Log().start()
    log.begin("for")
    page = shown(log.hear("Half a sentence").add(RemarkInjected(1, "Go on.")))
    assert "    Half a sentence\n    still speaking\n" in page
    assert "“Go on.”" in page


def test_thoughts_of_two_segments_are_two_paragraphs():
    log = Log().start()
    log.begin("for")
    call = log.debate.live[0].call
    log.add(
        *(
            CallDelta(call, at, "reasoning", text)
            for at, text in ((0, "Risk"), (0, " first."), (1, "Then cost."))
        )
    )
    log.hear("So.").settle("So.")
    lines = [line.strip() for line in shown(log, reasoning=True).splitlines()]
    begin = lines.index("Thinks: Risk first.")
    assert lines[begin : begin + 3] == ["Thinks: Risk first.", "", "Then cost."]
