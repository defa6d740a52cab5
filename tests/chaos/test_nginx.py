"""Behind a real nginx with its default settings, without any configuration for streams."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from moot.providers.scripted import SayCue, ScriptedProvider, StallCue
from tests.chaos.servers import quiet_port
from tests.chaos.viewers import Viewer, by_header
from tests.web.routes.served import serving

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
SETTINGS = """
daemon off;
pid {folder}/pid;
error_log {folder}/errors;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port};
        location / {{ proxy_pass {url}; }}
    }}
}}
"""


@asynccontextmanager
async def behind_nginx(folder: Path, url: str) -> AsyncGenerator[int]:
    """The port of an nginx in front of this server."""
    port = quiet_port()
    settings = folder / "nginx.conf"
    settings.write_text(SETTINGS.format(folder=folder, port=port, url=url))
    assert NGINX is not None
    nginx = await asyncio.create_subprocess_exec(NGINX, "-c", str(settings), "-e", str(folder / "errors"))
    try:
        yield port
    finally:
        nginx.terminate()
        await nginx.wait()


@pytest.mark.chaos
@pytest.mark.skipif(NGINX is None, reason="there is no nginx; on Debian: apt-get install nginx-light")
async def test_the_first_words_come_through_while_the_speaker_still_speaks(tmp_path: Path) -> None:
    provider = ScriptedProvider(lambda _: [SayCue("Just a few words."), StallCue()])
    async with serving(tmp_path, provider=provider) as house, behind_nginx(tmp_path, house.url) as port:
        debate_id = await house.open()
        viewer = Viewer(port, debate_id, by_header)
        following = asyncio.create_task(viewer.follow())
        try:
            async with asyncio.timeout(60):
                while not any("few words" in told.data for told in viewer.seen):  # noqa: ASYNC110 - nobody tells
                    await asyncio.sleep(0.01)
        finally:
            following.cancel()
        assert viewer.seen[0].event == "status"
