"""The settings page: keys, providers, models, appearance and tokens; and the form that asks for a token."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, Page, Route, expect

from moot.store.contract import AccessToken, digest
from tests.page.conftest import watching
from tests.support.hub import LoopbackHub
from tests.web.routes.served import Served, serving

pytestmark = pytest.mark.asyncio(loop_scope="session")
REFUSED = "the server responded with a status of 401"


async def locked(served: Served, secret: str) -> None:
    await served.arena.store.save_token(AccessToken("ada", digest(secret), "owner", "ada", datetime.now(UTC)))


async def test_a_theme_is_kept_in_this_browser(page: Page, served: Served) -> None:
    await page.goto(f"{served.url}/settings")
    await page.get_by_role("group", name="Theme").get_by_text("Dark").click()
    await page.get_by_role("group", name="Motion").get_by_text("Reduced").click()
    await expect(page.locator("html[data-theme=dark][data-still]")).to_have_count(1)
    await page.reload()
    await expect(page.get_by_role("radio", name="Dark")).to_be_checked()
    await expect(page.locator("html[data-theme=dark][data-still]")).to_have_count(1)


async def test_providers_say_what_they_lack(page: Page, served: Served) -> None:
    await page.goto(f"{served.url}/settings")
    await expect(page.get_by_text("No key · ANTHROPIC_API_KEY not set")).to_be_visible()
    await expect(page.get_by_text("Start Ollama and pull a model.")).to_be_visible()
    await expect(
        page.get_by_role("button", name="Install").or_(page.get_by_text("Installed"))
    ).not_to_have_count(0)


async def test_a_key_is_saved_tested_and_removed_and_never_shown(page: Page, served: Served) -> None:
    async def refuses(route: Route) -> None:
        reply = {"provider": "openai", "ok": False, "message": "OpenAI rejected the key (401)."}
        await route.fulfill(json={**reply, "fix": "Check that the key is complete."})

    # Nothing may be asked of the real service.
    await page.route("**/api/v1/keys/openai/test", refuses)
    await page.goto(f"{served.url}/settings#providers")
    service = page.get_by_role("listitem").filter(has=page.get_by_role("heading", name="OpenAI"))
    await service.get_by_role("button", name="Add key").click()
    field = service.get_by_label("API key for OpenAI")
    await expect(field).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(service.get_by_text("Paste the key for OpenAI.")).to_be_visible()
    await field.fill("sk-a-secret-of-mine")
    await page.keyboard.press("Enter")
    await expect(service.get_by_text("Key saved, not tested")).to_be_visible()
    await expect(service.get_by_role("status")).to_contain_text("rejected the key (401). Check that")
    assert "sk-a-secret" not in await page.content()
    await service.get_by_role("button", name="Remove key").click()
    await expect(service.get_by_text("No key ·")).to_be_visible()


async def test_a_model_of_the_hub_is_shown_before_it_is_installed(
    tmp_path: Path, context: BrowserContext, complaints: list[str]
) -> None:
    with LoopbackHub() as hub:
        hub.repos["maker/Toy-GGUF"] = {"toy-q4.gguf": b"GGUF" + b"a" * 1000}
        async with serving(tmp_path, environ=hub.environ) as served, await context.new_page() as page:
            watching(served, complaints)(page)
            await page.goto(f"{served.url}/settings#local-models")
            source = page.get_by_label("Another model")
            await source.fill("hf:maker/Toy-GGUF/none.gguf")
            await page.get_by_role("button", name="Check", exact=True).click()
            await expect(page.get_by_text("Did you mean hf:maker/Toy-GGUF/toy-q4.gguf?")).to_be_visible()
            await source.fill("hf:maker/Toy-GGUF/toy-q4.gguf")
            await page.keyboard.press("Enter")
            await expect(page.get_by_role("status").filter(has_text="licence Apache-2.0")).to_be_visible()
            await page.get_by_role("button", name="Install", exact=True).click()
            model = page.get_by_role("listitem").filter(has_text="toy-q4")
            await expect(model).to_contain_text("installed")
    assert all("422" in one for one in complaints)


async def test_an_unreachable_server_is_said_with_what_to_do(
    page: Page, served: Served, complaints: list[str]
) -> None:
    await page.route("**/api/v1/**", lambda route: route.abort())
    await page.goto(f"{served.url}/settings")
    await expect(page.get_by_role("heading", name="The server cannot be reached")).to_be_visible()
    await page.unroute("**/api/v1/**")
    await page.get_by_role("button", name="Try again").click()
    await expect(page.get_by_role("heading", name="Model servers")).to_be_visible()
    complaints.clear()


async def test_the_first_token_locks_the_door_and_this_browser_stays_in(page: Page, served: Served) -> None:
    await page.goto(f"{served.url}/settings")
    await page.get_by_label("Token name").fill("ada")
    await page.get_by_role("button", name="Create a token and require it").click()
    await expect(page.get_by_text("it cannot be shown again.")).to_be_visible()
    secret = await page.locator(".secret").inner_text()
    assert await page.evaluate("localStorage.getItem('moot.token')") == secret
    await page.goto(f"{served.url}/debates")
    await expect(page.get_by_role("heading", name="Nothing has been debated yet")).to_be_visible()
    assert (await served.http.get("/api/v1/debates")).status_code == 401


async def test_whoever_has_no_token_is_asked_for_one(
    page: Page, served: Served, complaints: list[str]
) -> None:
    await locked(served, "moot_a-good-token")
    await page.goto(f"{served.url}/debates")
    door = page.get_by_role("dialog", name="Enter your token")
    await door.get_by_label("Token").fill("wrong")
    await page.keyboard.press("Enter")
    await expect(door.get_by_role("alert")).to_contain_text("is not valid here")
    await door.get_by_label("Token").fill("moot_a-good-token")
    await door.get_by_role("button", name="Continue").click()
    await expect(door).to_have_count(0)
    await expect(page.get_by_role("heading", name="Nothing has been debated yet")).to_be_visible()
    await page.reload()
    await expect(page.get_by_role("heading", name="Nothing has been debated yet")).to_be_visible()
    assert complaints
    assert all(REFUSED in complaint for complaint in complaints)
    complaints.clear()


async def test_whoever_comes_with_a_withdrawn_invitation_is_told_so_and_sees_nothing(
    page: Page, served: Served, complaints: list[str]
) -> None:
    debate_id = await served.open(autoProgress=False)
    invitation = (await served.post(debate_id, "invitations", {"role": "observer", "name": "zoe"})).json()
    await served.http.delete(f"/api/v1/debates/{debate_id}/invitations/zoe")
    await page.goto(f"{served.url}/debate/{debate_id}#token={invitation['token']}")
    door = page.get_by_role("dialog", name="Enter your token")
    await expect(door).to_contain_text("Your invitation to this debate is not valid any more")
    await expect(page.get_by_text("Should AI development be regulated")).to_have_count(0)
    assert all(REFUSED in complaint for complaint in complaints)
    complaints.clear()
