"""Models to install: what is told of them, and how an install is asked for."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.support.hub import LoopbackHub
from tests.web.routes.replies import API, told
from tests.web.routes.served import serving
from tests.web.routes.test_debate_routes import problem


async def test_a_model_that_is_not_here_says_what_to_install(tmp_path: Path) -> None:
    async with serving(tmp_path, offline=True) as house:
        rows = {f"{row['provider']}/{row['modelId']}": row for row in (await told(house, "models"))["models"]}
        small, better = rows["local/smollm2-135m"], rows["local/qwen2.5-coder-1.5b"]
        assert (small["local"], small["small"], small["install"]) == (True, True, "smollm2-135m")
        assert better["recommended"]
        assert not rows["openai/gpt-6-luna"]["local"]


async def test_an_install_is_asked_for_and_tells_why_it_failed(tmp_path: Path) -> None:
    async with serving(tmp_path, offline=True) as house:
        reply = await house.http.post(f"{API}/installs/smollm2-135m")
        assert reply.status_code == 202
        assert reply.json()["state"] == "installing"
        await house.arena.providers.installs.close()
        row = (await told(house, "installs"))["models"][0]
        assert row["state"] in ("failed", "absent")
        assert (await house.http.delete(f"{API}/installs/smollm2-135m")).status_code == 204
        problem(await house.http.post(f"{API}/installs/owl"), 404, "not-found")
        problem(await house.http.delete(f"{API}/installs/owl"), 404, "not-found")


async def test_a_model_that_was_installed_is_offered_at_once(tmp_path: Path) -> None:
    async with serving(tmp_path, offline=True) as house:
        installs = house.arena.providers.installs
        model_files = house.arena.providers.model_files

        def has(rows: dict) -> bool:
            return any(row["modelId"] == "smollm2-135m" and row["install"] is None for row in rows["models"])

        assert not has(await told(house, "models"))
        entry = model_files.catalogue["smollm2-135m"]
        model_files.folder.mkdir(parents=True)
        with (model_files.folder / entry.file).open("wb") as file:
            file.truncate(entry.size)
        installs.finished += 1
        assert has(await told(house, "models"))
        assert (await told(house, "installs"))["models"][0]["state"] == "installed"


async def test_a_model_of_the_hub_is_previewed_and_installed(tmp_path: Path) -> None:
    reference = "hf:maker/Toy-GGUF/toy-q4.gguf"
    with LoopbackHub() as hub:
        hub.repos["maker/Toy-GGUF"] = {"toy-q4.gguf": b"GGUF" + b"a" * 1000}
        async with serving(tmp_path, environ=hub.environ) as house:
            seen = (await house.http.post(f"{API}/installs/preview", json={"source": reference})).json()
            assert (seen["name"], seen["bytes"], seen["licence"]) == ("toy-q4", 1004, "Apache-2.0")
            assert (seen["memoryBytes"], seen["fits"], seen["installed"]) == (600_001_104, True, False)
            reply = await house.http.post(f"{API}/installs", json={"source": reference})
            assert (reply.status_code, reply.json()["label"]) == (202, "local/toy-q4")

            async def row() -> dict:
                rows = (await told(house, "installs"))["models"]
                return next(each for each in rows if each["name"] == "toy-q4")

            async with asyncio.timeout(60):
                while (installed := await row())["state"] == "installing":  # noqa: ASYNC110 - over HTTP
                    await asyncio.sleep(0.01)
            assert (installed["state"], installed["source"]) == ("installed", reference)
            models = {each["modelId"]: each for each in (await told(house, "models"))["models"]}
            assert models["toy-q4"]["available"]
            missing = {"source": "hf:maker/Toy-GGUF/none.gguf"}
            for path in ("installs", "installs/preview"):
                wrong = problem(await house.http.post(f"{API}/{path}", json=missing), 422, "validation")
                said = "maker/Toy-GGUF has no file none.gguf. Did you mean hf:maker/Toy-GGUF/toy-q4.gguf?"
                assert wrong["errors"] == {"source": [said]}
