"""JSON that is not quite JSON is refused, quickly, with a place and without an echo."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.api.problems import Problem
from moot.api.strict_json import loads
from tests.api.setup_bodies import problem_with

COMMA = 3 if sys.version_info >= (3, 13) else 4
"""The column of a trailing comma: newer Pythons name the comma itself, older ones what comes after it."""
REFUSED: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "Request body is required"),
    "blanks": (b" \n ", "The body is not valid JSON: see line 2, column 2"),
    "half an object": (b'{\n "topic":', "The body is not valid JSON: see line 2, column 10"),
    "two values": (b"{} {}", "The body is not valid JSON: see line 1, column 4"),
    "a trailing comma": (b"[1,]", f"The body is not valid JSON: see line 1, column {COMMA}"),
    "a raw control character": (b'"\x01"', "The body is not valid JSON: see line 1, column 2"),
    "digits of another script": ("٣".encode(), "The body is not valid JSON: see line 1, column 1"),
    "a stray byte": (b'{"topic":"\xff"}', "The body is not valid UTF-8"),
    "UTF-16": ('{"topic":"x"}'.encode("utf-16"), "The body is not valid UTF-8"),
    "NaN": (b'{"costLimit":NaN}', "NaN and Infinity are not JSON"),
    "Infinity": (b'{"costLimit":Infinity}', "NaN and Infinity are not JSON"),
    "minus Infinity": (b'{"costLimit":-Infinity}', "NaN and Infinity are not JSON"),
    "1e999": (b'{"costLimit":1e999}', "A number is too large"),
    "half a pair": (rb'{"topic":"\ud800 abcdefghij"}', "A string holds half of a surrogate pair"),
    "half a pair in a name": (rb'[{"a\udc00":1}]', "A string holds half of a surrogate pair"),
    "a tower of arrays": (b"[" * 100_000, "The JSON is nested more than 32 levels deep"),
    "a tower of objects": (b'{"a":' * 20_000, "The JSON is nested more than 32 levels deep"),
    "a long number": (b'{"maxRounds":' + b"9" * 5_000 + b"}", "A number has too many digits"),
    "the same member twice": (b'{"topic":"a..","topic":"b.."}', "Duplicate member"),
    "twice further down": (b'{"config":{"a":1,"a":1}}', "Duplicate member"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_strictly_json_is_malformed(name: str) -> None:
    data, detail = REFUSED[name]
    with pytest.raises(Problem) as caught:
        loads(data)
    assert (caught.value.kind, caught.value.status, caught.value.detail) == (
        "malformed-request",
        400,
        detail,
    )


@pytest.mark.parametrize(
    "grown",
    [
        lambda size: b"[" * size,
        lambda size: b"[]" * (size // 2),
        lambda size: b'"' * size,
        lambda size: b'"' + b"\\" * size,
        lambda size: b"[" + b'"",' * (size // 3) + b"0]",
    ],
)
def test_what_is_eight_times_as_long_takes_about_eight_times_as_long(grown: Callable[[int], bytes]) -> None:
    """A reader that looked back again and again would take sixty-four times as long."""
    short, long = grown(16_000), grown(128_000)
    assert least_work(long) < 32 * least_work(short)


def least_work(data: bytes) -> float:
    """Processor time, of which others on the machine take nothing away; the best of a few."""
    taken: list[float] = []
    for _ in range(5):
        began = time.process_time()
        with suppress(Problem):
            loads(data)
        taken.append(time.process_time() - began)
    return max(min(taken), 1e-4)


def test_a_byte_order_mark_is_accepted() -> None:
    assert loads(b"\xef\xbb\xbf" + b'{"topic":"x"}') == {"topic": "x"}


def test_brackets_in_strings_are_not_nesting() -> None:
    text = '[[["{{{' * 20 + '\\"'
    assert loads(json.dumps({"topic": text}).encode()) == {"topic": text}


def test_thirty_two_levels_are_read() -> None:
    assert loads(b"[" * 32 + b"]" * 32) is not None
    with pytest.raises(Problem):
        loads(b"[" * 33 + b"]" * 33)


def test_a_whole_surrogate_pair_is_one_character() -> None:
    assert loads(rb'"\ud83e\udd89"') == "🦉"


VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**28), 10**28) | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)  # fmt: skip


@given(VALUES)
def test_any_proper_json_is_read_as_it_was_meant(value: Any) -> None:
    assert loads(json.dumps(value).encode()) == value
    assert loads(json.dumps(value, ensure_ascii=False).encode()) == value


@given(st.binary() | st.text('[]{}",:\\ue0159-.dNa \n').map(str.encode))
def test_any_bytes_are_read_or_malformed(data: bytes) -> None:
    problem = problem_with(lambda: loads(data))
    assert problem is None or problem.kind == "malformed-request"
