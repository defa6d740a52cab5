"""The bad-input table for the older APIs, B140 and on: see `tests/web/behaviour/test_bad_input.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.extensions import bad_requests
from tests.extensions.quick_api import test_routes
from tests.extensions.quick_api.behaviour import test_health
from tests.extensions.turn_sessions import bad_requests as bad_turn_requests
from tests.support.for_each import for_each
from tests.web.behaviour.test_bad_input import Houses, check_answer, houses, named
from tests.web.routes.bad_input_rows import Row

__all__ = ["houses"]

ROWS = (*bad_requests.ROWS, *bad_turn_requests.ROWS)
ELSEWHERE = {
    "B147": test_routes.test_the_documents_own_test_passes_and_the_debate_goes_on,
    "B148": test_routes.test_a_debate_that_fails_ends_with_an_error,
    "B150": test_health.test_the_services_are_told_and_nothing_else,
}


@pytest.mark.asyncio(loop_scope="module")
@for_each("row", ROWS, ids=named)
async def test_it_is_answered_as_the_table_says(
    houses: Houses,
    tmp_path: Path,
    row: Row,
) -> None:
    await check_answer(houses, tmp_path, row)


def test_every_row_of_the_table_is_here_or_elsewhere() -> None:
    here = {row.id for row in ROWS} | ELSEWHERE.keys()
    assert here == {f"B{number}" for number in range(140, 152)}
