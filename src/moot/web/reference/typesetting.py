"""Words, tables and JSON Schemas as HTML. Everything is escaped; `backticks` become code."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from html import escape
from typing import Any, cast

from moot.api.v1.validation_messages import Shape

LONGEST_PATTERN = 20
"""A longer one helps nobody; that control characters are refused is said once, in the guide."""
_CODE = re.compile(r"`([^`]+)`")


def prose(text: str) -> str:
    return _CODE.sub(r"<code>\1</code>", escape(text, quote=False))


def code(text: str) -> str:
    return f"<code>{escape(text)}</code>"


def listing(text: str, label: str, look: str = "plain") -> str:
    """A piece of code. It can be scrolled, so it must be reachable by keyboard."""
    words = f'class="{look}" tabindex="0" role="region" aria-label="{escape(label)}"'
    return f"<pre {words}><code>{escape(text)}</code></pre>"


def as_json(shape: Any) -> str:
    return json.dumps(shape, indent=2, ensure_ascii=False)


def short_json(shape: dict[str, Any]) -> str:
    """A member a line, and of a list an item a line."""
    lines = (f'  "{name}": {_on_lines(value)}' for name, value in shape.items())
    return "{\n" + ",\n".join(lines) + "\n}"


def _on_lines(value: Any) -> str:
    if not isinstance(value, list):
        return json.dumps(value, ensure_ascii=False)
    items = (f"    {json.dumps(item, ensure_ascii=False)}" for item in cast("list[Any]", value))
    return "[\n" + ",\n".join(items) + "\n  ]"


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Cells are HTML. Where the page is narrow, each cell is shown under the name of its column."""
    names = tuple(heads)
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in names)
    lines = [
        "<tr>"
        + "".join(
            f'<td data-head="{escape(name)}">{cell}</td>' for name, cell in zip(names, row, strict=True)
        )
        + "</tr>"
        for row in rows
    ]
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def fields(shape: Shape) -> str:
    """The members of an object, those first that must be there."""
    required = shape.get("required", [])
    members = sorted(shape.get("properties", {}).items(), key=lambda member: member[0] not in required)
    if not members:
        return "<p>No members: <code>{}</code>, or no body at all.</p>"
    return table(
        ("Member", "Type", "About"),
        ((_name(name, name in required), kind(member), about(member)) for name, member in members),
    )


def _name(name: str, required: bool) -> str:
    return code(name) if required else f'{code(name)} <span class="optional">optional</span>'


def kind(shape: Shape) -> str:
    """What a value is, in a word or two."""
    match shape:
        case {"$ref": str(target)}:
            return shape_link(target.rpartition("/")[2])
        case {"const": value}:
            return code(json.dumps(value))
        case {"enum": values} if len(values) <= 16:
            return " · ".join(code(str(value)) for value in values)
        case {"anyOf": choices}:
            return " or ".join(kind(choice) for choice in choices)
        case {"type": "array", "items": items}:
            return f"array of {kind(items)}"
        case {"type": "object", "additionalProperties": values} if isinstance(values, dict):
            return f"names to {kind(cast('Shape', values))}"
        case {"type": str(name)}:
            return escape(name)
        case _:
            return "anything"


def about(shape: Shape) -> str:
    """What it means, and its rules."""
    return " ".join(filter(None, (prose(shape.get("description", "")), _rules(shape))))


def shape_link(name: str) -> str:
    return f'<a href="#shape-{escape(name)}">{escape(name)}</a>'


def _rules(shape: Shape) -> str:
    said: list[str] = []
    if bounds := _bounds(shape):
        said.append(bounds)
    if examples := shape.get("examples"):
        said.append(f"as {code(str(examples[0]))}")
    elif len(pattern := shape.get("pattern", "")) in range(1, LONGEST_PATTERN):
        said.append(f"like {code(pattern)}")
    if (default := shape.get("default")) not in (None, ""):
        said.append(f"default {code(json.dumps(default))}")
    return f'<span class="rule">{"; ".join(said)}</span>' if said else ""


def _bounds(shape: Shape) -> str:
    for low, high, what in (
        ("minimum", "maximum", ""),
        ("minLength", "maxLength", " characters"),
        ("minItems", "maxItems", " items"),
    ):
        if high in shape:
            return f"{shape.get(low, 0)} to {shape[high]}{what}"
    if "exclusiveMinimum" in shape:
        return f"more than {shape['exclusiveMinimum']}"
    return ""
