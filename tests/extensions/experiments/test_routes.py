"""Experiments over the API: live progress, figures that are computed once, and for the operator alone."""

from __future__ import annotations

import asyncio
import sys
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest
from msgspec.structs import replace

from moot.client import AsyncClient
from moot.core.errors import Fault
from moot.core.terms import Money, Request
from moot.extensions.experiments.measuring.definition import ExperimentDefinition
from moot.extensions.experiments.runner import ExperimentRunner
from moot.extensions.experiments.store import MICRODOLLARS
from moot.extensions.experiments.tables import EXPERIMENTS
from moot.installation import install_command
from moot.providers.keys import Secret
from moot.providers.scripted import Cue, FaultCue, ScriptedProvider
from moot.settings import ServerSettings
from tests.extensions.experiments.billed_league import LEAGUE as BILLED
from tests.extensions.experiments.billed_league import BilledLeague, failed_debates
from tests.web.behaviour.test_roles import bearer
from tests.web.routes.served import Served, serving

LEAGUE = ExperimentDefinition(
    name="league",
    models=("scripted/heron", "scripted/otter", "scripted/wren"),
    motions=("Homework should be banned", "Zoos do more good than harm"),
    rounds=1,
    judges=("scripted/owl", "scripted/judge"),
    options={"recuse": False},
)


async def held(served: Served, definition: ExperimentDefinition = LEAGUE) -> None:
    await ExperimentRunner(served.arena, definition).run()


async def test_an_experiment_is_listed_measured_and_reported(served: Served) -> None:
    assert (await served.http.get("/api/v1/experiments")).json() == {"experiments": []}
    await held(served)
    async with AsyncClient(served.url) as client:
        [row] = await client.experiments()
        found = await client.experiment("league")
    assert (row.state, row.planned, row.held, row.failed, row.running) == ("done", 12, 12, 0, 0)
    assert (row.models, row.motions, row.format, row.cost_text) == (LEAGUE.models, 2, "oxford", "$0.00")
    assert (found.held, found.created_at) == (row.held, row.created_at)
    assert {each.model for each in found.leaderboard} == set(LEAGUE.models)
    for each in found.leaderboard:
        assert 1 <= each.best_rank <= each.rank <= each.worst_rank <= 3
        assert each.low is None or each.low <= each.rating
    assert (found.matchups[0].first, found.matchups[0].debates) == ("scripted/heron", 4)
    assert {each.judge for each in found.judges} == set(LEAGUE.judges)
    assert {each.model for each in found.reliability} == set(LEAGUE.models)
    assert found.agreement is not None
    assert found.agreement.debates == 12
    assert (await served.http.get(f"/api/v1/debates/{found.closest[0].debate}/status")).status_code == 200
    assert found.notes
    reply = await served.http.get("/api/v1/experiments/league/report")
    assert reply.headers["content-type"].startswith("text/html")
    style = reply.text.partition("<style>")[2].partition("</style>")[0]
    policy = reply.headers["content-security-policy"]
    assert f"style-src 'sha256-{b64encode(sha256(style.encode()).digest()).decode()}'" in policy
    assert "script-src" not in policy
    assert "default-src 'none'" in policy
    link = reply.text.partition('<li><a href="http')[2].partition('"')[0]
    assert reply.url.join(f"http{link}").path.startswith("/debate/deb_")


async def test_progress_is_live_and_figures_are_computed_once(served: Served) -> None:
    running = asyncio.create_task(held(served), name="experiment")
    seen = set[int]()
    while not running.done():
        for row in (await served.http.get("/api/v1/experiments")).json()["experiments"]:
            seen.add(row["held"])
    await running
    assert len(seen) > 2
    shapes = [(await served.http.get("/api/v1/experiments/league")).json() for _ in range(2)]
    assert shapes[0]["measuredAt"] == shapes[1]["measuredAt"]
    await held(served, replace(LEAGUE, motions=(*LEAGUE.motions, "Exams should be open-book")))
    later = (await served.http.get("/api/v1/experiments/league")).json()
    assert later["held"] == 18
    assert later["measuredAt"] > shapes[0]["measuredAt"]


async def test_without_the_extra_there_is_progress_and_a_note_what_to_install(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    await held(served, replace(LEAGUE, motions=LEAGUE.motions[:1]))
    monkeypatch.setitem(sys.modules, "numpy", None)
    shape = (await served.http.get("/api/v1/experiments/league")).json()
    assert (shape["held"], shape["leaderboard"], shape["measuredAt"]) == (6, [], None)
    assert install_command("experiments") in shape["notes"][0]
    refused = await served.http.get("/api/v1/experiments/league/report")
    assert refused.status_code == 409
    assert install_command("experiments") in refused.json()["detail"]


async def test_a_format_that_is_gone_hides_no_experiment(served: Served) -> None:
    lost = replace(LEAGUE, format="no-such-format")
    await served.arena.store.tables(EXPERIMENTS).save("league", lost.to_json())
    [row] = (await served.http.get("/api/v1/experiments")).json()["experiments"]
    assert (row["state"], row["planned"], row["format"]) == ("running", 0, "no-such-format")


async def test_with_tokens_only_the_operator_sees_experiments(tmp_path: Path) -> None:
    async with serving(tmp_path, ServerSettings(token=Secret("operators-own-token"))) as guarded:
        operator = bearer("operators-own-token")
        await guarded.arena.store.tables(EXPERIMENTS).save("league", LEAGUE.to_json())
        for role in ("owner", "moderator", "viewer"):
            body = {"name": role, "role": role, "owner": "" if role == "owner" else "ada"}
            made = await guarded.http.post("/api/v1/tokens", json=body, headers=operator)
            for path in ("", "/league", "/league/report", "/none"):
                reply = await guarded.http.get(
                    f"/api/v1/experiments{path}", headers=bearer(made.json()["token"])
                )
                assert reply.status_code == 403, (role, path)
        assert (await guarded.http.get("/api/v1/experiments/league")).status_code == 401
        assert (await guarded.http.get("/api/v1/experiments", headers=operator)).status_code == 200
        assert (await guarded.http.get("/api/v1/experiments/none", headers=operator)).status_code == 404


async def test_failed_debates_of_an_experiment_come_with_their_reason_and_a_debate_to_look_at(
    tmp_path: Path,
) -> None:
    def refused(_request: Request) -> list[Cue]:
        return [FaultCue(Fault("bad_key", "permanent", billed=False, message="The key was rejected."))]

    async with serving(tmp_path, provider=ScriptedProvider(refused)) as house:
        await held(house, replace(LEAGUE, models=LEAGUE.models[:2], motions=LEAGUE.motions[:1]))
        found = (await house.http.get("/api/v1/experiments/league")).json()
        assert found["failed"] == 2
        [failure] = found["failures"]
        assert "The key was rejected." in failure["reason"]
        assert (await house.get(failure["debate"], "status")).json()["status"] == "error"


async def test_what_clients_let_go_on_is_booked_to_the_experiment_or_refused(tmp_path: Path) -> None:
    """All failed debates are tried again at once, and the finished ones judged again."""
    league = BilledLeague(tmp_path)
    league.break_down()
    provider, prices = league.providers["scripted"], league.settings.prices
    async with serving(tmp_path, provider=provider, prices=prices) as house:
        experiments = house.arena.store.tables(EXPERIMENTS)
        failed = await ExperimentRunner(house.arena, BILLED).run()
        league.mend()
        debates = await failed_debates(house.arena)
        limit = (await house.arena.state(debates[0])).limits.cost_limit
        assert limit is not None
        limited = replace(BILLED, budget=failed.spent + limit * Money("2.5"))
        await experiments.save("league", limited.to_json())
        replies = await asyncio.gather(*(house.post(debate, "retry") for debate in debates))
        refusals = [reply for reply in replies if reply.status_code == 409]
        assert 0 < len(refusals) < len(debates)
        assert "This debate belongs to the experiment league" in refusals[0].json()["detail"]
        tried = [debate for debate, reply in zip(debates, replies, strict=True) if reply.status_code != 409]
        for debate in tried:
            await house.over(debate)
        again = await asyncio.gather(*(house.post(debate, "rejudge", {}) for debate in tried))
        assert {reply.status_code for reply in again} <= {200, 201, 202, 409}
        progress = await ExperimentRunner(house.arena, limited).run()
        assert limited.budget is not None
        assert league.billed <= progress.spent <= limited.budget
        assert Money((await experiments.counts("league")).booked) / MICRODOLLARS == progress.spent
        [row] = (await house.http.get("/api/v1/experiments")).json()["experiments"]
        assert (row["held"], row["failed"]) == (len(tried), len(debates) - len(tried))
