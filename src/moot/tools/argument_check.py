"""Checks the arguments of a tool call against the tool's schema before anything is sent: pure.

Schemas come from servers and arguments from models, so both may be made to take for ever: the number of steps
is limited, and rules that could run without end in one step are not checked.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from typing import Any, cast

import msgspec

from moot.tools.contract import shortened

MAX_ARGUMENTS_LENGTH = 64 * 1024
MAX_CHECK_STEPS = 20_000
UNBOUNDED_KEYWORDS = (
    "pattern",
    "patternProperties",
    "uniqueItems",
    "unevaluatedItems",
    "unevaluatedProperties",
)

SchemaRule = Callable[..., Iterable[Any] | None]
"""What a keyword of a schema demands of a value."""


class CheckTooLong(Exception):
    """The arguments cannot be checked against the schema in a reasonable time."""


class ArgumentChecker:
    """Checks arguments against one schema, in a limited number of steps."""

    def __init__(self, schema: dict[str, Any]) -> None:
        jsonschema: Any = importlib.import_module("jsonschema")
        referencing: Any = importlib.import_module("referencing")
        plain = jsonschema.Draft202012Validator
        rules = {**plain.VALIDATORS, **_bounded_rules(plain)}
        counting = {keyword: self._count_steps(rule) for keyword, rule in rules.items()}
        validator = jsonschema.validators.extend(plain, counting)
        validator.check_schema(schema)
        self._validator = validator(schema, registry=referencing.Registry())
        self._steps = 0

    def problem(self, arguments: dict[str, Any]) -> str:
        """The first problem; empty if there is none. Raises CheckTooLong."""
        self._steps = 0
        error = next(self._validator.iter_errors(arguments), None)
        return "" if error is None else str(error.message)

    def _count_steps(self, rule: SchemaRule) -> SchemaRule:
        def counting(*arguments: Any) -> Iterable[Any] | None:
            self._steps += 1
            if self._steps > MAX_CHECK_STEPS:
                raise CheckTooLong
            return rule(*arguments)

        return counting


def make_checker(schema: dict[str, Any]) -> ArgumentChecker | None:
    """The checker of a schema; None if the schema is invalid."""
    try:
        return ArgumentChecker(schema)
    except Exception:  # whatever the library raises, the schema cannot be used
        return None


def _bounded_rules(plain: Any) -> dict[str, SchemaRule]:
    """Rules that can run without end in one step, such as a pattern on a model's text, check nothing.

    The server checks its arguments itself.
    """

    def unchecked(*_: Any) -> None:
        return

    def additional(validator: Any, extras: Any, instance: Any, shape: dict[str, Any]) -> Iterable[Any] | None:
        if "patternProperties" in shape:
            return None
        return plain.VALIDATORS["additionalProperties"](validator, extras, instance, shape)

    return {**dict.fromkeys(UNBOUNDED_KEYWORDS, unchecked), "additionalProperties": additional}


def check_arguments(text: str, checker: ArgumentChecker) -> tuple[dict[str, Any], str]:
    """The arguments and what is wrong with them: empty if nothing is."""
    if len(text) > MAX_ARGUMENTS_LENGTH:
        return {}, "The arguments are too long."
    try:
        decoded = msgspec.json.decode(text.strip() or "{}")
    except (msgspec.DecodeError, RecursionError):
        return {}, "The arguments are not JSON."
    if not isinstance(decoded, dict):
        return {}, "The arguments must be a JSON object."
    arguments = cast("dict[str, Any]", decoded)
    try:
        problem = checker.problem(arguments)
    except Exception:  # a dangling reference, an endless schema
        return {}, "The tool says nothing about its arguments that can be checked."
    return arguments, f"The arguments do not fit: {shortened(problem)}." if problem else ""
