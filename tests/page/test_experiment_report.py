"""The report of an experiment in a browser: it fits a phone, a desktop and an A4 page, whatever is in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.async_api import Browser

from moot.extensions.experiments.measuring.report import ExperimentReport
from moot.extensions.experiments.measuring.report_document import report_document
from moot.extensions.experiments.measuring.report_html import report_html
from tests.extensions.experiments.hard_reports import empty_report, large_report, question_report

pytestmark = pytest.mark.asyncio(loop_scope="session")

PRINTED_WIDTH = 680
"""Of an A4 page between its margins, in pixels."""
A4 = re.compile(rb"/MediaBox \[0 0 59[45][.\d]* 84[12][.\d]*\]")
TOO_WIDE = """() => {
  const wide = document.documentElement.clientWidth
  const out = [...document.querySelectorAll('table, figure, p, li, h1')].filter((one) =>
    !one.closest('.hidden') && one.getBoundingClientRect().right > wide + 1 && !one.closest('.scroll'))
  const scrolled = [...document.querySelectorAll('table')].filter((one) =>
    one.scrollWidth > one.parentElement.clientWidth + 1)
  return [document.documentElement.scrollWidth - wide, out.length, scrolled.map((one) => one.id)]
}"""


@pytest.mark.parametrize("make", [large_report, question_report, empty_report])
async def test_a_report_fits_a_phone_a_desktop_and_a_page(
    make: Callable[[], ExperimentReport], chromium: Browser, tmp_path: Path
) -> None:
    document = report_document(make())
    path = tmp_path / "report.html"
    path.write_text(report_html(document, "https://moot.example"), "utf-8")
    async with await chromium.new_page() as page:
        asked = list[str]()
        page.on("request", lambda request: asked.append(request.url))
        await page.goto(path.as_uri())
        for width in (360, 960):
            await page.set_viewport_size({"width": width, "height": 800})
            assert await page.evaluate(TOO_WIDE) == [0, 0, []], width
        await page.set_viewport_size({"width": PRINTED_WIDTH, "height": 960})
        await page.emulate_media(media="print", color_scheme="dark")
        assert await page.evaluate(TOO_WIDE) == [0, 0, []]
        assert await page.evaluate("getComputedStyle(document.body).color") == "rgb(29, 27, 23)"
        printed = await page.pdf(prefer_css_page_size=True, tagged=True)
        assert printed.count(b"/S /Table") == len(document.tables)
        pages = printed.count(b"/Type /Page\n")
        assert len(A4.findall(printed)) >= pages > 0
        assert asked == [path.as_uri()]
