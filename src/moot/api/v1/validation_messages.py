"""Validation errors with the messages of the contract: a rule is a check, its message, and its JSON Schema.

Pydantic's own messages repeat what was sent; these do not. The schemas are as exact as JSON Schema allows:
what they accept is accepted, and what they refuse is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationError
from pydantic_core import CoreSchema, ErrorDetails, PydanticCustomError, core_schema

from moot.core.text_normalization import BLANK, trim

Errors = dict[str, list[str]]
Shape = dict[str, Any]

CONTROLS = "Control characters are not allowed"
REQUIRED = "Field required"
UNKNOWN = "Unknown field"
MAX_ERRORS = 100
MAX_NAME_LENGTH = 64

_KINDS = {
    "missing": REQUIRED,
    "extra_forbidden": UNKNOWN,
    "string_type": "Must be a string",
    "int_type": "Must be an integer",
    "float_type": "Must be a number",
    "bool_type": "Must be a boolean",
    "list_type": "Must be an array",
    "model_type": "Must be an object",
}
_CONTROL = "\u0000-\u001f\u007f-\u009f"
_CONTROL_BUT_LINES = "\u0000-\u0008\u000b-\u001f\u007f-\u009f"


@dataclass(frozen=True, eq=False)
class FieldRule:
    """A check of a value of the right type, with its JSON Schema."""

    check: Callable[[Any], Any]
    shape: Mapping[str, Any]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> Shape:
        return {**handler(schema), **self.shape}


@dataclass(frozen=True)
class FixedMessage:
    """One message for every error of the value."""

    message: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.custom_error_schema(
            handler(source), custom_error_type="refused", custom_error_message=self.message
        )


@dataclass(frozen=True)
class OptionalField:
    """A field that may be left out, and is None then. `null` is refused."""

    kind: Any

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return handler(self.kind)


def invalid(message: str) -> PydanticCustomError:
    return PydanticCustomError("refused", "{message}", {"message": message})


def one_of(choices: Iterable[str]) -> str:
    return f"Must be one of: {', '.join(choices)}"


def between(low: float, high: float) -> FieldRule:
    def check(value: float) -> float:
        if low <= value <= high:
            return value
        raise invalid(f"Must be between {low} and {high}")

    return FieldRule(check, {"minimum": low, "maximum": high})


def line(low: int, high: int) -> FieldRule:
    """One line of text, trimmed, with a number of code points in this range."""
    return FieldRule(_text(low, high, _CONTROL), _text_shape(low, high, _CONTROL))


def lines(low: int, high: int) -> FieldRule:
    """A text that may have several lines."""
    return FieldRule(_text(low, high, _CONTROL_BUT_LINES), _text_shape(low, high, _CONTROL_BUT_LINES))


def address_name(high: int) -> FieldRule:
    """One line that can be part of a path: without a slash, and not beginning with a dot."""
    trim, solid = _text(1, high, _CONTROL), f"{_CONTROL}{BLANK}/\\\\"

    def check(text: str) -> str:
        text = trim(text)
        if text.startswith(".") or "/" in text or "\\" in text:
            raise invalid("Must begin with no dot, and have no slash in it")
        return text

    pattern = f"^[^{solid}.](?:[^{_CONTROL}/\\\\]*[^{solid}])?$"
    return FieldRule(check, {"minLength": 1, "maxLength": high, "pattern": _escaped(pattern)})


def matching(pattern: str, high: int, message: str) -> FieldRule:
    compiled = re.compile(pattern, re.ASCII)

    def check(text: str) -> str:
        if len(text) <= high and compiled.fullmatch(text):
            return text
        raise invalid(message)

    return FieldRule(check, {"pattern": f"^{pattern}$", "minLength": 1, "maxLength": high})


def error_messages(error: ValidationError) -> Iterable[tuple[str, str]]:
    """Each wrong field and what is wrong with it, at most `MAX_ERRORS` of them."""
    errors = error.errors(include_url=False, include_input=False)
    for each in islice(errors, MAX_ERRORS):
        yield field_path(each["loc"]), _message_for(each)


def _message_for(error: ErrorDetails) -> str:
    match error["type"]:
        case "refused":
            return error["msg"]
        case "too_long":
            return f"Must have at most {error.get('ctx', {}).get('max_length')} items"
        case kind:
            return _KINDS.get(kind, "Not a valid value")


def field_path(location: tuple[int | str, ...]) -> str:
    """Members of `config` by their bare name, everything else by its whole path."""
    steps = location[1:] if location[0:1] == ("config",) and len(location) > 1 else location
    return ".".join(_step(step) for step in steps) or "body"


def _step(step: int | str) -> str:
    """A step of a path. An unknown member may have any name, so it is shortened."""
    if isinstance(step, int):
        return str(step)
    return "".join(char for char in step[:MAX_NAME_LENGTH] if char.isprintable())


def _text(low: int, high: int, controls: str) -> Callable[[str], str]:
    banned = re.compile(f"[{controls}]")

    def check(text: str) -> str:
        if banned.search(text):
            raise invalid(CONTROLS)
        text = trim(text)
        if low <= len(text) <= high:
            return text
        raise invalid(
            f"Must be between {low} and {high} characters" if low else f"Must be at most {high} characters"
        )

    return check


def _text_shape(low: int, high: int, controls: str) -> Shape:
    """The JSON Schema of such a text; invisible characters at either end do not count in its length."""
    inside, solid = f"[^{controls}]", f"[^{controls}{BLANK}]"
    bounds: Shape = {"minLength": low, "maxLength": high} if low else {"maxLength": high}
    match low:
        case 0:
            pattern = f"^{inside}*$"
        case 1:
            pattern = f"^{inside}*{solid}{inside}*$"
        case _:
            pattern = f"^{inside}*{solid}{inside}{{{low - 2},}}{solid}{inside}*$"
    return {**bounds, "pattern": _escaped(pattern)}


def _escaped(pattern: str) -> str:
    """The pattern with invisible characters written as escapes."""
    return "".join(char if " " <= char <= "~" else f"\\u{ord(char):04x}" for char in pattern)
