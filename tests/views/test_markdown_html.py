"""Markdown of speeches in exported pages: formatted, and harmless whatever a speech contains."""

from __future__ import annotations

import pytest

from moot.views.markdown_html import markdown_html


def test_emphasis_lists_and_lines_are_formatted() -> None:
    assert markdown_html("**Six** hundred\nor *more*") == (
        "<p><strong>Six</strong> hundred<br />\nor <em>more</em></p>"
    )
    assert "<li>one</li>" in markdown_html("- one\n- two")
    assert markdown_html("# Loud") == "<p><strong>Loud</strong></p>"


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[go](https://elsewhere.example)",
        "[go](javascript:alert(1))",
        "![picture](https://elsewhere.example/x.png)",
        "<https://elsewhere.example>",
        "[a]: https://elsewhere.example\n\n[a]",
        "`<b onclick=x>`",
    ],
)
def test_nothing_of_a_speech_links_loads_or_runs(text: str) -> None:
    html = markdown_html(text)
    assert not any(tag in html for tag in ("<a", "<img", "<script", "<b ", "href=", 'src="'))
