"""The manual as a server shows it: every page can be reached, and no link or anchor leads nowhere."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from pathlib import Path
from posixpath import dirname, join, normpath

import httpx
import pytest
from fastapi import FastAPI

from moot.cli.command_reference import command_reference
from moot.engine.arena import Arena
from moot.extension import Extension, loaded, using
from moot.processes.server import make_app
from moot.settings import load
from moot.web.middleware.headers import CSP
from moot.web.routes.manual import ManualRoutes

ROOT = Path(__file__).parents[2]
LINK = re.compile(r'(?:href|src)="([^"]+)"')
IDS = re.compile(r' id="([^"]+)"')
OWN_ENDPOINT = """\
[endpoints.hush]
family = "openai_chat"
base_url = "https://hush.example"
key_variable = "HUSH_KEY"
"""
TERMINAL = {"reference/commands.md": command_reference}
PLUGIN = Extension("plugin", manual={"plugin.md": lambda: "# A plugin\n\nSee [the API](api.md#errors).\n"})


@pytest.fixture
async def manual(tmp_path: Path) -> AsyncGenerator[httpx.AsyncClient]:
    (tmp_path / "moot.toml").write_text(OWN_ENDPOINT)
    settings = load({"MOOT_DATA": str(tmp_path), "MOOT_OFFLINE": "1"})
    async with AsyncExitStack() as held:
        held.enter_context(using(*loaded(), PLUGIN))
        arena = await held.enter_async_context(Arena.open(settings))
        transport = httpx.ASGITransport(make_app(arena, TERMINAL), client=("127.0.0.1", 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            yield client


async def read_all(client: httpx.AsyncClient) -> dict[str, str]:
    """Every document below /manual/ that can be reached from its first page, by address."""
    documents, waiting = dict[str, str](), ["/manual/index.html"]
    while waiting:
        address = waiting.pop()
        if address in documents:
            continue
        reply = await client.get(address)
        assert reply.status_code == 200, address
        assert reply.headers["content-security-policy"] == CSP
        documents[address] = reply.text
        linked = (target for target, _ in links(address, reply.text))
        waiting += [target for target in linked if target.endswith(".html")]
    return documents


def links(address: str, document: str) -> list[tuple[str, str]]:
    """Path and anchor of each link and picture within the manual."""
    found = list[tuple[str, str]]()
    for link in LINK.findall(document):
        path, _, anchor = link.partition("#")
        target = normpath(join(dirname(address), path)) if path else address
        if ":" not in link and target.startswith("/manual/"):
            found.append((target, anchor))
    return found


async def test_every_page_is_reached_and_every_link_and_anchor_exists(manual: httpx.AsyncClient) -> None:
    documents = await read_all(manual)
    pages = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")}
    assert {f"/manual/{page.as_posix()}" for page in pages} <= set(documents)
    generated = ("commands", "http-api", "event-types", "python")
    assert {f"/manual/reference/{name}.html" for name in generated} <= set(documents)
    anchors = {address: {*IDS.findall(document)} for address, document in documents.items()}
    for address, document in documents.items():
        for target, anchor in links(address, document):
            if not target.endswith(".html"):
                assert (await manual.get(target)).status_code == 200, (address, target)
            assert not anchor or anchor in anchors[target], (address, target, anchor)


async def test_no_page_has_what_its_policy_forbids(manual: httpx.AsyncClient) -> None:
    for address, document in (await read_all(manual)).items():
        tags = re.findall(r"<[a-z][^>]*>", document)
        assert not [tag for tag in tags if re.search(r"\s(style|on\w+)=", tag)], address
        assert re.findall(r"<script[^>]*>", document) == ['<script src="/static/manual.js">'], address
        assert len(IDS.findall(document)) == len({*IDS.findall(document)}), address


async def test_addresses_of_the_manual_in_page_and_code_exist(manual: httpx.AsyncClient) -> None:
    sources = [path for path in (ROOT / "src").rglob("*") if path.suffix in (".py", ".js")]
    named = {
        address
        for path in sources
        for address in re.findall(r"/manual/[\w/-]+\.html(?:#[\w-]+)?", path.read_text("utf-8"))
    }
    assert "/manual/experiments.html" in named
    for address in named:
        path, _, anchor = address.partition("#")
        reply = await manual.get(path)
        assert reply.status_code == 200, address
        assert not anchor or f' id="{anchor}"' in reply.text, address


async def test_the_reference_of_the_api_names_nothing_that_an_operator_added(
    manual: httpx.AsyncClient,
) -> None:
    reference = (await manual.get("/manual/reference/http-api.html")).text
    assert "X-Provider-Key-openai" in reference
    assert "hush" not in reference
    assert "hush" in (await manual.get("/openapi.json")).text


async def test_an_extension_brings_a_page(manual: httpx.AsyncClient) -> None:
    page = (await manual.get("/manual/plugin.html")).text
    assert "<h2>More</h2>" in page
    assert '<a href="api.html#errors">the API</a>' in page
    assert "plugin.html#a-plugin" in (await manual.get("/manual/search?q=plugin")).text


async def test_the_search_is_a_form_that_answers_with_a_page(manual: httpx.AsyncClient) -> None:
    page = (await manual.get("/manual/search", params={"q": "what a cost limit reserves"})).text
    results = re.findall(r'<li><a href="([^"]+)">', page[page.index('class="results"') :])
    assert results[0] == "decisions/0031-what-a-cost-limit-reserves.html#what-a-cost-limit-reserves"
    assert "<mark>" in page
    odd = (await manual.get("/manual/search", params={"q": '"><script>'})).text
    assert "<script>" not in odd
    assert "Nothing is found" in (await manual.get("/manual/search?q=zyzzyva")).text
    assert "Type a word" in (await manual.get("/manual/search")).text


async def test_the_search_answers_programs_with_json(manual: httpx.AsyncClient) -> None:
    headers = {"Accept": "application/json"}
    results = (await manual.get("/manual/search?q=MOOT_DATA", headers=headers)).json()
    assert results[0]["address"].startswith("/manual/")
    assert "MOOT_DATA" in results[0]["excerpt"]


async def test_addresses_outside_the_manual_lead_nowhere(manual: httpx.AsyncClient) -> None:
    for path in (
        "..%2fpyproject.toml",
        "figures.json",
        "leagues/local-models.toml",
        "api",
        "images/",
        "x.png",
    ):
        assert (await manual.get(f"/manual/{path}")).status_code == 404, path
    assert (await manual.get("/manual")).headers["location"] == "/manual/"


async def test_an_installation_without_the_files_says_so(tmp_path: Path) -> None:
    app = FastAPI()
    app.include_router(ManualRoutes({}, tmp_path).router())
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
        for path in ("/manual/", "/manual/search?q=x"):
            reply = await client.get(path)
            assert (reply.status_code, "no manual" in reply.text) == (404, True)


async def test_who_edits_a_page_sees_it_after_a_reload(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text("# First")
    app = FastAPI()
    app.include_router(ManualRoutes({}, tmp_path).router())
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
        assert "First" in (await client.get("/manual/")).text
        (tmp_path / "README.md").write_text("# Second")
        assert "Second" in (await client.get("/manual/")).text
