"""A page of Markdown becomes HTML with anchors, contents and sections, and nothing that a policy forbids."""

from __future__ import annotations

import re

from moot.manual.markdown import Article, highlighted, render, slug


def rendered(text: str) -> Article:
    return render(text, lambda link: None if link.endswith(".toml") else link.replace(".md", ".html"))


def contents(article: Article) -> list[tuple[int, str, str]]:
    return [(section.level, section.anchor, section.heading_html) for section in article.contents]


def test_anchors_are_the_words_of_a_heading_and_number_themselves() -> None:
    known = set[str]()
    headings = ("Round 1", "`moot.toml`", "Über `--for`, and more", "Round 1", "Round 1", "轮次")
    assert [slug(heading.replace("`", ""), known) for heading in headings] == [
        "round-1", "moottoml", "uber-for-and-more", "round-1_1", "round-1_2", "section",
    ]  # fmt: skip


def test_headings_lead_to_themselves_and_make_the_contents() -> None:
    article = rendered("# Title\n\n## A `part`\n\n### Below\n\n#### Deep\n")
    assert article.title == "Title"
    assert '<h1 id="title">Title</h1>' in article.html
    assert '<h2 id="a-part"><a class="self" href="#a-part">A <code>part</code></a></h2>' in article.html
    assert contents(article) == [(2, "a-part", "A <code>part</code>"), (3, "below", "Below")]


def test_a_heading_with_a_link_has_no_link_around_it() -> None:
    article = rendered("# T\n\n## See [this](a.md)\n")
    assert '<h2 id="see-this">See <a href="a.html">this</a></h2>' in article.html
    assert contents(article) == [(2, "see-this", "See this")]


def test_of_a_link_to_a_file_that_is_no_page_the_text_remains() -> None:
    html = rendered("Read [the *file*](a.toml) and [the page](a.md#b).").html
    assert html == '<p>Read the <em>file</em> and <a href="a.html#b">the page</a>.</p>\n'


def test_no_page_has_markup_of_its_own() -> None:
    html = rendered("<script>f()</script>\n\n<b onclick=f()>x</b> `<i>` [x](javascript:f())").html
    assert re.findall(r"<[a-z]+", html) == ["<p", "<code"]
    assert "&lt;script&gt;" in html


def test_comments_are_not_shown() -> None:
    article = rendered("# T\n\n<!-- Written by a\nprogram. -->\n\nA <!-- b --> c `<!-- d -->`.")
    assert "Written" not in article.html + article.sections[0].text
    assert "<p>A  c <code>&lt;!-- d --&gt;</code>.</p>" in article.html


def test_tables_are_aligned_by_classes_and_scroll_by_themselves() -> None:
    html = rendered("| a | b |\n|---|--:|\n| 1 | 2 |\n").html
    assert '<div class="table" role="region"' in html
    assert '<td class="right">2</td>' in html
    assert "style=" not in html


def test_code_is_highlighted_where_its_language_is_known() -> None:
    assert '<span class="kn">import</span>' in highlighted("import os\n", "python")
    assert highlighted("a < b\n", "") == highlighted("a < b\n", "no-language") == "a &lt; b\n"


def test_sections_have_the_words_without_the_markup() -> None:
    article = rendered(
        "# T\n\nIntro **bold**.\n\n## S\n\n- a `b`\n\n```sh\nmoot x\n```\n\n| c | d |\n|--|--|\n"
    )
    assert [(section.anchor, section.heading, section.text) for section in article.sections] == [
        ("t", "T", "Intro bold."),
        ("s", "S", "a b\nmoot x\nc\nd"),
    ]
