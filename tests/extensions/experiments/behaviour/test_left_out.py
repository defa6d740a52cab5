"""Without the extension its routes, pages and their modules are gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from moot.extension import load, using
from tests.web.routes.served import serving

HTML = {"Accept": "text/html"}
PAGES = ("/experiments", "/experiments/league", "/experiments/league/judge")
FILES = ("experiments.js", "experiment.js", "judge_debates.js", "experiments.css")


@pytest.mark.parametrize(("left_out", "status"), [(False, 200), (True, 404)])
async def test_its_pages_are_there_with_it_only(tmp_path: Path, left_out: bool, status: int) -> None:
    with using(*load("-experiments" if left_out else None)):
        async with serving(tmp_path) as served:
            files = [f"/static/extensions/experiments/{name}" for name in FILES]
            for path in ("/api/v1/experiments", *PAGES, *files):
                assert (await served.http.get(path, headers=HTML)).status_code == status, path
            home = (await served.http.get("/", headers=HTML)).text
            assert ("/experiments" not in home) == left_out
