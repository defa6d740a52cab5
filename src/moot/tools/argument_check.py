"""What a model asks and what a tool answers, read with suspicion: pure.

Arguments are held against the tool's schema before anything is sent. An answer is text for a model: words as
they are, data as JSON, everything else by its name alone; cleaned of control characters, of what the server
was told in confidence, and cut to a size.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import msgspec

from moot.providers.redaction import MASK, redact
from moot.providers.redaction import MIN_KEY_LENGTH as SHORTEST_SECRET
from moot.tools.contract import MAX_RESULT_LENGTH
from moot.views.text import clean, single_line

MAX_PROBLEM_LENGTH = 300
MAX_ARGUMENTS_LENGTH = 64 * 1024
MAX_CHECK_STEPS = 20_000
UNBOUNDED_KEYWORDS = (
    "pattern",
    "patternProperties",
    "uniqueItems",
    "unevaluatedItems",
    "unevaluatedProperties",
)
CUT_NOTE = "\n[The rest of {} characters is left out.]"

SchemaRule = Callable[..., Iterable[Any] | None]
"""What a word of a schema asks of an instance."""


class CheckTooLong(Exception):
    """Arguments cannot be held against a schema in a time that anybody would wait."""


class ConnectionLost(Exception):
    """The line to the server has ended, or never began."""


class ToolCallFailed(Exception):
    """The call came to nothing; the line is as it was."""


class ArgumentChecker:
    """Holds arguments against one schema, for so many steps: a small schema can be made to take for ever."""

    def __init__(self, schema: dict[str, Any]) -> None:
        jsonschema: Any = importlib.import_module("jsonschema")
        referencing: Any = importlib.import_module("referencing")
        plain = jsonschema.Draft202012Validator
        rules = {**plain.VALIDATORS, **_bounded_rules(plain)}
        careful = jsonschema.validators.extend(
            plain, {word: self._count_steps(rule) for word, rule in rules.items()}
        )
        careful.check_schema(schema)
        self._check = careful(schema, registry=referencing.Registry())
        self._steps = 0

    def problem(self, given: dict[str, Any]) -> str:
        """The first one; empty where there is none."""
        self._steps = 0
        error = next(self._check.iter_errors(given), None)
        return "" if error is None else str(error.message)

    def _count_steps(self, rule: SchemaRule) -> SchemaRule:
        def counting(*asked: Any) -> Iterable[Any] | None:
            self._steps += 1
            if self._steps > MAX_CHECK_STEPS:
                raise CheckTooLong
            return rule(*asked)

        return counting


def make_checker(schema: dict[str, Any]) -> ArgumentChecker | None:
    """None for a schema that is none."""
    try:
        return ArgumentChecker(schema)
    except Exception:  # whatever it stumbles over, a schema it cannot read is none
        return None


def _bounded_rules(plain: Any) -> dict[str, SchemaRule]:
    """Rules that can be made to take for ever in one step, such as a pattern on words that a model chose,
    are left out: the server looks at its arguments itself."""

    def unchecked(*_: Any) -> None:
        return

    def additional(validator: Any, extras: Any, instance: Any, shape: dict[str, Any]) -> Iterable[Any] | None:
        if "patternProperties" in shape:
            return None
        return plain.VALIDATORS["additionalProperties"](validator, extras, instance, shape)

    return {**dict.fromkeys(UNBOUNDED_KEYWORDS, unchecked), "additionalProperties": additional}


def check_arguments(text: str, check: ArgumentChecker) -> tuple[dict[str, Any], str]:
    """The arguments, and what is wrong with them; empty where nothing is."""
    if len(text) > MAX_ARGUMENTS_LENGTH:
        return {}, "The arguments are too long."
    try:
        given = msgspec.json.decode(text.strip() or "{}")
    except (msgspec.DecodeError, RecursionError):
        return {}, "The arguments are not JSON."
    if not isinstance(given, dict):
        return {}, "The arguments must be a JSON object."
    shape = cast("dict[str, Any]", given)
    try:
        complaint = check.problem(shape)
    except Exception:  # a reference that leads nowhere, a schema without a bottom
        return {}, "The tool says nothing about its arguments that can be checked."
    return shape, f"The arguments do not fit: {_short(complaint)}." if complaint else ""


def result_text(content: Iterable[Any], structured: Any) -> str:
    """The answer as one text."""
    parts = [_content_text(item) for item in content]
    data = _structured_text(structured, parts)
    return "\n\n".join([*(part for part in parts if part), *([data] if data else [])])


def clean_text(text: str, secrets: Sequence[str] = (), most: int = MAX_RESULT_LENGTH) -> str:
    """The text as a model and the log may have it."""
    # What is far too long is cut before it is looked at, so that it costs nothing.
    whole, text = len(text), text[: 4 * most]
    for word in secrets:
        if len(word) >= SHORTEST_SECRET:
            text = text.replace(word, MASK)
    text = redact(clean(text))
    if len(text) <= most:
        return text
    mark = CUT_NOTE.format(f"{whole:,}")
    return text[: most - len(mark)] + mark


def _content_text(item: Any) -> str:
    match item.type:
        case "text":
            return str(item.text)
        case "image" | "audio":
            return f"[{item.type}: {_short(str(item.mime_type))}, not shown]"
        case "resource_link":
            return f"[a resource, not shown: {_short(str(item.name))}]"
        case "resource":
            text = getattr(item.resource, "text", None)
            return text if isinstance(text, str) else "[a resource, not shown]"
        case _:
            return "[something else, not shown]"


def _structured_text(structured: Any, parts: Sequence[str]) -> str:
    """As JSON, unless the words say the same already, as servers are told to have it."""
    if structured is None:
        return ""
    text = "\n\n".join(parts)
    if structured == {"result": text}:
        return ""
    try:
        if msgspec.json.decode(text) == structured:
            return ""
    except (msgspec.DecodeError, RecursionError):
        pass
    return msgspec.json.encode(structured).decode()


def _short(text: str) -> str:
    text = single_line(text).rstrip(".")
    return text if len(text) <= MAX_PROBLEM_LENGTH else text[:MAX_PROBLEM_LENGTH] + "…"
