"""The capabilities for reading setup bodies, and the contract's own example with changes."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from moot import formats
from moot.api.problems import Problem
from moot.api.v1.bodies import read_body
from moot.api.v1.create_debate import CreateDebate
from moot.api.v1.fields import CREATE_DEBATE
from moot.core.choices import Effort
from moot.core.terms import Format, Model, ModelPrice, Money, PriceTier

PRICE = ModelPrice(input=(PriceTier(0, Money(3)),), output=(PriceTier(0, Money(15)),))
LEFT_OUT = object()


class Inn(Struct, frozen=True):
    """Keeps no key for groq, and has heard of every model but one."""

    formats: tuple[str, ...] = ("free", "oxford", "lincoln-douglas", "roundtable", "panel")
    providers: tuple[str, ...] = ("local", "openai", "anthropic", "google", "mistral", "groq", "human")

    tools: tuple[str, ...] = ("web_search", "code", "search")

    def has_tool(self, name: str) -> bool:
        return name in (*self.tools, "search/lookup")

    def format(self, name: str) -> Format:
        return formats.load(name)

    def has_key(self, provider: str) -> bool:
        return provider != "groq"

    def knows(self, provider: str, model: str) -> bool:
        return model != "unheard-of"

    def model(
        self, provider: str, name: str, temperature: float, max_tokens: int, effort: Effort | None
    ) -> Model:
        return Model(
            provider, name, temperature=temperature, max_tokens=max_tokens or 4096, effort=effort, price=PRICE
        )


def changed(**changes: Any) -> dict[str, Any]:
    """The contract's example with changes by path: `participants__0__name=...`."""
    shape = copy.deepcopy(CREATE_DEBATE)
    for path, value in changes.items():
        *way, last = [int(step) if step.isdigit() else step for step in path.split("__")]
        place: Any = shape
        for step in way:
            place = place[step]
        if value is LEFT_OUT:
            del place[last]
        else:
            place[last] = value
    return shape


def asked(shape: object) -> CreateDebate:
    return read_body(CreateDebate, json.dumps(shape).encode(), Inn())


def problem_with(act: Callable[[], object]) -> Problem | None:
    try:
        act()
    except Problem as problem:
        return problem
    return None


def errors_of(shape: object) -> dict[str, list[str]]:
    problem = problem_with(lambda: asked(shape))
    if problem is None:
        return {}
    assert (problem.kind, problem.detail) == ("validation", "Invalid debate configuration")
    return problem.errors
