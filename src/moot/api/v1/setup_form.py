"""The settings of a debate for those who draw a form of them, and as a table for the docs."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Any, Literal, get_args, get_origin

from moot.api.shapes.server_replies import OfferedSetting, SettingChoice, SettingKind
from moot.core.json_types import choose
from moot.core.setup_field import AtMost, Between, FormField, MoreThan, SetupField
from moot.core.setup_table import setup_fields
from moot.core.terms import Money, PollSettings

KINDS: dict[Any, SettingKind] = {
    bool: "switch", int: "number", float: "number", Money: "number", str: "text", PollSettings: "polls",
    tuple[str, ...]: "list",
}  # fmt: skip


def offered_settings() -> tuple[OfferedSetting, ...]:
    return tuple(
        _offered(field, field.form) for field in setup_fields() if field.form is not None and field.request
    )


def _offered(field: SetupField, form: FormField) -> OfferedSetting:
    low, high = _limits(field)
    return choose(
        OfferedSetting,
        form,
        name=field.wire,
        kind=KINDS.get(field.kind, "choice"),
        default=field.request_default if form.start is None else form.start,
        choices=tuple(_choices(field, form)),
        minimum=low,
        maximum=high,
    )


def _limits(field: SetupField) -> tuple[float | None, float | None]:
    match field.request_limit:
        case None:
            return None, None
        case Between(low, high):
            return low, high
        case MoreThan(floor, most):
            return floor, most if isfinite(most) else None
        case AtMost(most):
            return None, most


def _choices(field: SetupField, form: FormField) -> Iterator[SettingChoice]:
    """Those that have words, and the others under their own names."""
    worded = dict(form.choices)
    for value, words in worded.items():
        yield SettingChoice(value=value, label=words)
    if get_origin(field.kind) is Literal:
        yield from (SettingChoice(value=one, label=one) for one in get_args(field.kind) if one not in worded)


def settings_table() -> str:
    """The members of `config`, as docs/api.md has them."""
    rows = [
        f"| `{field.wire}` | {_default(field)} | {_allowed(field)} | {' '.join(_sentence(field).split())} |"
        for field in setup_fields()
        if field.request
    ]
    return "\n".join(["| Member | Left out | Allowed | What it is |", "|---|---|---|---|", *rows])


def _sentence(field: SetupField) -> str:
    return field.sentence or (field.option.text.partition(" [")[0] if field.option else "")


def _default(field: SetupField) -> str:
    usual = field.request_default
    match usual:
        case None | "" | ():
            return ""
        case bool():
            return f"`{str(usual).lower()}`"
        case float():
            return f"`{usual:g}`"
        case _:
            return f"`{usual}`"


def _allowed(field: SetupField) -> str:
    if get_origin(field.kind) is Literal:
        return ", ".join(f"`{one}`" for one in get_args(field.kind))
    match field.request_limit:
        case Between(low, high):
            return f"{low:g} to {high:g}"
        case MoreThan(floor, most):
            return f"more than {floor:g}" + (f", at most {most:g}" if isfinite(most) else "")
        case AtMost(most, unit):
            return f"at most {most:,} {unit}"
        case None:
            return "`before`, `seconds`" if field.kind is PollSettings else ""
