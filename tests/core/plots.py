"""Random debates for the laws: who debates, what the models answer, and what happens in between."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar

from hypothesis import settings
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import replace

from moot import formats
from moot.commands import (
    Abort,
    Command,
    Decide,
    Inject,
    JudgeNow,
    NextRound,
    Pause,
    Resume,
    Retry,
    SkipToJudge,
    SkipTurn,
    Start,
    Stop,
)
from moot.errors import FaultClass, FaultKind
from moot.events import DebateOpened
from moot.formats.plan import Rest, plan
from moot.judging.asking import BYTES_PER_TOKEN
from moot.setup import JudgeSetup, SeatSetup, Setup, opening
from moot.terms import FREE, Format, Model, Money, Price, Tier
from tests.core.simulate import Reply, Sent, Simulation, ballot, words

T = TypeVar("T")
LAW = settings(derandomize=True, database=None, deadline=None, max_examples=60)

SIMULTANEOUS = """
name = "blind"
title = "Blind openings"
summary = "Both open without hearing the other, then answer."
rounds = 2
repeat = 2
chairs = [{ name = "For", side = "for" }, { name = "Against", side = "against" }]

[[phases]]
key = "opening"
title = "Opening"
who = "each"
tone = "opening"
simultaneous = true

[[phases]]
key = "reply"
title = "Reply"
round = 2
who = "each"
simultaneous = true
"""


@cache
def blind() -> Format:
    return formats.parse(SIMULTANEOUS)


# --- what happens -------------------------------------------------------------------------------------


class Go(Struct, frozen=True):
    """The runner does some steps; `pick` says which part goes on where several are under way."""

    steps: int
    pick: int = 0
    oblivious: bool = False


class Crash(Struct, frozen=True):
    pass


class Drain(Struct, frozen=True):
    pass


class Say(Struct, frozen=True):
    """Somebody injects a remark; its words say which."""

    to: int | None = None


class Name(Struct, frozen=True):
    """Somebody decides by hand."""

    winner: int | None = None


Act = Go | Crash | Drain | Say | Name | Command


class Plot(Struct, frozen=True):
    opening: DebateOpened
    speeches: tuple[Reply, ...]
    ballots: tuple[Reply, ...]
    acts: tuple[Act, ...]

    def simulation(self) -> Simulation:
        return Simulation(self.opening, self._script())

    def play(self) -> Simulation:
        """The acts, and then whatever it takes to bring the debate to its end."""
        simulation = self.simulation()
        for act in self.acts:
            perform(simulation, act)
        return wind_up(simulation)

    def _script(self):
        speeches, ballots = iter(self.speeches), iter(self.ballots)

        def script(sent: Sent) -> Reply:
            coming = ballots if sent.purpose.judge else speeches
            reply = next(coming, Reply(reasoning="Hm."))
            return _canaried(sent, reply)

        return script


def perform(simulation: Simulation, act: Act) -> None:
    seats = simulation.debate.seats
    match act:
        case Go():
            for _ in range(act.steps):
                simulation.step(act.pick, oblivious=act.oblivious)
        case Crash():
            simulation.crash()
        case Drain():
            simulation.drain()
        case Say():
            to = None if act.to is None else seats[act.to % len(seats)].id
            simulation.ask(Inject(remark_canary(len(simulation.debate.remarks) + 1), to=to))
        case Name():
            winner = None if act.winner is None else seats[act.winner % 2].id
            simulation.ask(Decide(winner))
        case _:
            simulation.ask(act)


def wind_up(simulation: Simulation) -> Simulation:
    for _ in range(100):
        simulation.run()
        debate = simulation.debate
        if debate.final or debate.status == "error":
            return simulation
        step = plan(debate)
        assert isinstance(step, Rest), step
        answer = WAITING[step.waiting_for]
        assert isinstance(simulation.ask(answer), tuple), (answer, debate.status)
    raise AssertionError("this debate never ends")


WAITING: dict[str, Command] = {
    "start": Start(),
    "resume": Resume(),
    "round": NextRound(),
    "judge": JudgeNow(),
    "decision": Decide(None),
}


AT_LENGTH = "at length"
"""Says as much as the call allows, and more."""


def thought_canary(call: int) -> str:
    return f"thought<{call}>"


def remark_canary(number: int) -> str:
    return f"remark<{number}>"


def _canaried(sent: Sent, reply: Reply) -> Reply:
    """Every thought carries a mark; a reply that has no words of its own is given some."""
    if reply.reasoning:
        reply = replace(reply, reasoning=f"{reply.reasoning} {thought_canary(sent.call)}")
    if reply.text == AT_LENGTH:
        wide = chr(0x4E00 + sent.call)
        count = sent.request.max_tokens * BYTES_PER_TOKEN // len(wide.encode())
        return replace(reply, text=f"{words(sent.call)} " + wide * count, piece=4000)
    if not sent.purpose.judge:
        return replace(reply, text=reply.text or words(sent.call)) if reply.fault is None else reply
    seats = [seat.id for seat in sent.debate.seats if seat.role == "debater"]
    match reply.text:
        case "":
            return replace(reply, text=ballot(sent, seats[0]))
        case "second":
            return replace(reply, text=ballot(sent, seats[1]))
        case "tie":
            return replace(reply, text=ballot(sent, None))
        case _:
            return reply


# --- strategies ---------------------------------------------------------------------------------------

CHEAP = Price(input=(Tier(0, Money("0.15")),), output=(Tier(0, Money("0.60")),))
TIERED = Price(
    input=(Tier(0, Money("1.25")), Tier(1000, Money("2.50"))),
    output=(Tier(0, Money("10")), Tier(1000, Money("15"))),
    cached_input=(Tier(0, Money("0.125")),),
    per_call=Money("0.0001"),
)
PRICES = (FREE, CHEAP, TIERED)
FAULTS: tuple[tuple[FaultKind, FaultClass], ...] = (
    ("overloaded", "transient"),
    ("stalled", "transient"),
    ("rate_limited", "transient"),
    ("empty", "unusable"),
    ("filtered", "unusable"),
    ("bad_key", "permanent"),
)
COMMANDS: tuple[Command, ...] = (
    Start(), Pause(), Pause(now=True), Resume(), NextRound(), SkipToJudge(), SkipTurn(), JudgeNow(), Retry(),
    Stop(), Abort(),
)  # fmt: skip


def _made(kind: type[T], **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[T]:
    """Like `st.builds`, which looks up type hints each time it is made."""
    return st.fixed_dictionaries(fields).map(lambda drawn: kind(**drawn))


def _one_of(*choices: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(choices)


@cache
def models(limited: bool) -> st.SearchStrategy[Model]:
    prices = PRICES if limited else (*PRICES, None)
    return _made(
        Model,
        provider=st.just("scripted"),
        name=_one_of("parrot", "owl", "magpie"),
        max_tokens=_one_of(64, 200, 1000),
        small=_one_of(False, False, False, True),
        price=_one_of(*prices),
    )


@cache
def seats(limited: bool) -> st.SearchStrategy[tuple[SeatSetup, ...]]:
    seat = _made(SeatSetup, model=models(limited), side=_one_of(None, None, "for", "against", "neutral"))
    told = _one_of((), ("persona",), ("objective", "system_prompt"), ("persona", "objective"))
    return st.lists(st.tuples(seat, told), min_size=2, max_size=4).map(_telling)


def _telling(drawn: list[tuple[SeatSetup, tuple[str, ...]]]) -> tuple[SeatSetup, ...]:
    return tuple(
        replace(seat, **{field: f"{field}<{place}>" for field in told})
        for place, (seat, told) in enumerate(drawn)
    )


@cache
def openings(limited: bool) -> st.SearchStrategy[DebateOpened]:
    judge = models(limited).map(lambda model: JudgeSetup(model))
    return st.fixed_dictionaries(
        {
            "format": _one_of(*formats.BUILT_IN, "blind"),
            "seats": seats(limited),
            "judges": st.lists(judge, max_size=2).map(tuple),
            "rounds": st.integers(1, 4),
            "turns": st.integers(1, 6),
            "cost_limit": st.integers(1, 400).map(lambda n: Money(n) / 1000) if limited else st.none(),
            "auto": _one_of(True, True, False),
            "auto_judge": _one_of(True, True, False),
            "winning": _one_of("ai-judge", "ai-judge", "self-terminate", "user-decides"),
            "intensity": st.integers(1, 5),
        }
    ).map(_opening)


def _opening(drawn: dict[str, Any]) -> DebateOpened:
    name = drawn.pop("format")
    fmt = blind() if name == "blind" else formats.load(name)
    if not fmt.turns:
        drawn["turns"] = None
    return opening(Setup(motion="This house would plant more trees", format=fmt, **drawn))


good_speeches = _made(
    Reply,
    text=_one_of("", "", "I say so.", "Über allem: 木が要る。", AT_LENGTH, "It is as it was.\n[I concede]"),
    reasoning=_one_of("", "Let me think."),
    deadline=_one_of(False, False, False, True),
    finish=_one_of("stop", "stop", "length", "refusal"),
    reported=_one_of("honest", "honest", "worst", "nothing", "absurd"),
    chained=_one_of(True, True, False),
    items=st.booleans(),
    piece=_one_of(7, 40),
)
faults = st.tuples(
    _one_of(*FAULTS), _one_of("", "Well, ", "As I was about to say, the "), _one_of("", "Hm."), st.booleans()
).map(lambda t: Reply(t[1], t[2], fault=t[0][0], severity=t[0][1], billed=t[3]))
speeches = st.one_of(good_speeches, good_speeches, faults)
good_ballots = _made(
    Reply,
    text=_one_of("", "", "second", "tie", "{}", AT_LENGTH, '{"winner": "Birch"} {"winner": "Cedar"}'),
    reasoning=_one_of("", "On balance."),
    reported=_one_of("honest", "worst", "nothing"),
    items=st.booleans(),
    piece=st.just(60),
)
walks = _made(Go, steps=st.integers(1, 12), pick=st.integers(0, 3), oblivious=st.booleans())
acts: st.SearchStrategy[Act] = st.one_of(
    walks,
    walks,
    _one_of(*COMMANDS[:-2], Crash(), Drain(), Say(), Say(0), Say(1)),
    _one_of(*COMMANDS, Crash(), Say(), Name(), Name(1)),
)


@cache
def plots(*, limited: bool = False, judge_faults: bool = True) -> st.SearchStrategy[Plot]:
    ballots = st.one_of(good_ballots, good_ballots, faults) if judge_faults else good_ballots
    return _made(
        Plot,
        opening=openings(limited),
        speeches=st.lists(speeches, max_size=12).map(tuple),
        ballots=st.lists(ballots, max_size=6).map(tuple),
        acts=st.lists(acts, max_size=24).map(lambda drawn: (Start(), *drawn)),
    )


def greedy() -> st.SearchStrategy[Plot]:
    """Everybody says and bills all that is allowed, until the money is gone."""
    speech, vote = Reply(AT_LENGTH, reported="worst"), Reply("{}", reported="worst")
    return openings(limited=True).map(lambda drawn: Plot(drawn, (speech,) * 40, (vote,) * 16, (Start(),)))
