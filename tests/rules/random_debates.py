"""Random debates for the laws: who debates, what the models answer, and what happens in between."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from typing import Any, Literal, TypeVar

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import replace

from moot import formats
from moot.core.errors import FaultKind, FaultSeverity, Invalid
from moot.core.events import DebateOpened
from moot.core.state import Debate
from moot.core.terms import (
    FREE,
    HUMAN,
    Format,
    Judge,
    Model,
    ModelPrice,
    Money,
    PollName,
    PollSettings,
    PriceTier,
)
from moot.judging.judge_request import BYTES_PER_TOKEN
from moot.judging.parties import vote_choices
from moot.rules.commands import (
    Abort,
    AddRemark,
    Command,
    DecideWinner,
    ExtendDebate,
    JudgeAgain,
    JudgeNow,
    NextRound,
    PauseDebate,
    ResumeDebate,
    Retry,
    SkipToJudge,
    SkipTurn,
    Start,
    Stop,
)
from moot.rules.debate_setup import JudgeSetup, SeatSetup, Setup, opening_event
from moot.rules.participation import CastVote, ClosePoll, KeepDraft, LeaveSeat, OfferPoint, TakeSeat
from moot.rules.participation import GiveSpeech as SayIt
from moot.rules.plan import HoldPoll, Idle, plan
from moot.rules.runner_decisions import CallPurpose
from tests.rules.simulate import Reply, Sent, Simulation, aside, ballot, words
from tests.rules.simulate import act as done

T = TypeVar("T")
LAW = settings(
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=40,
    suppress_health_check=(HealthCheck.too_slow,),
)
"""No law depends on how fast the machine is."""

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


PARLOUR = """
name = "parlour"
title = "Parlour debate"
summary = "A little of everything: points of information, a clock, questions from the floor, and notes."
max_seats = 4
rounds = 3
repeat = 2
prep_words = 120
chairs = [{ name = "For", side = "for" }, { name = "Against", side = "against" }]

[[phases]]
key = "opening"
title = "Opening"
who = "each"
tone = "opening"
words = 60
points_of_information = true

[[phases]]
key = "quick"
title = "Quick exchange"
round = 2
kind = "exchange"
who = "for"
to = "against"
speaker = 0
to_speaker = 0
exchanges = 2
words = 20
clock = 24

[[phases]]
key = "floor"
title = "Questions from the floor"
round = 3
kind = "questions"
who = "each"
words = 40

[[phases]]
key = "closing"
title = "Closing"
round = 3
who = "each"
tone = "closing"
words = 40
"""


@cache
def blind() -> Format:
    return formats.parse(SIMULTANEOUS)


@cache
def parlour() -> Format:
    return formats.parse(PARLOUR)


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
    """Somebody injects a remark or a question; its words say which."""

    to: int | None = None
    question: bool = False


class Name(Struct, frozen=True):
    """Somebody decides by hand."""

    winner: int | None = None


class Move(Struct, frozen=True):
    """Somebody sits down in a seat, leaves it, writes there, or offers a point."""

    what: Literal["take", "leave", "draft", "type", "offer"]
    seat: int = 0


class Vote(Struct, frozen=True):
    voter: int
    choice: int
    poll: PollName | None = None


Deed = Literal["say", "type", "draft", "leave", "nothing", "concede", "at length"]
"""What a person does whom the debate waits for."""
Act = Go | Crash | Drain | Say | Name | Move | Vote | Command


class Plot(Struct, frozen=True):
    opening: DebateOpened
    speeches: tuple[Reply, ...]
    ballots: tuple[Reply, ...]
    acts: tuple[Act, ...]
    asides: tuple[Reply, ...] = ()
    deeds: tuple[Deed, ...] = ()
    crowd: tuple[Vote, ...] = ()
    """How the audience votes, where a vote is open for long enough."""
    again: JudgeAgain | None = None
    """How it is judged once more when it is over."""

    def simulation(self) -> Simulation:
        return Simulation(self.opening, self._script(), hand=self._hand())

    def play(self) -> Simulation:
        """The acts, and then whatever it takes to bring the debate to its end."""
        simulation = self.simulation()
        for act in self.acts:
            perform(simulation, act)
        wind_up(simulation, self.crowd)
        if self.again is not None:
            simulation.ask(self.again)
            simulation.run()
        return simulation

    def _script(self):
        speeches, ballots, asides = iter(self.speeches), iter(self.ballots), iter(self.asides)

        def script(sent: Sent) -> Reply:
            if sent.purpose.aside is not None:
                return _aside(sent, next(asides, Reply("yes")))
            coming = ballots if sent.purpose.judge else speeches
            reply = next(coming, Reply(reasoning="Hm."))
            return _canaried(sent, reply)

        return script

    def _hand(self):
        deeds = iter(self.deeds)

        def hand(debate: Debate, purpose: CallPurpose) -> Command | None:
            deed = next(deeds, "say")
            if deed == "nothing":
                return None
            turn = debate.turn(purpose.turn) if purpose.turn is not None else None
            return done(debate, purpose) if turn is None else _done(debate, turn.seat, turn.number, deed)

        return hand


def _done(debate: Debate, seat: str, turn: int, deed: Deed) -> Command:
    match deed:
        case "type":
            return KeepDraft(seat, debate.live[0].text + words(turn, 4) + " ", live=True)
        case "draft":
            return KeepDraft(seat, draft_canary(debate.seq))
        case "leave":
            return LeaveSeat(seat)
        case "concede":
            return SayIt(seat, f"{words(turn)}\n[I concede]")
        case "at length":
            return SayIt(seat, f"{words(turn)} {chr(0x4E00 + turn) * 4000} {beyond_canary(debate.seq)}")
        case "say" | "nothing":
            return SayIt(seat, f"{words(debate.seq)}")


def perform(simulation: Simulation, act: Act) -> None:
    # What cannot be asked at all changes nothing either.
    with suppress(Invalid):
        _perform(simulation, act)


def _perform(simulation: Simulation, act: Act) -> None:
    debate = simulation.debate
    seats = debate.seats
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
            text = remark_canary(len(debate.remarks) + 1)
            simulation.ask(AddRemark(text, to=to, question=act.question))
        case Name():
            winner = None if act.winner is None else seats[act.winner % 2].id
            simulation.ask(DecideWinner(winner))
        case Move():
            simulation.ask(_moved(debate, seats[act.seat % len(seats)].id, act.what))
        case Vote():
            able = vote_choices(debate)
            simulation.ask(CastVote(f"voter<{act.voter}>", able[act.choice % len(able)], act.poll))
        case _:
            simulation.ask(act)


def _moved(debate: Debate, seat: str, what: str) -> Command:
    match what:
        case "take":
            return TakeSeat(seat, "Ada")
        case "leave":
            return LeaveSeat(seat)
        case "draft":
            return KeepDraft(seat, draft_canary(debate.seq))
        case "type":
            spoken = next((turn.text for turn in debate.live if turn.seat == seat), "")
            return KeepDraft(seat, f"{spoken}{words(debate.seq, 3)} ", live=True)
        case _:
            return OfferPoint(seat, aside_canary(debate.seq))


def wind_up(simulation: Simulation, crowd: tuple[Vote, ...] = ()) -> Simulation:
    for _ in range(100):
        simulation.run()
        debate = simulation.debate
        if debate.final or debate.status == "error":
            return simulation
        step = plan(debate)
        assert isinstance(step, Idle | HoldPoll), step
        for vote in crowd if isinstance(step, HoldPoll) else ():
            perform(simulation, vote)
        answer = ClosePoll() if isinstance(step, HoldPoll) else WAITING[step.waiting_for]
        assert isinstance(simulation.ask(answer), tuple), (answer, debate.status)
    raise AssertionError("this debate never ends")


WAITING: dict[str, Command] = {
    "start": Start(),
    "resume": ResumeDebate(),
    "round": NextRound(),
    "judge": JudgeNow(),
    "decision": DecideWinner(None),
}


AT_LENGTH = "at length"
"""Says as much as the call allows, and more."""


def thought_canary(call: int) -> str:
    return f"thought<{call}>"


def remark_canary(number: int) -> str:
    return f"remark<{number}>"


def beyond_canary(number: int) -> str:
    return f"beyond<{number}>"


def draft_canary(seq: int) -> str:
    return f"draft<{seq}> and so on"


def aside_canary(number: int) -> str:
    return f"aside<{number}>"


def secrets(simulation: Simulation) -> Iterator[tuple[str, str | None]]:
    """Every answer aside that nobody but its seat may know, with that seat; None for a referee."""
    taken = {point.text for point in simulation.debate.points if point.accepted}
    for asked in simulation.debate.asides:
        if asked.kind not in ("referee", "persona_vote") and asked.text and asked.text not in taken:
            yield asked.text, asked.seat


def _aside(sent: Sent, reply: Reply) -> Reply:
    """Yes, no, or nonsense; words of one's own carry a mark."""
    asked = sent.debate.aside(sent.purpose.aside or 0)
    assert asked is not None
    if reply.text not in ("yes", "no"):
        return reply
    text = "" if asked.kind == "referee" else aside_canary(100_000 + sent.call)
    return replace(reply, text=aside(sent, reply.text == "yes", text))


def _canaried(sent: Sent, reply: Reply) -> Reply:
    """Every thought carries a mark; a reply that has no words of its own is given some."""
    if reply.reasoning:
        reply = replace(reply, reasoning=f"{reply.reasoning} {thought_canary(sent.call)}")
    if reply.text == AT_LENGTH:
        wide = chr(0x4E00 + sent.call)
        count = sent.request.max_tokens * BYTES_PER_TOKEN // len(wide.encode())
        text = f"{words(sent.call)} {wide * count} {beyond_canary(sent.call)}"
        return replace(reply, text=text, piece=4000)
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

CHEAP = ModelPrice(input=(PriceTier(0, Money("0.15")),), output=(PriceTier(0, Money("0.60")),))
TIERED = ModelPrice(
    input=(PriceTier(0, Money("1.25")), PriceTier(1000, Money("2.50"))),
    output=(PriceTier(0, Money("10")), PriceTier(1000, Money("15"))),
    cached_input=(PriceTier(0, Money("0.125")),),
    per_call=Money("0.0001"),
)
PRICES = (FREE, CHEAP, TIERED)
FAULTS: tuple[tuple[FaultKind, FaultSeverity], ...] = (
    ("overloaded", "transient"),
    ("stalled", "transient"),
    ("rate_limited", "transient"),
    ("empty", "unusable"),
    ("filtered", "unusable"),
    ("bad_key", "permanent"),
)
COMMANDS: tuple[Command, ...] = (
    Start(), PauseDebate(), PauseDebate(now=True), ResumeDebate(), ResumeDebate("turn"),
    ResumeDebate("round"), NextRound(), SkipToJudge(),
    SkipTurn(), JudgeNow(), Retry(), ExtendDebate(seconds=30), ExtendDebate(rounds=1),
    ClosePoll(), Stop(), Abort(),
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


PERSON = Model(HUMAN, "ada")


@cache
def people(limited: bool) -> st.SearchStrategy[tuple[Model, Model | None]]:
    """Who sits in a seat, and who stands in: mostly a model and nobody."""
    model = models(limited).map(lambda model: (model, None))
    person = st.one_of(st.none(), models(limited)).map(lambda stand_in: (PERSON, stand_in))
    return st.one_of(model, model, model, person)


@cache
def seats(limited: bool) -> st.SearchStrategy[tuple[SeatSetup, ...]]:
    seat = st.tuples(people(limited), _one_of(None, None, "for", "against", "neutral")).map(
        lambda drawn: SeatSetup(drawn[0][0], side=drawn[1], stand_in=drawn[0][1])
    )
    told = _one_of((), ("persona",), ("objective", "system_prompt"), ("persona", "objective"))
    return st.lists(st.tuples(seat, told), min_size=2, max_size=4).map(_telling)


def _telling(drawn: list[tuple[SeatSetup, tuple[str, ...]]]) -> tuple[SeatSetup, ...]:
    return tuple(
        replace(seat, **{field: f"{field}<{place}>" for field in told})
        for place, (seat, told) in enumerate(drawn)
    )


FORMATS = (
    *("free", "free", "oxford", "lincoln-douglas", "roundtable", "panel"),
    *("blind", "parlour", "parlour", "parlour", *formats.BUILT_IN),
)


@cache
def openings(limited: bool) -> st.SearchStrategy[DebateOpened]:
    judge = st.one_of(models(limited), models(limited), st.just(PERSON)).map(lambda model: JudgeSetup(model))
    return st.fixed_dictionaries(
        {
            "format": _one_of(*FORMATS),
            "seats": seats(limited),
            "judges": st.lists(judge, max_size=2).map(tuple),
            "rounds": st.integers(1, 4),
            "turns": st.integers(1, 6),
            "cost_limit": st.integers(1, 400).map(lambda n: Money(n) / 1000) if limited else st.none(),
            "auto": _one_of(True, True, False),
            "auto_judge": _one_of(True, True, False),
            "winning": _one_of("ai-judge", "ai-judge", "self-terminate", "user-decides", "audience"),
            "intensity": st.integers(1, 5),
            "prep": st.booleans(),
            "blind": _one_of(False, False, True),
            "beliefs": _one_of(False, False, True),
            "model_audience": _one_of(False, False, False, True),
            "polls": _one_of(None, None, None, PollSettings(), PollSettings(before=False, seconds=30.0)),
            "recuse": st.booleans(),
            "reading": _one_of("chronological", "chronological", "by-side"),
        }
    ).map(_opening)


def _opening(drawn: dict[str, Any]) -> DebateOpened:
    name = drawn.pop("format")
    own = {"blind": blind, "parlour": parlour}
    fmt = own[name]() if name in own else formats.load(name)
    if not fmt.turns:
        drawn["turns"] = None
    drawn["rounds"] = min(drawn["rounds"], fmt.max_rounds)
    drawn["seats"] = drawn["seats"][: fmt.max_seats]
    drawn["seats"] += (drawn["seats"][0],) * (fmt.min_seats - len(drawn["seats"]))
    # A limit that is too small for the first round is refused by `opening_event`; what comes of one is seen
    # here.
    limit = drawn.pop("cost_limit", None)
    opened = opening_event(Setup(motion="This house would plant more trees", format=fmt, **drawn))
    return replace(opened, limits=replace(opened.limits, cost_limit=limit))


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
good_asides = _made(
    Reply, text=_one_of("yes", "yes", "no", "Gladly!", '{"rise": 1}'), reasoning=_one_of("", "Hm.")
)
walks = _made(Go, steps=st.integers(1, 12), pick=st.integers(0, 3), oblivious=st.booleans())
votes = _made(
    Vote, voter=st.integers(1, 3), choice=st.integers(0, 3), poll=_one_of(None, None, "before", "after")
)
acts: st.SearchStrategy[Act] = st.one_of(
    walks,
    walks,
    _one_of(
        *COMMANDS[:-2], Crash(), Drain(), Say(), Say(0), Say(1), Say(question=True), Say(1, question=True)
    ),
    _made(
        Move, what=_one_of("take", "take", "leave", "draft", "type", "offer", "offer"), seat=st.integers(0, 3)
    ),
    votes,
    _one_of(*COMMANDS, Crash(), Say(), Name(), Name(1)),
)
DEEDS: tuple[Deed, ...] = ("say", "say", "type", "draft", "leave", "nothing", "concede", "at length")
LATER = Judge("later", "Later", Model("scripted", "heron", max_tokens=300, price=CHEAP))
AGAIN = (None, None, JudgeAgain(), JudgeAgain((LATER,)), JudgeAgain((LATER,), allowance=Money("0.05")))


@cache
def plots(*, limited: bool = False, judge_faults: bool = True) -> st.SearchStrategy[Plot]:
    ballots = st.one_of(good_ballots, good_ballots, faults) if judge_faults else good_ballots
    return _made(
        Plot,
        opening=openings(limited),
        speeches=st.lists(speeches, max_size=12).map(tuple),
        ballots=st.lists(ballots, max_size=6).map(tuple),
        acts=st.lists(acts, max_size=24).map(lambda drawn: (Start(), *drawn)),
        asides=st.lists(st.one_of(good_asides, good_asides, faults), max_size=8).map(tuple),
        deeds=st.lists(_one_of(*DEEDS), max_size=6).map(tuple),
        crowd=st.lists(votes, max_size=4).map(tuple),
        again=_one_of(*AGAIN),
    )


def greedy() -> st.SearchStrategy[Plot]:
    """Everybody says and bills all that is allowed, until the money is gone."""
    speech, vote = Reply(AT_LENGTH, reported="worst"), Reply("{}", reported="worst")
    return openings(limited=True).map(lambda drawn: Plot(drawn, (speech,) * 40, (vote,) * 16, (Start(),)))


# --- laws ---------------------------------------------------------------------------------------------

EXAMPLES = 40
Law = Callable[[Simulation], None]


@cache
def played(strategy: st.SearchStrategy[Plot]) -> tuple[Simulation, ...]:
    """The debates that every law is checked on, drawn and played once in a process."""
    simulations: list[Simulation] = []
    _for_each_plot(strategy, lambda plot: simulations.append(plot.play()), Phase.generate)
    return tuple(simulations)


def law(
    strategy: st.SearchStrategy[Plot] | None = None, examples: int = EXAMPLES
) -> Callable[[Law], Callable[[], None]]:
    """Makes a test of a function that asserts something of one debate.

    All laws share their debates, so a law must not change the simulation it is given. If one of them breaks
    the law, hypothesis draws the same plots again and reports the smallest that does.
    """
    drawn = plots() if strategy is None else strategy

    def decorate(check: Law) -> Callable[[], None]:
        def test() -> None:
            try:
                for simulation in played(drawn)[:examples]:
                    check(simulation)
            except Exception:
                _for_each_plot(drawn, lambda plot: check(plot.play()), *Phase)
                raise

        test.__name__, test.__qualname__ = check.__name__, check.__qualname__
        test.__module__, test.__doc__ = check.__module__, check.__doc__
        return test

    return decorate


def _for_each_plot(strategy: st.SearchStrategy[Plot], act: Callable[[Plot], None], *phases: Phase) -> None:
    """Call `act` with the same random plots each time."""

    @settings(database=None, deadline=None, max_examples=EXAMPLES, phases=phases)
    @seed(1)
    @given(strategy)
    def draw(plot: Plot) -> None:
        act(plot)

    draw()
