"""A page of another origin, in the browser of the user who runs a server, changes nothing and reads nothing.

The server has no tokens: then access to this machine by a browser would be enough.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from playwright.async_api import Page, Route

from moot.providers.scripted import SayCue, ScriptedProvider, improvise
from tests.web.routes.served import BODY, Served, body, serving

ATTACK = """
async ({target, debate, body}) => {
    const got = [];
    const text = JSON.stringify(body);
    const at = `${target}/api/v1/debates`;
    const read = async (how, asking) => {
        try {
            const reply = await asking;
            const words = await reply.text();
            if (words && reply.ok) got.push([how, words.slice(0, 80)]);
        } catch {}
    };
    const briefly = (promise) => Promise.race([promise, new Promise(done => setTimeout(done, 1500))]);

    // What a form can send: JSON disguised as text, and bodies that are empty.
    const submit = (action, name, value) => new Promise(done => {
        const frame = document.createElement("iframe");
        frame.name = "frame" + Math.random();
        document.body.append(frame);
        const form = document.createElement("form");
        Object.assign(form, {action, method: "post", enctype: "text/plain", target: frame.name});
        if (name) {
            const field = document.createElement("input");
            Object.assign(field, {name, value});
            form.append(field);
        }
        document.body.append(form);
        frame.onload = () => {
            try {
                const words = frame.contentDocument.body.innerText;
                if (words && !words.includes("/errors/")) got.push(["form", words.slice(0, 80)]);
            } catch {}
            done();
        };
        form.submit();
    });
    const half = text.slice(0, -1) + ',"x":"';
    await briefly(submit(at, half, '"}'));
    for (const command of ["stop", "abort", "pause", "skip"])
        await briefly(submit(`${at}/${debate}/${command}`));

    for (const mode of ["no-cors", "cors", "same-origin"])
        for (const type of ["text/plain", "application/json"])
            await read("post " + mode, fetch(at, {method: "POST", mode, body: new Blob([text], {type})}));
    for (const mode of ["no-cors", "cors", "same-origin"]) {
        await read("list " + mode, fetch(at, {mode, credentials: "include"}));
        await read("transcript " + mode, fetch(`${at}/${debate}/transcript`, {mode}));
        await read("stop " + mode, fetch(`${at}/${debate}/stop`, {method: "POST", mode}));
    }
    navigator.sendBeacon(at, text);
    navigator.sendBeacon(at, new Blob([text], {type: "application/json"}));
    navigator.sendBeacon(`${at}/${debate}/stop`);

    const load = (tag, src) => new Promise(done => {
        const element = Object.assign(document.createElement(tag), {src});
        element.onload = () => { if (tag !== "iframe") got.push([tag, src]); done(); };
        element.onerror = done;
        document.body.append(element);
    });
    for (const what of ["status", "transcript?format=html", "stream", "stop"]) {
        await briefly(load("img", `${at}/${debate}/${what}`));
        await briefly(load("script", `${at}/${debate}/${what}`));
    }
    await briefly(new Promise(done => {
        const source = new EventSource(`${at}/${debate}/stream`);
        for (const name of ["status", "participant", "message"])
            source.addEventListener(name, event => { got.push(["EventSource", event.data]); done(); });
        source.onerror = () => { source.close(); done(); };
    }));
    await briefly(new Promise(done => {
        const socket = new WebSocket(`${at.replace("http", "ws")}/${debate}/ws`);
        socket.onopen = () => { got.push(["WebSocket", "open"]); socket.send('{"type":"STOP"}'); };
        socket.onmessage = event => { got.push(["WebSocket", event.data]); done(); };
        socket.onerror = done;
    }));
    await read("delete", fetch(`${at}/${debate}`, {method: "DELETE"}));
    return got;
}
"""


@pytest.fixture
async def house(tmp_path: Path) -> AsyncGenerator[Served]:
    async with serving(tmp_path) as house:
        yield house


@pytest.fixture
def elsewhere() -> Generator[int]:
    """The port of a server that is not ours."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>Cats</title><body>")

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


async def attacked(house: Served, page: Page, target: str) -> list[Any]:
    """What the page could read. That it could change nothing is seen to here."""
    debate_id = await house.open(autoProgress=False)
    await house.until(debate_id, lambda status: status["status"] == "awaiting_arguments")
    before = (await house.get(debate_id, "events?limit=1000")).json()
    got = await page.evaluate(ATTACK, {"target": target, "debate": debate_id, "body": body()})
    assert (await house.http.get("/api/v1/debates")).json()["pagination"]["total"] == 1
    assert (await house.get(debate_id, "events?limit=1000")).json() == before
    return got


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "evil.test"])
async def test_a_page_of_another_origin_changes_and_reads_nothing(
    house: Served, page: Page, elsewhere: int, host: str
) -> None:
    await page.goto(f"http://{host}:{elsewhere}/")
    assert await attacked(house, page, house.url) == []


async def test_a_name_that_was_turned_towards_us_changes_and_reads_nothing(house: Served, page: Page) -> None:
    """DNS rebinding: for the browser the page and our server are of one origin."""
    own = house.url.replace("127.0.0.1", "evil.test")

    async def bait(route: Route) -> None:
        await route.fulfill(body="<!doctype html><title>Cats</title><body>", content_type="text/html")

    await page.route(f"{own}/", bait)
    await page.goto(f"{own}/")
    assert await attacked(house, page, own) == []


async def test_the_same_attack_succeeds_from_our_own_page(house: Served, page: Page) -> None:
    """Or the tests above would show nothing."""
    await page.goto(f"{house.url}/health")
    debate_id = await house.open(autoProgress=False)
    got = await page.evaluate(ATTACK, {"target": house.url, "debate": debate_id, "body": body()})
    assert {"EventSource", "WebSocket", "list cors", "transcript cors"} <= {how for how, _ in got}
    assert (await house.http.get("/api/v1/debates")).json()["pagination"]["total"] > 1


# --- exports -------------------------------------------------------------------------------------------

EVIL = (
    '<script>window.owned = 1; new Image().src = "http://evil.test/"</script>'
    '<img src="http://evil.test/pixel" onerror="window.owned = 1">"\'><svg onload="window.owned = 1">'
    '<link rel="stylesheet" href="http://evil.test/style"><iframe src="http://evil.test/"></iframe>'
    "</style></title><base href='http://evil.test/'>[x](javascript:window.owned=1)"
)


@pytest.mark.parametrize("policy", [True, False])
async def test_an_export_opened_from_the_disk_asks_for_nothing_and_runs_nothing(
    tmp_path: Path, page: Page, policy: bool
) -> None:
    """The policy in the file is the second fence: without it the words are still only words."""
    provider = ScriptedProvider(lambda request: improvise(request) if request.schema else [SayCue(EVIL)])
    asked: list[str] = []
    async with serving(tmp_path, provider=provider) as house:
        reply = await house.http.post("/api/v1/debates", json=hostile())
        assert reply.status_code == 201, reply.text
        await house.over(reply.json()["id"])
        export = await house.get(reply.json()["id"], "transcript?format=html")
    text = export.text if policy else export.text.replace("Content-Security-Policy", "X-Nothing")
    assert text.count("window.owned") > 4
    file = tmp_path / "debate.html"
    file.write_text(text, "utf-8")
    page.on("request", lambda request: asked.append(request.url))
    await page.goto(file.as_uri())
    assert asked == [file.as_uri()]
    assert await page.evaluate("window.owned") is None
    assert (
        await page.evaluate(
            "document.querySelectorAll('script, img, iframe, base, link, svg:not(.axis)').length"
        )
        == 0
    )


def hostile() -> dict[str, Any]:
    changed = json.loads(json.dumps(BODY))
    changed["topic"] = EVIL[:480]
    changed["participants"][0]["name"] = '<img src=x onerror="window.owned=1">'
    changed["judge"]["name"] = "</title><script>window.owned=1</script>"
    return changed
