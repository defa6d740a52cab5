"""Whether a cost limit of twice the expected cost holds the whole debate: simulated, in many worlds.

A world is a price, a model that reasons or not, and speakers who keep well below their words or go beyond
them. In each, debates of several formats are held under a limit of twice what was expected of them. Held
whole is a debate with all its rounds and speeches at full length, none cut for want of tokens, and a verdict
after two readings by each judge.

The models are drawn anew for each debate: tokens a word 1.2 to 1.6; of those that reason, the usual
reasoning of a call is lognormal around 900 tokens with a spread of 0.4 between models and 0.35 between the
calls of one; a ballot has 250 to 700 tokens beside that. Their own tokenizer is not known to the product.

    python -m tests.rules.limit_worlds             100 debates in each world; writes the table in the docs
    python -m tests.rules.limit_worlds --runs 20
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from moot.core.events import DebateOpened
from moot.core.pricing import sent_tokens
from moot.core.terms import DebateLimits, Judge, Model, Money, Usage
from moot.providers.prices import flat_price
from moot.rules.cost_estimate import estimate, fitted_to_limit
from moot.testing.event_factories import seats, table
from tests.rules.simulate import WORDS, Reply, Sent, Simulation, ballot

PAGE = Path(__file__).parents[2] / "docs" / "costs.md"
BEGIN, END = "<!-- table of limits -->", "<!-- end of the table -->"
PRICES = {
    "0.05 / 0.40": ("0.05", "0.40"),
    "0.25 / 2": ("0.25", "2"),
    "1.25 / 10": ("1.25", "10"),
    "5 / 25": ("5", "25"),
}
FORMATS: tuple[tuple[str, DebateLimits, int], ...] = (
    ("oxford", DebateLimits(2), 1),
    ("oxford", DebateLimits(5), 1),
    ("oxford", DebateLimits(3), 3),
    ("free", DebateLimits(1, turns=2), 1),
    ("free", DebateLimits(5, turns=10), 1),
    ("lincoln-douglas", DebateLimits(3), 1),
)
REASONING, BETWEEN_MODELS, BETWEEN_CALLS = 900.0, 0.4, 0.35


class World(Struct, frozen=True):
    price: str
    thinks: bool
    long: bool

    @property
    def model(self) -> Model:
        price = flat_price(*(Money(rate) for rate in PRICES[self.price]))
        return Model(
            "service", "owl", max_tokens=16384 if self.thinks else 4096, price=price, thinks=self.thinks
        )

    def opening(self, number: int, limit: Money | None = None) -> DebateOpened:
        name, limits, panel = FORMATS[number % len(FORMATS)]
        judges = tuple(Judge(f"judge{place}", f"Judge {place}", self.model) for place in range(panel))
        return table(
            name,
            seats=seats("for", "against", model=self.model),
            judges=judges,
            limits=replace(limits, cost_limit=limit),
        )


WORLDS = tuple(
    World(price, thinks, long) for price in PRICES for thinks in (False, True) for long in (False, True)
)


class Held(Struct, frozen=True):
    whole: bool
    share: float
    """What it cost, of its limit."""
    why: str = ""


def hold(world: World, number: int, times: float = 2.0) -> Held:
    """One debate under a limit of so many times its expected cost."""
    expected = estimate(world.opening(number)).expected
    assert expected is not None
    limit = (expected * Money(str(times))).quantize(Money("0.000001"))
    opening = fitted_to_limit(world.opening(number, limit))
    debate = Simulation(opening, models(world, random.Random(f"{world}{number}"))).start().run().debate
    return Held(not (why := _missing(debate, opening)), float(debate.counted / limit), why)


def _missing(debate: Any, opening: DebateOpened) -> str:
    if opening.limits.rounds_asked:
        return "fewer rounds at the start"
    if debate.exhausted:
        return "fewer rounds"
    if debate.shortened:
        return "shorter speeches"
    if debate.verdict is None:
        return "no verdict"
    if debate.verdict.read_once:
        return "one reading"
    return "a speech was cut" if any(turn.truncated for turn in debate.turns) else ""


def models(world: World, chance: random.Random) -> Callable[[Sent], Reply]:
    """What the models of one debate answer."""
    usual = {seat: chance.lognormvariate(0, BETWEEN_MODELS) * REASONING for seat in ("a", "b", "judge")}
    per_word = chance.uniform(1.2, 1.6)

    def answer(sent: Sent) -> Reply:
        turn = sent.debate.turn(sent.purpose.turn) if sent.purpose.turn else None
        thoughts = 0
        if world.thinks:
            thoughts = int(usual[turn.seat if turn else "judge"] * chance.lognormvariate(0, BETWEEN_CALLS))
        if turn is None:
            text, said = ballot(sent, "a"), chance.randint(250, 700)
        else:
            share = chance.uniform(1.0, 1.6) if world.long else chance.uniform(0.4, 0.9)
            count = int(sent.debate.word_budget(turn.slot) * share)
            text, said = " ".join(chance.choice(WORDS) for _ in range(count)) + ".", int(count * per_word)
        output = thoughts + said
        if output <= sent.request.max_tokens:
            return Reply(text, piece=10_000, usage=Usage(sent_tokens(sent.request), output, thoughts))
        kept = max(0, sent.request.max_tokens - thoughts)
        words = text.split()[: int(kept / per_word)] if turn else text.split()[: max(1, kept // 4)]
        usage = Usage(
            sent_tokens(sent.request), sent.request.max_tokens, min(thoughts, sent.request.max_tokens)
        )
        return Reply(" ".join(words), piece=10_000, finish="length", usage=usage)

    return answer


def results(runs: int, times: float = 2.0) -> dict[World, list[Held]]:
    return {world: [hold(world, number, times) for number in range(runs)] for world in WORLDS}


def as_table(found: dict[World, list[Held]]) -> str:
    lines = [
        "| US dollars a million tokens, in / out | reasons | speakers | held whole | cost, of the limit |",
        "|---|---|---|---|---|",
    ]
    for world, debates in found.items():
        whole = sum(debate.whole for debate in debates)
        shares = sorted(debate.share for debate in debates)
        spread = f"{shares[0]:.0%} to {shares[-1]:.0%}, median {shares[len(shares) // 2]:.0%}"
        lines.append(
            f"| {world.price} | {'yes' if world.thinks else 'no'} | {'long' if world.long else 'short'} "
            f"| {whole} of {len(debates)} | {spread} |"
        )
    return "\n".join(lines)


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--runs", type=int, default=100)
    options.add_argument("--times", type=float, default=2.0, help="the limit, in times the expected cost")
    chosen = options.parse_args()
    found = results(chosen.runs, chosen.times)
    sys.stdout.write(as_table(found) + "\n")
    for world, debates in found.items():
        for number, debate in enumerate(debates):
            if not debate.whole:
                told = (
                    f"{world} {FORMATS[number % len(FORMATS)][0]} {number}: {debate.why}, {debate.share:.0%}"
                )
                sys.stdout.write(told + "\n")
    if chosen.runs == 100 and chosen.times == 2.0:
        before, rest = PAGE.read_text().split(BEGIN)
        PAGE.write_text(before + BEGIN + "\n" + as_table(found) + "\n" + END + rest.split(END)[1])


if __name__ == "__main__":
    main()
