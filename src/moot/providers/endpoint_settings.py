"""The endpoints in `moot.toml`: `[keys]`, `[endpoints.…]` and `[limits.…]`.

A table with the name of a built-in endpoint changes that one: fields that it omits stay as they are. Any
other name makes a new one. An error names the file, the table and the remedy, and never repeats a key, even
a mistyped one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar, cast, get_args

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from moot.core.choices import Effort
from moot.core.errors import Invalid
from moot.providers.contract import BUILT_IN_PROVIDERS, Traits
from moot.providers.endpoints import BUILT_IN, Endpoint, check_url, with_base_url
from moot.providers.keys import Secret, is_name, shown, shown_in
from moot.providers.throttle import EndpointLimits
from moot.providers.wire_formats import WireFormatName

NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]{0,63}")
LOOKS_LIKE_KEY = re.compile(r"(?=[A-Z]*[0-9])[A-Z0-9]{16}")
"""A long row of letters and digits is a key, not a name."""
T = TypeVar("T", bound=Struct)


class LimitsTable(Struct, frozen=True, forbid_unknown_fields=True):
    concurrent: int | None = None
    per_minute: int | None = None


LIMITS = LimitsTable.__struct_fields__


class EndpointTable(LimitsTable, frozen=True, forbid_unknown_fields=True):
    """A table `[endpoints.NAME]`: what is said of an `Endpoint`, and of the `Traits` of its models."""

    wire_format: WireFormatName | None = msgspec.field(default=None, name="family")
    base_url: str | None = None
    key_variable: str | None = None
    title: str | None = None
    accent: str | None = None
    model: str | None = None
    local: bool | None = None
    chaining: bool | None = None
    thinks: bool | None = None
    thinking: Literal["effort", "budget"] | None = None
    efforts: tuple[Effort, ...] | None = None
    verbosity: bool | None = None
    schema: Literal["strict", "json", "words"] | None = None
    sampling: bool | None = None
    prefill: bool | None = None
    small: bool | None = None
    tools: bool | None = None
    context: int | None = None
    output: int | None = None


def endpoints(file: Mapping[str, Any], path: Path) -> tuple[Endpoint, ...]:
    """The built-in endpoints with the changes of this file, and its own. Raises Invalid."""
    by_name = dict(BUILT_IN)
    for name, table in _tables(file, "endpoints", path):
        source = f"{path}: [endpoints.{shown(name)}]"
        written = _read(table, EndpointTable, source)
        by_name[name] = (
            _override(by_name[name], written, source)
            if name in by_name
            else _new_endpoint(name, written, source)
        )
    for name, table in _tables(file, "limits", path):
        source = f"{path}: [limits.{shown(name)}]"
        if name not in by_name:
            raise Invalid(f"{source}: there is no endpoint of that name. Known: {', '.join(by_name)}.")
        by_name[name] = _with_limits(by_name[name], _read(table, LimitsTable, source), source)
    return tuple(by_name.values())


def keys(file: Mapping[str, Any], path: Path, names: Iterable[str]) -> dict[str, Secret]:
    table = file.get("keys", {})
    if not isinstance(table, dict):
        raise Invalid(f'{path}: [keys] is a table: openai = "…", one line for each endpoint.')
    known, keys = tuple(names), cast("dict[str, Any]", table)
    return {name: _read_key(name, key, known, f"{path}: [keys]") for name, key in keys.items()}


def _read_key(name: str, key: Any, known: tuple[str, ...], source: str) -> Secret:
    if name not in known:
        # The name is not repeated: with both sides swapped it would be the key.
        problem = 'one of its names is not that of an endpoint. It is written openai = "…"'
        raise Invalid(f"{source}: {problem}. Known: {', '.join(known)}.")
    if not isinstance(key, str) or not key.strip() or not key.isprintable():
        raise Invalid(f'{source}: the key of {name} must be written in quotation marks: {name} = "…".')
    return Secret(key.strip())


# --- one endpoint -------------------------------------------------------------------------------------


def _override(endpoint: Endpoint, written: EndpointTable, source: str) -> Endpoint:
    if written.base_url is not None:
        endpoint = with_base_url(endpoint, written.base_url, f"{source}: base_url")
    return _apply_settings(endpoint, written, source)


def _new_endpoint(name: str, written: EndpointTable, source: str) -> Endpoint:
    if name in BUILT_IN_PROVIDERS or not NAME.fullmatch(name) or not is_name(name):
        raise Invalid(f"{source}: {shown(name)!r} cannot be the name of an endpoint. Choose another one.")
    if written.wire_format is None or written.base_url is None:
        families = " or ".join(f'"{each}"' for each in get_args(WireFormatName))
        raise Invalid(f'{source}: it needs a family ({families}) and a base_url = "https://…".')
    endpoint = Endpoint(
        name=name,
        title=name,
        wire_format=written.wire_format,
        base_url=check_url(written.base_url, f"{source}: base_url"),
    )
    return _apply_settings(endpoint, written, source)


def _apply_settings(endpoint: Endpoint, written: EndpointTable, source: str) -> Endpoint:
    fields = _fields_set(written)
    wire_format = written.wire_format or endpoint.wire_format
    traits = {name: fields[name] for name in Traits.__struct_fields__ if name in fields}
    if wire_format != "openai_responses":
        if traits.get("chaining"):
            raise Invalid(f"{source}: chaining is for the family openai_responses only. Take it away.")
        traits["chaining"] = False
    others = {
        name: fields[name] for name in ("wire_format", "title", "accent", "model", "local") if name in fields
    }
    if written.local is not None:
        traits["deadlines"] = not written.local
    if written.key_variable is not None:
        others["keys"] = _key_variables(written.key_variable, source)
    _check_accent(written, wire_format, written.accent or endpoint.accent, source)
    endpoint = replace(endpoint, traits=replace(endpoint.traits, **traits), pinned=tuple(traits), **others)
    return _with_limits(endpoint, written, source)


def _key_variables(name: str, source: str) -> tuple[str, ...]:
    if name and (not VARIABLE.fullmatch(name) or LOOKS_LIKE_KEY.search(name)):
        problem = "key_variable is the name of a variable, such as MINE_API_KEY"
        raise Invalid(f"{source}: {problem}; the key itself belongs into [keys].")
    return (name,) if name else ()


def _with_limits(endpoint: Endpoint, limits: LimitsTable, source: str) -> Endpoint:
    fields = {name: value for name, value in _fields_set(limits).items() if name in LIMITS}
    for name, value in fields.items():
        if value < 1:
            raise Invalid(f"{source}: {name} must be 1 or more, not {value}.")
    merged = {**asdict(endpoint.limits), **fields}
    merged["written"] = endpoint.limits.written or limits.concurrent is not None
    return replace(endpoint, limits=EndpointLimits(**merged))


def _check_accent(written: EndpointTable, wire_format: WireFormatName, accent: str, source: str) -> None:
    if written.accent is not None and wire_format != "openai_chat":
        raise Invalid(f"{source}: an accent is for the family openai_chat only. Take it away.")
    if wire_format != "openai_chat" or (written.accent is None and not written.efforts):
        return
    from moot.providers.wire_formats.openai_chat_request import ACCENTS

    if accent not in ACCENTS:
        raise Invalid(f"{source}: there is no accent {shown(accent)!r}. Known: {', '.join(ACCENTS)}.")
    if written.efforts and not ACCENTS[accent].effort_field:
        accents = ", ".join(name for name, other in ACCENTS.items() if other.effort_field)
        raise Invalid(f"{source}: efforts need an accent in which they can be told: {accents}.")


# --- reading ------------------------------------------------------------------------------------------


def _tables(file: Mapping[str, Any], kind: str, path: Path) -> list[tuple[str, Any]]:
    tables = file.get(kind, {})
    if not isinstance(tables, dict):
        raise Invalid(f"{path}: [{kind}] holds tables such as [{kind}.NAME].")
    return list(cast("dict[str, Any]", tables).items())


def _read(table: Any, shape: type[T], source: str) -> T:
    try:
        return msgspec.convert(table, shape)
    except msgspec.ValidationError as error:
        fields = ", ".join(sorted(shape.__struct_encode_fields__))
        raise Invalid(f"{source}: {shown_in(str(error))}. It may have: {fields}.") from None


def _fields_set(written: Struct) -> dict[str, Any]:
    return {name: value for name, value in asdict(written).items() if value is not None}
