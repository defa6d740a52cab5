"""JSON of services is read as far as it goes."""

from __future__ import annotations

from moot.providers.lenient_json import as_text, get_dict, get_dicts, get_path, get_string, parse_or_text


def test_what_is_not_of_the_kind_looked_for_is_not_there() -> None:
    told = {"a": {"b": "c", "d": [1, {"e": 2}, None]}, "f": 3}
    assert (get_path(told, "a", "b"), get_path(told, "f", "b"), get_path(told, "x", "y")) == ("c", None, None)
    assert (get_string(told, "a", "b"), get_string(told, "f"), get_string(7)) == ("c", "", "")
    assert (get_dicts(told, "a", "d"), get_dicts(told, "f"), get_dicts([{}, 1])) == ([{"e": 2}], [], [{}])
    assert (get_dict(told, "a", "b"), get_dict(told, "f"), get_dict({"x": 1})) == ({}, {}, {"x": 1})


def test_anything_can_be_written_down_as_text() -> None:
    assert [as_text(told) for told in (None, "", "é", 0, [], {"é": [1]})] == [
        "",
        "",
        "é",
        "0",
        "[]",
        '{"é":[1]}',
    ]


def test_bytes_that_are_no_json_are_text() -> None:
    assert (parse_or_text(b'{"a":1}'), parse_or_text(b"oops"), parse_or_text(b"\xff")) == (
        {"a": 1},
        "oops",
        "\ufffd",
    )
    assert parse_or_text(b"[" * 100_000).startswith("[[")
