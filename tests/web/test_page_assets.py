"""The page and its files: what is sent to whom, how much it is, and that nothing else has an address."""

from __future__ import annotations

import gzip
import re
import shutil
from collections.abc import AsyncGenerator
from importlib.resources import files
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from hatchling.builders.wheel import WheelBuilder

from moot.cli.render.output import ANSI_SEAT_COLOURS
from moot.core import terms
from moot.providers.keys import Secret
from moot.settings import ServerSettings
from moot.web.routes.page import MEDIA_TYPES, PAGES, PageRoutes
from tests.web.raw_client import Line
from tests.web.routes.served import Served, serving

ROOT = Path(__file__).parents[2]
WEB = Path(str(files("moot.web")))
SHIPPED = sorted(
    path.relative_to(WEB).as_posix()
    for folder in ("static", "vendor")
    for path in (WEB / folder).rglob("*")
    if path.is_file()
)
GUARDED = ServerSettings(
    requests_per_minute=None, debates_per_client=None, token=Secret("operators-own-token")
)
BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8", "Accept-Encoding": "gzip, deflate, br"}
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types dompurify moot"
)
MOST_BYTES = 150_000
MOST_BYTES_OF_FONTS = 65_000


@pytest.fixture
async def guarded(tmp_path: Path) -> AsyncGenerator[Served]:
    async with serving(tmp_path, GUARDED) as house:
        yield house


async def test_every_file_of_the_page_is_sent_as_written_and_not_twice(guarded: Served) -> None:
    for path in SHIPPED:
        plain = await guarded.http.get(f"/{path}", headers={"Accept-Encoding": "identity"})
        kind = plain.headers["content-type"]
        assert (plain.status_code, plain.content) == (200, (WEB / path).read_bytes()), path
        assert kind.partition(";")[0] == MEDIA_TYPES[Path(path).suffix], path
        assert "charset=utf-8" in kind or kind in ("image/svg+xml", "font/woff2"), path
        assert (plain.headers["cache-control"], plain.headers["vary"]) == ("no-cache", "Accept-Encoding")
        tag = plain.headers["etag"]
        again = await guarded.http.get(f"/{path}", headers={"If-None-Match": f'"other", W/{tag}'})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    assert (await guarded.http.get("/static/app.js", headers={"If-None-Match": '"x"'})).status_code == 200


async def test_files_are_packed_for_those_who_can_unpack_them(guarded: Served) -> None:
    async with httpx.AsyncClient(base_url=guarded.url) as client:
        offers = {"gzip, br": True, "br;q=1, gzip;q=0.5": True, "gzip;q=0.0": False, "br": False}
        for offer, packed in offers.items():
            reply = await client.get("/vendor/preact.js", headers={"Accept-Encoding": offer})
            assert (reply.headers.get("content-encoding") == "gzip") == packed, offer
            assert reply.content == (WEB / "vendor/preact.js").read_bytes()


async def test_head_is_told_what_get_is(guarded: Served) -> None:
    for path in ("/", "/static/app.js"):
        head = await guarded.http.head(path, headers=BROWSER)
        whole = await guarded.http.get(path, headers=BROWSER)
        assert (head.status_code, head.content) == (200, b"")
        for name in ("content-type", "content-length", "etag", "content-encoding"):
            assert head.headers.get(name) == whole.headers.get(name)


NOWHERE = (
    "/static/../front.py", "/static/%2e%2e/front.py", "/static/..%2ffront.py", "/static/%2e%2e%2ffront.py",
    "/static/..\\front.py", "/static/..%5cfront.py", "/static//etc/passwd", "/static/%2fetc%2fpasswd",
    "/vendor/../static/app.js", "/static/./app.js", "/static/lib//fold.js", "/static/", "/static",
    "/static/lib", "/static/lib/", "/static/.hidden.js", "/static/app.js%00.css", "/static/app.js/",
    "/static/app.py", "/static/CON.js", "/static/app%e2%80%a4js", "/vendor/nothing.js", "/front.py",
    "/docs.css", "//static/app.js", "/static/%252e%252e/front.py", "/static/lib/..;/app.js",
    "/static/~/app.js",
)  # fmt: skip


async def test_nothing_else_has_an_address(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        line = await Line.to(int(house.url.rpartition(":")[2]))
        for path in NOWHERE:
            await line.send(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode("ascii"))
            reply = await line.reply()
            assert (reply.status, reply.kind) == (404, "not-found"), path
        line.writer.close()


async def test_pages_are_open_to_all_and_may_do_nothing_but_what_they_are_made_of(guarded: Served) -> None:
    for path in PAGES:
        reply = await guarded.http.get(path.format(debateId="deb_1", name="league"), headers=BROWSER)
        assert reply.status_code == 200
        assert reply.headers["content-security-policy"] == CSP
        assert reply.headers["x-frame-options"] == "DENY"
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["referrer-policy"] == "no-referrer"
        assert reply.headers["cross-origin-opener-policy"] == "same-origin"


async def test_what_the_page_shows_is_not_open_to_all(guarded: Served) -> None:
    for path in ("/api/v1/debates", "/api/v1/debates/deb_1/view", "/api/v1/models", "/docs", "/metrics"):
        assert (await guarded.http.get(path, headers=BROWSER)).status_code == 401, path
    assert (await guarded.http.get("/favicon.ico")).headers["content-type"] == "image/svg+xml"


async def test_where_there_is_nothing_the_page_says_so_to_people_and_a_problem_to_programs(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path) as house:
        for path in (
            "/nonsense",
            "/debate",
            "/debate/deb_1/nonsense",
            "/debates/",
            "/apiary",
            "/manual/nonsense",
        ):
            reply = await house.http.get(path, headers=BROWSER)
            assert (reply.status_code, reply.headers["content-security-policy"]) == (404, CSP), path
            assert b"/static/pages/lost.js" in reply.content
            reply = await house.http.get(path)
            assert reply.headers["content-type"] == "application/problem+json", path
        reply = await house.http.get("/debate/deb_nope", headers=BROWSER)
        assert (reply.status_code, b"/static/pages/live.js" in reply.content) == (404, True)
        debate_id = await house.open()
        assert (await house.http.get(f"/debate/{debate_id}", headers=BROWSER)).status_code == 200
        for path in ("/api/v1/nonsense", "/api", "/static/nonsense.js"):
            reply = await house.http.get(path, headers=BROWSER)
            assert (reply.status_code, reply.headers["content-type"]) == (404, "application/problem+json"), (
                path
            )
        reply = await house.http.post("/nonsense", headers=BROWSER)
        assert (reply.status_code, reply.headers["content-type"]) == (404, "application/problem+json")


async def test_before_set_up_the_page_says_what_to_run(tmp_path: Path) -> None:
    shutil.copytree(WEB / "static", tmp_path / "static")
    app = FastAPI()
    app.include_router(PageRoutes(tmp_path).router())
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
        reply = await client.get("/")
    assert (reply.status_code, reply.headers["content-type"]) == (503, "text/plain; charset=utf-8")
    assert "make setup" in reply.text


# --- how much ------------------------------------------------------------------------------------------

NAMED = re.compile(r'(?:href|src)="/([^"]+)"')


async def test_the_document_names_what_its_page_needs_and_has_its_own_tag(guarded: Served) -> None:
    first, other = [(await guarded.http.get(path)) for path in ("/", "/statistics")]
    named = NAMED.findall(first.text)
    assert len(named) == len(
        {*named, "static/css/start.css", "static/parts/model_picker.js", "vendor/preact.js"}
    )
    assert named.index("static/css/base.css") < named.index("static/css/start.css")
    assert "static/pages/statistics.js" in NAMED.findall(other.text)
    assert not {"vendor/chart.js", "static/pages/start.js"} & {*NAMED.findall(other.text)}
    tag = first.headers["etag"]
    assert tag != other.headers["etag"]
    assert (await guarded.http.get("/", headers={"If-None-Match": tag})).status_code == 304
    assert (await guarded.http.get("/statistics", headers={"If-None-Match": tag})).status_code == 200


async def test_no_page_needs_much_before_it_can_be_shown(guarded: Served) -> None:
    for path in PAGES:
        document = await guarded.http.get(path.format(debateId="deb_1", name="league"))
        sizes = {
            name: len(gzip.compress((WEB / name).read_bytes(), 9))
            for name in NAMED.findall(document.text)
            if not name.endswith(".woff2")
        }
        assert sum(sizes.values()) < MOST_BYTES, sorted(sizes.items(), key=lambda item: -item[1])


async def test_text_is_shown_before_its_font_has_come_and_the_font_is_small(guarded: Served) -> None:
    faces = (await guarded.http.get("/static/css/fonts.css")).text
    fonts = re.findall(r'url\("/([^"]+)"\)', faces)
    assert faces.count("font-display: swap") == len(fonts)
    assert {path for path in SHIPPED if path.endswith(".woff2")} == {*fonts}
    assert sum((WEB / path).stat().st_size for path in fonts) < MOST_BYTES_OF_FONTS
    preloaded = re.findall(r'<link rel="preload" href="/([^"]+)"', (await guarded.http.get("/")).text)
    assert preloaded == [path for path in fonts if path.endswith("-normal.woff2")]
    unpacked = await guarded.http.get(f"/{fonts[0]}", headers=BROWSER)
    assert "content-encoding" not in unpacked.headers


def test_a_wheel_has_the_page_and_what_it_builds_on() -> None:
    packed = {file.distribution_path for file in WheelBuilder(str(ROOT)).recurse_included_files()}
    assert {f"moot/web/{path}" for path in SHIPPED} <= packed
    assert {
        "moot/web/static/index.html",
        "moot/web/vendor/preact.js",
        "moot/web/vendor/LICENSES.txt",
    } <= packed


def test_the_page_and_the_terminal_have_the_limits_and_colours_of_the_server() -> None:
    code = (WEB / "static/lib/setup.js").read_text()
    for name in ("MAX_PARTICIPANTS", "MAX_JUDGES", "MAX_CRITERIA"):
        assert re.findall(rf"const {name} = (\d+);", code) == [str(getattr(terms, name))], name
    (colours,) = re.findall(r"const SEAT_COLOURS = \[(.*)\];", code)
    assert re.findall(r"#\w+", colours) == [colour.lower() for colour in terms.SEAT_COLOURS]
    assert len(ANSI_SEAT_COLOURS) == len(terms.SEAT_COLOURS) >= terms.MAX_PARTICIPANTS
