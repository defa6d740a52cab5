"""Queries: numbers in plain digits, each parameter once, and no parameter that does not exist."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.api.frames import Cursor
from moot.api.problems import Problem
from moot.api.v1 import query_params
from moot.api.v1.query_params import StreamQuery
from moot.store.contract import DebateFilter
from tests.api.setup_bodies import problem_with
from tests.support.for_each import for_each

Read = Callable[[bytes], object]
LIMIT, OFFSET = "Must be between 1 and 100", "Must be between 0 and 1000000000"
EXPORTS = "Must be one of: json, markdown, html, replay"
STATES = (
    "Must be one of: initializing, awaiting_arguments, debating, judge_evaluating, completed, error, paused"
)
READERS = (
    query_params.parse_listing, query_params.parse_transcript, query_params.parse_event_page,
    query_params.parse_stream, query_params.parse_log_stream, query_params.parse_socket,
    query_params.no_params,
)  # fmt: skip

REFUSED: list[tuple[str, Read, str, dict[str, str]]] = [
    *(
        (f"B103 {value!r}", query_params.parse_listing, f"limit={quote(value)}", {"limit": LIMIT})
        for value in ("0", "-1", "101", "abc", "1e2", "٣", "", "1.0", "+5", " 5", "05", "5\n", "9" * 4_000)
    ),
    *(
        (f"B104 {value}", query_params.parse_listing, f"offset={value}", {"offset": OFFSET})
        for value in ("-1", "9223372036854775808", "1.5", "1000000001", "")
    ),
    ("B106", query_params.parse_listing, "status=bogus", {"status": STATES}),
    ("B106 native", query_params.parse_listing, "status=judging", {"status": STATES}),
    ("B106 empty", query_params.parse_listing, "status=", {"status": STATES}),
    ("B107", query_params.parse_listing, "limit=1&limit=2", {"limit": "Given more than once"}),
    ("B107 alike", query_params.parse_listing, "limit=1&limit=1", {"limit": "Given more than once"}),
    ("all", query_params.parse_listing, "limit=0&offset=-1&status=x&page=2",
     {"limit": LIMIT, "offset": OFFSET, "status": STATES, "page": "Unknown parameter"}),
    ("case", query_params.parse_listing, "Limit=5", {"Limit": "Unknown parameter"}),
    ("B100", query_params.parse_transcript, "format=pdf", {"format": EXPORTS}),
    ("B100 empty", query_params.parse_transcript, "format=", {"format": EXPORTS}),
    ("B100 twice", query_params.parse_transcript, "format=json&format=html", {"format": EXPORTS}),
    ("events limit", query_params.parse_event_page, "limit=1001", {"limit": "Must be between 1 and 1000"}),
    ("events after", query_params.parse_event_page, "after=-1", {"after": OFFSET}),
    ("extended", query_params.parse_stream, "extended=yes", {"extended": "Must be one of: true, false"}),
    ("as", query_params.parse_socket, "as=me", {"as": "Must be a participant id"}),
    ("as twice", query_params.parse_log_stream, "as=part_1&as=part_1", {"as": "Given more than once"}),
    ("twice", query_params.parse_stream, "lastEventId=1&lastEventId=2",
     {"lastEventId": "Given more than once"}),
    ("none known", query_params.no_params, "x", {"x": "Unknown parameter"}),
]  # fmt: skip


@for_each(("read", "query", "expected"), [row[1:] for row in REFUSED])
def test_a_wrong_query_is_told_parameter_by_parameter(
    read: Read, query: str, expected: dict[str, str]
) -> None:
    with pytest.raises(Problem) as caught:
        read(query.encode())
    assert (caught.value.kind, caught.value.detail) == ("validation", "Invalid request")
    assert caught.value.errors == {name: [problem] for name, problem in expected.items()}


@pytest.mark.parametrize("query", [b"limit=%ff", b"%c3%28=1", b"\xff=1"])
def test_a_query_that_is_no_text_is_malformed(query: bytes) -> None:
    with pytest.raises(Problem, match="not valid UTF-8"):
        query_params.parse_listing(query)


@pytest.mark.parametrize("text", ["abc", "-1", "1e3", "0x10", "9" * 10_000, str(2**64), "1.0", "٣"])
def test_a_last_event_id_that_is_none_of_ours_is_malformed(text: str) -> None:
    for read in (
        lambda: query_params.parse_stream(b"", text),
        lambda: query_params.parse_stream(f"lastEventId={quote(text)}".encode()),
        lambda: query_params.parse_log_stream(f"lastEventId={quote(text)}".encode()),
        lambda: query_params.parse_stream(f"lastEventId={quote(text)}".encode(), "5"),
        lambda: query_params.parse_log_stream(f"lastEventId={quote(text)}".encode(), "5"),
        lambda: query_params.parse_plain_stream(f"lastEventId={quote(text)}".encode(), "5"),
        lambda: query_params.parse_stream(b"lastEventId=5", text),
        lambda: query_params.parse_socket(f"after={quote(text)}".encode()),
    ):
        problem = problem_with(read)
        assert problem is not None
        assert problem.kind == "malformed-request"


def test_what_is_left_out_has_its_default() -> None:
    assert query_params.parse_listing(b"") == (DebateFilter(), 20, 0)
    assert query_params.parse_event_page(b"") == (0, 100, None)
    assert query_params.parse_transcript(b"") == ("json", None, False)
    assert (
        query_params.parse_stream(b"")
        == query_params.parse_log_stream(b"")
        == query_params.parse_socket(b"")
        == StreamQuery(Cursor(0, 0), False)
    )


def test_a_good_query_is_taken_as_it_is_meant() -> None:
    assert query_params.parse_listing(b"limit=100&offset=1000000000&status=judge_evaluating") == (
        DebateFilter(statuses=("judging",)),
        100,
        1_000_000_000,
    )
    assert query_params.parse_transcript(b"format=markdown&as=part_1") == (
        "markdown",
        "part_1",
        False,
    )
    assert query_params.parse_stream(b"as=part_1") == StreamQuery(seat="part_1")
    assert query_params.parse_event_page(b"after=7&limit=1000") == (7, 1000, None)
    assert query_params.parse_stream(b"lastEventId=7.2&extended=true&ticket=x") == StreamQuery(
        Cursor(7, 2), True
    )
    assert query_params.parse_log_stream(b"after=7") == StreamQuery(Cursor(7))
    assert query_params.parse_log_stream(b"after=7", "9") == StreamQuery(Cursor(9))
    assert query_params.parse_socket(b"after=7.1&extended=false") == StreamQuery(Cursor(7, 1), False)


def test_the_header_wins_over_the_query() -> None:
    assert query_params.parse_stream(b"lastEventId=3", "5").cursor == Cursor(5)


def test_an_empty_id_is_that_of_a_browser_that_has_seen_nothing() -> None:
    assert query_params.parse_stream(b"lastEventId=", "").cursor == Cursor(0)


@given(st.sampled_from(READERS), st.binary() | st.text("limitofsa=&%0123456789").map(str.encode))
def test_any_query_is_read_or_a_problem(read: Read, query: bytes) -> None:
    problem = problem_with(lambda: read(query))
    assert problem is None or problem.status in (400, 422)
