"""A strict reader for JSON from clients. An error gives the position, never the text.

Python's reader accepts more than JSON: NaN, numbers of any size, half a surrogate pair, the same member
twice, and nesting until the stack overflows. Each would cause a worse error later. A byte order mark is
accepted: some editors write one.
"""

from __future__ import annotations

import json
import re
from itertools import accumulate
from math import isfinite
from typing import Any

from moot.api.problems import Problem

MAX_DEPTH = 32
MAX_DIGITS = 30
_STRINGS = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


def loads(data: bytes) -> Any:
    if not data:
        raise _malformed("Request body is required")
    if _depth(data) > MAX_DEPTH:
        raise _malformed(f"The JSON is nested more than {MAX_DEPTH} levels deep")
    try:
        shape = _READER.decode(data.decode("utf-8-sig"))
        # Encoding finds half a surrogate pair anywhere in the value.
        json.dumps(shape, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        position = f"line {error.lineno}, column {error.colno}"
        raise _malformed(f"The body is not valid JSON: see {position}") from None
    except UnicodeDecodeError:
        raise _malformed("The body is not valid UTF-8") from None
    except UnicodeEncodeError:
        raise _malformed("A string holds half of a surrogate pair") from None
    return shape


def _depth(data: bytes) -> int:
    """The depth of nesting, counted without recursion."""
    brackets = _STRINGS.sub(b"", data).translate(None, _NO_BRACKETS)
    return max(accumulate(1 if bracket in b"[{" else -1 for bracket in brackets), default=0)


def _unique_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    shape = dict(pairs)
    if len(shape) < len(pairs):
        raise _malformed("Duplicate member")
    return shape


def _integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise _malformed("A number has too many digits")
    return int(digits)


def _number(digits: str) -> float:
    number = float(digits)
    if not isfinite(number):
        raise _malformed("A number is too large")
    return number


def _constant(name: str) -> float:
    raise _malformed("NaN and Infinity are not JSON")


def _malformed(detail: str) -> Problem:
    return Problem("malformed-request", detail)


_READER = json.JSONDecoder(
    object_pairs_hook=_unique_members, parse_int=_integer, parse_float=_number, parse_constant=_constant
)
