"""The types of the members of v1's bodies, and `Capabilities`: models, formats and tools of the server."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Protocol, cast

from pydantic import Field, ValidationInfo

from moot.api.v1.validation_messages import (
    FieldRule,
    FixedMessage,
    OptionalField,
    invalid,
    line,
    lines,
    matching,
)
from moot.core.choices import Effort
from moot.core.terms import Format, Model
from moot.judging.ballots import TIES
from moot.tools.contract import TOOL_NAME_PATTERN

MAX_TOKENS = 128_000
FORMATS = ("oxford", "lincoln-douglas", "roundtable")
PROVIDERS = ("anthropic", "openai", "google", "mistral")
"""The names of the contract, which messages list first."""
SEAT_ID = "part_[0-9A-Za-z]{1,40}"
JUDGE_ID = "judge_[0-9A-Za-z]{1,40}"
# Words of letters, digits and _ : @ -, joined by single dots and slashes: it may become a path of a URL.
_WORD = r"[A-Za-z0-9_:@-]+(?:\.[A-Za-z0-9_:@-]+)*"


class Capabilities(Protocol):
    """The models, formats and tools that this client can use."""

    @property
    def formats(self) -> tuple[str, ...]: ...

    def format(self, name: str) -> Format: ...

    @property
    def providers(self) -> tuple[str, ...]: ...

    def has_key(self, provider: str) -> bool: ...

    def knows(self, provider: str, model: str) -> bool: ...

    @property
    def tools(self) -> tuple[str, ...]:
        """The tool servers whose tools a debate can allow."""
        ...

    def has_tool(self, name: str) -> bool: ...

    def model(
        self, provider: str, name: str, temperature: float, max_tokens: int, effort: Effort | None
    ) -> Model:
        """The model as it is recorded in a debate; without the effort if the model does not support it.

        `max_tokens` is 0 where the request does not say: a model that thinks needs more than the usual 4096.
        """
        ...


def contract_first(names: Iterable[str], first: tuple[str, ...]) -> tuple[str, ...]:
    """All names, those of the contract in front."""
    known = tuple(names)
    return (*(name for name in first if name in known), *(name for name in known if name not in first))


def capabilities_of(info: ValidationInfo) -> Capabilities | None:
    return cast("Capabilities | None", info.context)


def more_than(floor: float, floor_text: str, most: float | None = None) -> FieldRule:
    at_most = f", at most {most:g}" if most is not None else ""

    def check(value: float) -> float:
        if floor < value and (most is None or value <= most):
            return value
        raise invalid(f"Must be greater than {floor_text}{at_most}")

    return FieldRule(check, {"exclusiveMinimum": floor, **({"maximum": most} if most is not None else {})})


Name = Annotated[str, line(1, 100)]
Reason = Annotated[str, lines(0, 2_000)]
Character = Annotated[str, lines(0, 2_000)]
Prompt = Annotated[str, lines(0, 10_000)]
Criterion = Annotated[str, lines(1, 200)]
Seat = Annotated[str, matching(SEAT_ID, 45, "Must be a participant id")]
Winner = Annotated[
    str, matching(f"(?:{'|'.join(TIES)}|{SEAT_ID})", 45, "Must be a participant id, tie or draw")
]
Decision = Annotated[
    str,
    matching(f"(?:[A-D]|{'|'.join(TIES)}|{SEAT_ID})", 45, "Must be a participant id, A, B, tie or draw"),
]
SeatId = Annotated[str | None, OptionalField(str), matching(SEAT_ID, 45, "Must be a participant id")]
JudgeId = Annotated[str | None, OptionalField(str), matching(JUDGE_ID, 46, "Must be a judge's id")]
Colour = Annotated[
    str | None, OptionalField(str), matching("#[0-9A-Fa-f]{6}", 7, "Must be a hex colour like #FF6B6B")
]
ModelId = Annotated[
    str,
    matching(
        f"{_WORD}(?:/{_WORD})*", 200, "Must be 1 to 200 letters, digits and . _ : @ / - in the form of a name"
    ),
]
ToolName = Annotated[
    str,
    matching(f"[a-z0-9][a-z0-9_-]*(?:/{TOOL_NAME_PATTERN})?", 161, "Must be a tool server, or server/tool"),
]
Tokens = Annotated[
    int, Field(ge=1, le=MAX_TOKENS), FixedMessage(f"Must be an integer between 1 and {MAX_TOKENS}")
]
Dollars = Annotated[float | None, OptionalField(float)]
Weight = Annotated[float, more_than(0, "0", most=1_000)]


CREATE_DEBATE: dict[str, Any] = {
    "topic": "Should AI development be regulated by government?",
    "format": "oxford",
    "participants": [
        {
            "name": "Pro-Regulation (Claude)",
            "model": {
                "provider": "anthropic",
                "modelId": "claude-3-5-sonnet-20241022",
                "temperature": 0.7,
            },
            "position": "for",
            "color": "#FF6B6B",
        },
        {
            "name": "Anti-Regulation (GPT-4)",
            "model": {"provider": "openai", "modelId": "gpt-4-turbo-preview", "temperature": 0.8},
            "position": "against",
            "color": "#4ECDC4",
        },
    ],
    "judge": {
        "name": "Judge Claude",
        "model": {"provider": "anthropic", "modelId": "claude-3-opus-20240229"},
    },
    "config": {
        "maxRounds": 5,
        "timeoutPerRound": 90,
        "costLimit": 5.0,
        "warnAtCost": 3.0,
        "autoJudge": True,
    },
}
