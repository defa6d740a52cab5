"""Makes docs/images/live.webp: a debate in the browser whose words appear one by one.

`make screenshots` runs it. The same words are spoken as in the pictures, at a pace; the page is photographed
five times a second, and Pillow joins the photographs to one moving picture that plays as fast.
"""

from __future__ import annotations

import asyncio
import io
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.async_api import Page

from moot.providers.scripted import ScriptedProvider
from tests.browser.chromium import FLAGS, PICTURE_FONTS, launched
from tests.page.sample_debate import Play, body
from tests.page.screenshots import IMAGES, PATIENT, open_debate
from tests.web.routes.served import serving

SECONDS_A_WORD = 0.05
FRAMES, FRAME_MS = 70, 200
SIZE = (1440, 940)
SHOWN_WIDTH = 960


async def main() -> None:
    with TemporaryDirectory() as folder:
        async with (
            serving(
                Path(folder), provider=ScriptedProvider(Play(), pace=SECONDS_A_WORD), pace=PATIENT
            ) as served,
            launched(FLAGS, PICTURE_FONTS) as browser,
            await browser.new_context(viewport={"width": SIZE[0], "height": SIZE[1]}) as context,
        ):
            debate = await open_debate(served, body(timeoutPerRound=300))
            page = await context.new_page()
            await page.goto(f"{served.url}/debate/{debate}")
            await page.locator("main h1").first.wait_for()
            frames = await _photographs(page)
    frames[0].save(
        IMAGES / "live.webp",
        save_all=True,
        append_images=frames[1:],
        duration=FRAME_MS,
        loop=0,
        quality=55,
        method=4,
    )


async def _photographs(page: Page) -> list[Image.Image]:
    loop = asyncio.get_running_loop()
    begin, frames = loop.time(), list[Image.Image]()
    for number in range(FRAMES):
        await asyncio.sleep(max(0.0, begin + number * FRAME_MS / 1000 - loop.time()))
        photograph = Image.open(io.BytesIO(await page.screenshot(type="png")))
        height = round(photograph.height * SHOWN_WIDTH / photograph.width)
        frames.append(photograph.convert("RGB").resize((SHOWN_WIDTH, height), Image.Resampling.LANCZOS))
    return frames


if __name__ == "__main__":
    asyncio.run(main())
