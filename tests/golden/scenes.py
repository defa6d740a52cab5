"""The scenes behind the golden logs: small debates in which one thing happens each. Those that show a format
whole, and people in the room, are in `formats.py`."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from moot.core.events import DebateOpened
from moot.core.terms import (
    FREE,
    DebateLimits,
    DebateSetup,
    Judge,
    Model,
    ModelPrice,
    Money,
    PriceTier,
    Seat,
)
from moot.rules.commands import (
    Abort,
    AddRemark,
    DecideWinner,
    JudgeNow,
    NextRound,
    PauseDebate,
    ResumeDebate,
    Retry,
    SkipToJudge,
    SkipTurn,
    Stop,
)
from moot.testing.event_factories import opened, seats, table
from tests.golden.formats import FORMATS
from tests.golden.sessions import SESSIONS
from tests.rules.random_debates import blind
from tests.rules.simulate import Reply, Script, Sent, Simulation, ballot, in_turn, one_word, speak, words

Scene = Callable[[str], Simulation]

OWL = Model(
    "acme",
    "owl-2",
    temperature=0.7,
    max_tokens=400,
    seed=11,
    price=ModelPrice(
        input=(PriceTier(0, Money("1.25")), PriceTier(200_000, Money("2.50"))),
        output=(PriceTier(0, Money("10")),),
        cached_input=(PriceTier(0, Money("0.125")),),
        source="list of January 2026",
    ),
)
LOCAL = Model("local", "sparrow-135m", small=True, price=FREE)
WREN = Model("local", "wren-100m", small=True, answers="word", price=FREE)
UNPRICED = Model("acme", "heron")
TWO_TURNS = DebateLimits(1, turns=2)


def scene(opening: DebateOpened, script: Script = speak) -> Callable[[str], Simulation]:
    """A debate that runs by itself."""
    return lambda debate_id: Simulation(opening, script, debate_id).start().run()


def speaking(simulation: Simulation, turn: int) -> Simulation:
    return simulation.run_until(lambda d: any(live.number == turn and live.text for live in d.live))


def thoughtful(sent: Sent) -> Reply:
    return replace(speak(sent), reasoning=f"Thinking about call {sent.call}.", items=True)


def voting(*winners: str | None) -> Script:
    def script(sent: Sent) -> Reply:
        if sent.purpose.judge is None:
            return speak(sent)
        return Reply(ballot(sent, winners[sent.purpose.order]))

    return script


def in_one_word(sent: Sent) -> Reply:
    """The judge prefers the first seat in one reading, and is less sure of it in the other."""
    if sent.purpose.judge is None:
        return speak(sent)
    return one_word(sent, (0.24, 0.36) if sent.purpose.order else (0.6, 0.2))


def reciting(*texts: str) -> Script:
    """These speeches in turn; what is asked aside is answered willingly."""
    return lambda sent: Reply(texts[sent.purpose.turn - 1]) if sent.purpose.turn else speak(sent)


def steered(debate_id: str) -> Simulation:
    """Oxford with a remark, a pause, a pause that cuts, a skipped speaker and a skipped turn."""
    debate = Simulation(table("oxford", seats=seats("for", "against", model=OWL)), speak, debate_id).start()
    speaking(debate, 1).ask(AddRemark("Mind the cost.", by="chair"))
    speaking(debate, 2).ask(PauseDebate(by="chair"))
    debate.run()
    debate.ask(AddRemark("What about the poor?", to="a"))
    debate.ask(ResumeDebate())
    speaking(debate, 3).ask(PauseDebate(now=True))
    debate.run()
    debate.ask(ResumeDebate())
    speaking(debate, 5).ask(SkipTurn(by="chair"))
    debate.ask(PauseDebate())
    debate.run()
    debate.ask(SkipTurn(slot=debate.debate.remaining_slots()[0].index))
    debate.ask(ResumeDebate())
    return debate.run()


def stepped(debate_id: str) -> Simulation:
    """A pause at the beginning, two single speeches, the rest of a round, and then all that is left."""
    debate = speaking(Simulation(table("oxford", limits=DebateLimits(3)), speak, debate_id).start(), 1)
    debate.ask(PauseDebate(by="chair"))
    for step in ("turn", "turn", "round", None):
        debate.run()
        debate.ask(ResumeDebate(step))
    return debate.run()


def retried(debate_id: str) -> Simulation:
    """Two faults and then an answer; a seat that never answers; a fault that stops it; another try."""
    busy = Reply("Well, ", fault="overloaded")
    no_key = Reply(fault="bad_key", severity="permanent", billed=False)
    script = in_turn([busy, busy, Reply(words(1)), *[busy] * 4, no_key])
    debate = Simulation(table("free", limits=DebateLimits(2, turns=4)), script, debate_id).start().run()
    debate.ask(Retry())
    return debate.run()


def failed(debate_id: str) -> Simulation:
    """Everybody fails; nobody tries again."""
    silent = Reply(fault="empty", severity="unusable")
    return Simulation(table("free"), in_turn([silent] * 4), debate_id).start().run()


def shortened(debate_id: str) -> Simulation:
    """The money is short: speeches have fewer words, and the judge reads once."""
    return _dear(debate_id, DebateLimits(3, cost_limit=Money("0.06"), warn_at=Money("0.059")))


def exhausted(debate_id: str) -> Simulation:
    """The money is spent before the rounds are, and it is judged all the same."""
    return _dear(debate_id, DebateLimits(5, cost_limit=Money("0.08"), warn_at=Money("0.01")))


def _dear(debate_id: str, limits: DebateLimits) -> Simulation:
    """Every call is billed at the most that it may cost."""

    def script(sent: Sent) -> Reply:
        return replace(speak(sent), reported="worst")

    owls, judge = seats("for", "against", model=OWL), Judge("judge", "Judge", OWL)
    opening = table("oxford", seats=owls, judges=(judge,), limits=limits)
    return Simulation(opening, script, debate_id).start().run()


def crashed(debate_id: str) -> Simulation:
    """A turn lost three times, a turn parked once, a judge lost once."""
    debate = Simulation(table("free", limits=DebateLimits(2, turns=3)), speak, debate_id).start()
    for _ in range(3):
        debate.run_until(lambda d: bool(d.live and d.live[0].text))
        debate.crash()
        debate.step()
    speaking(debate, 4).drain()
    debate.run_until(lambda d: d.status == "judging" and bool(d.calls))
    debate.crash()
    return debate.run()


def equipped(debate_id: str) -> Simulation:
    """A speech with two tools at once and a fault after them, one cut while its tool is at work, one that
    asks twice in a row, and one whose model turns out to take no tools."""
    height, weight = '{"q":"height"}', '{"q":"weight"}'
    replies = [
        Reply("Let me measure.", "I need figures.", uses=(height, weight), items=True),
        Reply("It seems", fault="overloaded"),
        Reply(words(1), "Both are known now.", items=True),
        Reply(uses=(height,)),
        Reply(uses=(height,)),
        Reply(uses=(weight,)),
        Reply(words(2)),
        Reply("I shall look.", uses=(height,)),
        Reply(fault="tools_refused", severity="unusable", billed=False),
        Reply(words(3)),
    ]
    opening = table("free", setup=DebateSetup(tools=("lab",)), limits=DebateLimits(2, turns=4))
    debate = Simulation(opening, in_turn(replies), debate_id).start()
    debate.run_until(lambda d: any(live.number == 2 and live.usage.total for live in d.live))
    debate.ask(SkipTurn(by="chair"))
    return debate.run()


def believing(debate_id: str) -> Simulation:
    """Debaters and a judge say who they think will win; one answer is lost in a crash, one is unreadable."""

    def script(sent: Sent) -> Reply:
        asked = sent.debate.aside(sent.purpose.aside or 0)
        return Reply('{"percent": "most likely"}') if asked and asked.number == 2 else speak(sent)

    setup = DebateSetup(beliefs=True)
    debate = Simulation(table("oxford", limits=DebateLimits(1), setup=setup), script, debate_id).start()
    debate.run_until(lambda d: any(call.aside == 4 and call.text for call in d.calls))
    debate.crash()
    return debate.run()


def persuaded(sent: Sent) -> Reply:
    """Some personas change their mind; one gives no valid vote."""
    asked = sent.debate.aside(sent.purpose.aside or 0)
    if asked is None:
        return speak(sent)
    if asked.persona == "lawyer":
        return Reply('{"vote": "abstain"}')
    moved = asked.turn is not None and asked.persona in ("student", "nurse", "farmer")
    return Reply('{"vote": "for"}' if moved or asked.persona == "engineer" else '{"vote": "undecided"}')


def manual(debate_id: str) -> Simulation:
    """Round by round on request, and judged before the last one."""
    opening = table("roundtable", "for", "against", "neutral", setup=DebateSetup(auto=False, intensity=1))
    debate = Simulation(opening, speak, debate_id).start().run()
    for _ in range(2):
        debate.ask(NextRound())
        debate.run()
    debate.ask(SkipToJudge())
    return debate.run()


def decided(debate_id: str) -> Simulation:
    opening = table("free", limits=TWO_TURNS, setup=DebateSetup(winning="user-decides"))
    debate = Simulation(opening, speak, debate_id).start().run()
    debate.ask(DecideWinner("b", "It moved me more."))
    return debate


def stopped(debate_id: str) -> Simulation:
    debate = speaking(Simulation(table("oxford"), speak, debate_id).start(), 4)
    debate.ask(Stop("The hall is closing."))
    return debate.run()


def aborted(debate_id: str) -> Simulation:
    debate = speaking(Simulation(table("oxford"), speak, debate_id).start(), 2)
    debate.ask(Abort("Wrong motion."))
    return debate.run()


def unreadable(debate_id: str) -> Simulation:
    """No verdict from the first judging, a repaired one from the second."""
    prose = Reply("I liked Birch.")
    script = in_turn([Reply(words(1)), Reply(words(2)), prose, prose, Reply("{}", chained=False)])
    debate = Simulation(table("free", limits=TWO_TURNS), script, debate_id).start().run()
    debate.ask(JudgeNow("Once more, please."))
    return debate.run()


def ragged(debate_id: str) -> Simulation:
    """A refusal, a cut by the token limit, a timeout, usage that is missing or absurd, no response ids."""
    replies = [
        Reply("I would rather not.", finish="refusal"),
        Reply(words(2), finish="length", reported="nothing"),
        Reply(words(3), deadline=True),
        Reply(words(4), reported="absurd", chained=False),
        Reply(fault="filtered", severity="unusable"),
    ]
    opening = table("free", limits=DebateLimits(3, turns=6), seats=seats("for", "against", model=UNPRICED))
    return Simulation(opening, in_turn(replies), debate_id).start().run()


def forgotten(debate_id: str) -> Simulation:
    """A provider that keeps nothing of one seat, loses the chain of the other, and cannot read it all."""
    replies = [
        Reply(words(1), reasoning="What would it cost?", items=True, sealed="c2VhbGVk"),
        Reply(words(2), stored=False, reasoning="Who pays?", items=True, sealed="c2VjcmV0"),
        Reply(fault="chain_lost", severity="unusable", billed=False),
        Reply(words(3), degraded="chain"),
        Reply(words(4), degraded="chain", stored=False),
        Reply(fault="too_long", severity="unusable", billed=False),
        Reply(words(5), degraded="chain,mended"),
    ]
    opening = table("free", limits=DebateLimits(3, turns=5), seats=seats("for", "against", model=OWL))
    return Simulation(opening, in_turn(replies), debate_id).start().run()


def _chaired() -> tuple[Seat, ...]:
    return (*seats("for", "against"), Seat("m", "Moderator", "neutral", OWL, role="moderator"))


def _secretive() -> tuple[Seat, ...]:
    first, second = seats("for", "against", model=OWL)
    told = {"persona": "A retired judge.", "objective": "Win over the farmers.", "system_prompt": "Be brief."}
    return replace(first, **told), second


SAME = "We have been over this before, and I say so again."

SCENES: dict[str, Scene] = {
    "free": scene(table("free", limits=DebateLimits(2, turns=4))),
    "oxford-steered": steered,
    "steps": stepped,
    "lincoln-douglas": scene(table("lincoln-douglas", limits=DebateLimits(3))),
    "lincoln-douglas-teams": scene(table("lincoln-douglas", "for", "against", "for", limits=DebateLimits(2))),
    "roundtable": scene(table("roundtable", "for", "against", "neutral")),
    "panel": scene(table("panel", seats=_chaired(), judges=())),
    "reasoning": scene(table("free", seats=_secretive(), limits=TWO_TURNS), thoughtful),
    "small": scene(table("free", seats=seats("for", "against", model=LOCAL), limits=TWO_TURNS)),
    "one-word": scene(table("free", judges=(Judge("judge", "Judge", WREN),), limits=TWO_TURNS), in_one_word),
    "simultaneous": scene(opened(format=blind(), seats=seats("for", "against"), limits=DebateLimits(2))),
    "retries": retried,
    "all-failed": failed,
    "ragged": ragged,
    "crashes": crashed,
    "forgotten": forgotten,
    "budget": exhausted,
    "shortened": shortened,
    "too-close": scene(table("free", limits=TWO_TURNS), voting("a", "b")),
    "draw": scene(table("free", limits=TWO_TURNS), voting(None, None)),
    "unreadable": unreadable,
    "stalemate": scene(
        table("free", setup=DebateSetup(winning="self-terminate")), reciting(SAME, SAME, SAME)
    ),
    "stalemate-judged": scene(table("free"), reciting(*["Cedar and Birch, as I said before."] * 3)),
    "concession": scene(
        table("free", setup=DebateSetup(winning="self-terminate")),
        reciting(words(1), "You have persuaded me.\n[I concede]"),
    ),
    "tools": equipped,
    "beliefs": believing,
    "model-audience": scene(
        table("oxford", limits=DebateLimits(1), setup=DebateSetup(model_audience=True)), persuaded
    ),
    "manual": manual,
    "by-hand": decided,
    "stopped": stopped,
    "aborted": aborted,
    **FORMATS,
    **SESSIONS,
}

SPOKEN: dict[str, Scene] = {
    **FORMATS,
    **{name: SCENES[name] for name in ("free", "roundtable", "panel", "lincoln-douglas", "tools")},
}
"""Those whose prompts are kept, one for every format at least."""
