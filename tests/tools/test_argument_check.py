"""Arguments are held against the schema that a server gave, and neither side can make that last."""

from __future__ import annotations

import json
from typing import Any

import pytest

from moot.tools.argument_check import check_arguments, make_checker

UNCHECKED = "The tool says nothing about its arguments that can be checked."
DOUBLING: dict[str, Any] = {
    f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}, {"$ref": f"#/$defs/d{n + 1}"}]} for n in range(40)
}
LADDER = {"$defs": {**DOUBLING, "d40": {"type": "string"}}, "properties": {"x": {"$ref": "#/$defs/d0"}}}


def complaint(schema: dict[str, Any], given: Any) -> str:
    check = make_checker({"type": "object", **schema})
    assert check is not None
    return check_arguments(json.dumps({"x": given}, separators=(",", ":")), check)[1]


def test_a_schema_that_doubles_at_every_step_is_given_up() -> None:
    assert complaint(LADDER, 3) == UNCHECKED
    assert complaint(LADDER, "a word") == ""


@pytest.mark.parametrize(
    ("rule", "given"),
    [
        ({"pattern": "^(a+)+$"}, "a" * 40 + "!"),
        ({"uniqueItems": True}, [{"a": n} for n in range(5_000)]),
        ({"unevaluatedProperties": False, "allOf": [{"$ref": "#/$defs/d0"}]}, {"a": 1}),
    ],
)
def test_rules_that_could_take_for_ever_are_left_to_the_server(rule: dict[str, Any], given: Any) -> None:
    defs = {name: {"allOf": part["anyOf"]} for name, part in DOUBLING.items()} if "allOf" in rule else {}
    assert complaint({"$defs": {**defs, "d40": {}}, "properties": {"x": rule}}, given) in ("", UNCHECKED)


def test_what_comes_after_many_good_ones_is_seen() -> None:
    words = {"properties": {"x": {"type": "array", "items": {"type": "string"}}}}
    assert complaint(words, ["word"] * 2_000) == ""
    assert complaint(words, [*["word"] * 2_000, 3]).endswith("3 is not of type 'string'.")
