"""An older API can be left out: its routes and commands are gone, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from moot.cli.options import command_group
from moot.extension import load, using
from tests.web.routes.served import serving

PATHS = {
    "quick_api": ("POST", "/api/debate"),
    "arena_api": ("POST", "/api/debates"),
    "turn_sessions": ("GET", "/api/debate/sessions"),
}


@pytest.mark.parametrize("name", PATHS)
async def test_one_that_is_left_out_has_no_routes_and_the_others_have_theirs(
    tmp_path: Path, name: str
) -> None:
    with using(*load(f"-{name}")) as loaded:
        async with serving(tmp_path) as served:
            for other, (method, path) in PATHS.items():
                reply = await served.http.request(method, path, json={} if method == "POST" else None)
                assert (reply.status_code in (404, 405)) == (other == name), (other, reply.text)
            assert (await served.http.get("/api/v1/debates")).status_code == 200
            paths = (await served.http.get("/openapi.json")).json()["paths"]
            assert PATHS[name][1] not in paths
            assert len([path for _, path in PATHS.values() if path in paths]) == len(PATHS) - 1
        assert loaded.failures == {}


async def test_a_debate_is_held_without_any(tmp_path: Path) -> None:
    with using():
        async with serving(tmp_path) as served:
            debate_id = await served.open()
            assert (await served.get(debate_id, "stream")).text.count("event: complete") == 1


def test_the_commands_of_sessions_go_with_their_extension() -> None:
    assert "sessions" in [*command_group("export", "")]
    with using(*load("-turn_sessions")):
        assert "sessions" not in [*command_group("export", "")]
