"""One table of export formats: what REST, terminal and page offer is what it says."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path

import pytest

from moot.core.errors import Invalid
from moot.core.events import DebateEnded
from moot.core.state import Debate
from moot.core.visibility import OWNER
from moot.views.exports import EXPORTS, documents, format_of_file, list_suffixes, render
from tests.views.logs import Log, held


def test_every_document_is_made_of_a_transcript_and_only_the_replay_is_not():
    debate = held().debate
    assert all(render(name, debate, OWNER) for name in documents())
    assert {name for name, export in EXPORTS.items() if export.renderer is None} == {"replay"}


def test_the_ending_of_a_file_says_which_format_it_is():
    for name in documents():
        assert {format_of_file(Path(f"debate{end.upper()}")) for end in EXPORTS[name].suffixes} == {name}
    with pytest.raises(Invalid, match=r"\.md, \.html or \.json"):
        format_of_file(Path("debate.txt"))


def test_the_help_of_the_terminal_lists_the_suffixes_of_the_table():
    sentence = f"Write it to a {list_suffixes()} file."
    for name in ("options.py", "debate_options.py"):
        assert sentence in files("moot.cli").joinpath(name).read_text("utf-8"), name


def test_the_page_offers_every_format():
    script = files("moot.web").joinpath("static/parts/export_menu.js").read_text("utf-8")
    forms = script.partition("const FORMS = [")[2].partition("];")[0]
    assert set(re.findall(r"\['(\w+)'", forms)) == set(EXPORTS)


def read(name: str, debate: Debate) -> str:
    return render(name, debate, OWNER).decode()


def test_every_document_says_why_the_speeches_ended_early_before_the_verdict_and_among_the_issues():
    log = Log().start().say("for", "Yes.").say("against", "No.")
    debate = log.add(DebateEnded("stopped")).debate
    sentence = "Stopped by request after speech 2 of 6."
    markdown, html = read("markdown", debate), read("html", debate)
    assert markdown.index("No.") < markdown.index(f"*{sentence}*") < markdown.index("## Result")
    assert f"## Issues\n\n- {sentence}\n" in markdown
    assert html.index("No.") < html.index(f">{sentence}</p>") < html.index("<h2>Verdict</h2>")
    assert f">{sentence}</li>" in html
    assert json.loads(read("json", debate))["debate"]["earlyEnd"] == sentence


def test_no_document_says_so_of_a_debate_that_ran_to_its_end():
    debate = held().debate
    assert "## Issues" not in read("markdown", debate)
    assert 'class="early-end"' not in read("html", debate)
    assert "earlyEnd" not in json.loads(read("json", debate))["debate"]
