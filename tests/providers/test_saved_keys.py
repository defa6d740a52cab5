"""Keys that are saved: where they are kept, which one is used, and that a change takes effect at once."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from msgspec.structs import replace

from moot.core.errors import Invalid, Unavailable
from moot.models.registry import ProviderRegistry
from moot.providers.client import ProviderClient
from moot.providers.endpoints import BUILT_IN, Endpoint, key_of
from moot.providers.key_check import check_key
from moot.providers.keys import ApiKey, Secret
from moot.providers.saved_keys import SavedKeys
from moot.settings import ClusterSettings, Settings

OLD, NEW = "sk-canary-0001-old", "sk-canary-0002-new"


def test_only_its_owner_can_read_a_saved_key(tmp_path: Path) -> None:
    saved = SavedKeys(tmp_path / "data")
    saved.save("openai", Secret(OLD))
    saved.save("openai", Secret(NEW))
    [file] = saved.folder.iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    assert saved.folder.stat().st_mode & 0o777 == 0o700
    assert saved.all() == {"openai": Secret(NEW)}
    assert NEW not in repr(saved.all())


def test_a_change_of_another_process_is_seen(tmp_path: Path) -> None:
    ours, theirs = SavedKeys(tmp_path), SavedKeys(tmp_path)
    assert ours.all() == {}
    for key in (OLD, NEW):
        theirs.save("openai", Secret(key))
        assert ours.all() == {"openai": Secret(key)}
    # As if it had been saved long ago: from then on the folder is read only when it has changed.
    old = time.time() - 60
    os.utime(ours.folder, (old, old))
    assert ours.all() == {"openai": Secret(NEW)}
    assert theirs.remove("openai")
    assert not theirs.remove("openai")
    assert ours.all() == {}


def test_what_is_no_key_is_refused_and_not_repeated(tmp_path: Path) -> None:
    for wrong in ("", "two words", "sk-canary\n0001", "k" * 513, "clé"):
        with pytest.raises(Invalid, match="A key has 1 to 512") as refused:
            SavedKeys(tmp_path).save("openai", Secret(wrong))
        assert not wrong or wrong not in str(refused.value)
    (tmp_path / "keys").write_text("a file where the folder should be")
    with pytest.raises(Unavailable, match="cannot be written"):
        SavedKeys(tmp_path).save("openai", Secret(OLD))
    assert SavedKeys(tmp_path).all() == {}


def test_a_saved_key_comes_before_the_environment_and_the_file() -> None:
    openai, environ, file = BUILT_IN["openai"], {"OPENAI_API_KEY": OLD}, {"openai": Secret("sk-of-the-file")}
    found = key_of(openai, environ, file, {"openai": Secret(NEW)})
    assert found == ApiKey(Secret(NEW), "the saved key")
    assert found.origin == "settings"
    rest = (key_of(openai, environ, file), key_of(openai, {}, file))
    assert [key.origin for key in rest if key] == ["environment", "file"]


async def test_a_key_that_changes_is_used_by_the_next_call_and_calls_under_way_go_on(tmp_path: Path) -> None:
    saved = SavedKeys(tmp_path)
    saved.save("openai", Secret(OLD))
    providers = ProviderRegistry({}, models=tmp_path, environ={}, saved_keys=saved)
    before = providers.get("openai")
    assert providers.get("openai") is before
    saved.save("openai", Secret(NEW))
    after = providers.get("openai")
    assert after is not before
    assert isinstance(before, ProviderClient)
    assert not before._closed
    saved.remove("openai")
    with pytest.raises(Unavailable, match="There is no key for OpenAI"):
        providers.get("openai")
    await providers.close()
    assert before._closed


async def test_a_saved_key_makes_a_model_the_default_only_once_a_test_has_accepted_it(tmp_path: Path) -> None:
    saved = SavedKeys(tmp_path)
    providers = ProviderRegistry(
        {}, models=tmp_path, environ={}, services=(BUILT_IN["openai"],), saved_keys=saved
    )
    alone = await providers.default_model()
    saved.save("openai", Secret(OLD))
    assert (saved.test_state("openai"), await providers.default_model()) == ("untested", alone)
    saved.record_test("openai", Secret(OLD), ok=False)
    assert (saved.test_state("openai"), await providers.default_model()) == ("failed", alone)
    saved.record_test("openai", Secret(OLD), ok=True)
    assert saved.test_state("openai") == "accepted"
    assert (await providers.default_model()).startswith("openai/")
    # Another key was never tested; all of it is known to another process, and no key stands in the file.
    saved.save("openai", Secret(NEW))
    assert SavedKeys(tmp_path).test_state("openai") == "untested"
    assert OLD not in (saved.folder / ".tests").read_text()
    assert (saved.folder / ".tests").stat().st_mode & 0o777 == 0o600
    await providers.close()


def test_a_cluster_saves_no_keys(tmp_path: Path) -> None:
    settings = Settings(tmp_path, cluster=ClusterSettings(store=Secret("postgresql://me@db.example/moot")))
    assert settings.saved_keys is None


# --- testing one --------------------------------------------------------------------------------------


@pytest.fixture
async def service() -> AsyncGenerator[tuple[TestServer, list[web.Request], list[web.Response]]]:
    asked: list[web.Request] = []
    replies: list[web.Response] = []

    async def answer(request: web.Request) -> web.Response:
        asked.append(request)
        return replies.pop(0)

    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    server = TestServer(app)
    await server.start_server()
    yield server, asked, replies
    await server.close()


Service = tuple[TestServer, list[web.Request], list[web.Response]]


def at(server: TestServer, name: str, path: str = "") -> Endpoint:
    return replace(BUILT_IN[name], base_url=str(server.make_url(path)).rstrip("/"))


@pytest.mark.parametrize(
    ("name", "base", "path", "header", "value"),
    [
        ("openai", "/v1", "/v1/models", "Authorization", f"Bearer {OLD}"),
        ("anthropic", "", "/v1/models", "x-api-key", OLD),
        ("google", "", "/v1beta/models", "x-goog-api-key", OLD),
        ("openrouter", "/api/v1", "/api/v1/key", "Authorization", f"Bearer {OLD}"),
    ],
)
async def test_a_key_is_tested_by_a_request_that_costs_nothing(
    service: Service, name: str, base: str, path: str, header: str, value: str
) -> None:
    server, asked, replies = service
    replies.append(web.json_response({"data": []}))
    checked = await check_key(at(server, name, base), ApiKey(Secret(OLD), "X_API_KEY"), {})
    assert (checked.ok, checked.message) == (True, f"{BUILT_IN[name].title} accepted X_API_KEY.")
    assert (asked[0].path, asked[0].headers[header]) == (path, value)


async def test_a_test_names_cause_and_remedy_and_never_the_key(service: Service) -> None:
    server, _, replies = service
    openai, key = at(server, "openai"), ApiKey(Secret(OLD), "OPENAI_API_KEY")
    said = {"error": {"message": f"Incorrect API key provided: {OLD}"}}
    rows = (
        (401, "OpenAI rejected OPENAI_API_KEY (401).", "Replace it in Settings, with `moot keys set openai`"),
        (403, "OpenAI rejected OPENAI_API_KEY (403).", "Replace it in Settings"),
        (402, "its quota or credit is used up.", "Look at your account with OpenAI"),
        (429, "OpenAI refuses further requests for now (429).", "Wait 7 s, then test again."),
        (404, "was not tested.", "Check the address (OPENAI_BASE_URL)."),
        (302, "was not tested.", "Check the address"),
        (500, "OpenAI failed to answer (500).", "Test again later."),
    )
    for status, message, fix in rows:
        body = said if status == 401 else {}
        headers = {"Retry-After": "7"} if status == 429 else {}
        replies.append(web.json_response(body, status=status, headers=headers))
        checked = await check_key(openai, key, {})
        assert not checked.ok
        assert message in checked.message
        assert fix in checked.fix
        assert OLD not in repr(checked)
    await server.close()
    checked = await check_key(openai, key, {})
    assert checked.message == f"{openai.base_url.removeprefix('http://')} cannot be reached."
    nothing = await check_key(openai, None, {})
    assert nothing.message == "No key is set for OpenAI."
    assert "moot keys set openai" in nothing.fix
