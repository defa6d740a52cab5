"""The test kit: its examples pass as they are written, and its suites find what is wrong."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import moot.testing
from tests.testing.behaviour.test_outside import KIT, ROOT, run

BROKEN = """
from collections.abc import AsyncGenerator, AsyncIterator

import pytest
import pytest_asyncio

from moot import Chunk, MemoryStore, Provider, ReplyDelta, ReplyDone, Request, Store, Traits
from moot.core.setup_field import AtMost, SetupField
from moot.extension import (
    AsideAnswered,
    DebateReport,
    EventFamily,
    Extension,
    ExtensionEvent,
    Fact,
    PageModule,
    ReportSection,
    Sentences,
    SideQuestion,
    SideQuestions,
    TerminalCommand,
    object_schema,
    short_request,
)
from moot.testing import Answering, Clock, ExtensionContract, ProviderContract, Reply, StoreContract


class Hasty(Provider):
    traits = Traits()

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        yield ReplyDelta("All ")
        yield ReplyDone()


class TestHasty(ProviderContract):
    @pytest.fixture
    def answering(self) -> Answering:
        async def answering(reply: Reply) -> Provider | None:
            return None if reply.fails or reply.call else Hasty()

        return answering


class Forgetful(MemoryStore):
    async def read(self, debate_id: str, after: int = 0, limit: int = 1000):
        return (await super().read(debate_id, after, limit))[:3]


class TestForgetful(StoreContract):
    @pytest_asyncio.fixture
    async def store(self, clock: Clock) -> AsyncIterator[Store]:
        yield Forgetful(clock)


class Rung(ExtensionEvent, frozen=True, tag="gong.rung"):
    pass


def count(before: list[int], _event: Rung, _at: object) -> list[int]:
    before.append(1)
    return before


SHOWN = []


def seen(_debate: object, event: Rung, _viewer: object) -> Rung | None:
    SHOWN.append(event)
    return event if len(SHOWN) % 2 else None


ROW = SetupField(name="props", type=str, default="too long", limit=AtMost(3), sentence="What is allowed.")


class TestBell(ExtensionContract):
    @pytest.fixture
    def extension(self) -> Extension:
        return Extension(
            "bell",
            "A bell is rung.",
            commands=(TerminalCommand("ring", "Ring the bell.", ""),),
            events=lambda: EventFamily((Rung,), start=[], evolve=count, visible=seen),
            facts=lambda debate, viewer: [Fact("Rung", "")],
            page=(PageModule("bell.js", address="/bell"),),
            package="moot",
            settings=lambda: (ROW,),
            tables=lambda: 1 / 0,
        )

    @pytest.fixture
    def samples(self) -> tuple[ExtensionEvent, ...]:
        return (Rung(),)


class TestGong(TestBell):
    @pytest.fixture
    def extension(self) -> Extension:
        return Extension(
            "gong", events=lambda: EventFamily((Rung,), start=[], evolve=count, visible=seen)
        )


def how_loud(debate, aside, model, attempt):
    schema = object_schema({"loud": {"type": "string"}})
    return short_request(aside, model, "Answer.", "How loud?", schema, attempt)


DRUM = SideQuestions(
    kinds=("drum.beaten",),
    request=how_loud,
    read=lambda debate, aside, reply: AsideAnswered(aside.number, text=reply),
    before=lambda debate, coming: [SideQuestion("drum.beaten", slot.index, slot.seat) for slot in coming],
)


def answers(debate, viewer):
    return [ReportSection("Drum", (Sentences(tuple(aside.text for aside in debate.asides)),))]


class TestDrum(ExtensionContract):
    @pytest.fixture
    def extension(self) -> Extension:
        report = DebateReport("Drum", answers)
        return Extension("drum", "Drums.", side_questions=lambda: DRUM, report=lambda: report)


class TestOpenDrum(ExtensionContract):
    @pytest.fixture
    def extension(self) -> Extension:
        shown = DRUM._replace(visible=lambda debate, aside, viewer: True)
        report = DebateReport("Drum", answers)
        return Extension("drum", "Drums.", side_questions=lambda: shown, report=lambda: report)


class TestHorn(ExtensionContract):
    @pytest.fixture
    def extension(self) -> Extension:
        silent = DRUM._replace(request=lambda *_: 1 / 0)
        return Extension("horn", "Horns.", side_questions=lambda: silent)
"""
FOUND = (
    "TestHasty::test_a_reply_begins_once_and_ends_once",
    "TestHasty::test_nothing_of_a_reply_is_lost",
    "TestBell::test_all_that_is_lazy_loads",
    "TestBell::test_every_command_is_there_and_has_a_place_of_its_own",
    "TestBell::test_facts_are_told_of_every_debate",
    "TestBell::test_modules_of_the_page_are_there_and_can_be_read",
    "TestBell::test_settings_are_in_what_the_api_takes",
    "TestBell::test_settings_are_legal",
    "TestBell::test_tags_begin_with_the_name",
    "TestDrum::test_a_debate_is_held_and_shown_with_all_of_it_on",
    "TestHorn::test_a_debate_is_held_and_shown_with_all_of_it_on",
    "TestHorn::test_kinds_of_side_questions_begin_with_the_name",
    "TestGong::test_its_name_is_one_word_and_a_sentence_says_what_it_is",
    "TestGong::test_the_fold_is_pure",
    "TestGong::test_who_sees_an_event_does_not_depend_on_who_looked_before",
    "TestForgetful::test_seq_is_dense_from_one",
    "TestForgetful::test_the_state_is_the_fold_of_what_is_read",
)


def test_the_examples_of_the_page_pass_and_what_is_broken_is_found(tmp_path: Path) -> None:
    for number, program in enumerate(KIT):
        (tmp_path / f"test_example_{number}.py").write_text(program)
    (tmp_path / "test_broken.py").write_text(BROKEN)
    done = run("pytest", "-q", "-p", "no:cacheprovider", "--no-header", "--tb=short", folder=tmp_path)
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    assert {name for name in failed if not name.startswith("test_broken.py")} == set(), done.stdout
    assert set(FOUND) <= {name.removeprefix("test_broken.py::") for name in failed}
    assert not any("TestOpenDrum" in name for name in failed), done.stdout
    assert "AssertionError: plain" in done.stdout, "the values of a failed assertion are shown"
    assert "an observer is shown what `visible` of the side questions hides" in done.stdout
    assert "Set MOOT_EXTENSIONS=+module:ATTRIBUTE before Moot is imported first." in done.stdout
    assert not re.search(r"skipped|warning", done.stdout.splitlines()[-1])


def test_the_page_names_everything_that_is_in_the_kit() -> None:
    table = (ROOT / "docs/testing-kit.md").read_text("utf-8").partition("A suite is a class")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert sorted(re.findall(r"`(\w+)`", "".join(rows))) == sorted(moot.testing.__all__)
    unsaid = [name for name in moot.testing.__all__ if not getattr(moot.testing, name).__doc__]
    assert unsaid == ["Answering"]


def test_only_the_suites_need_pytest_and_they_say_so() -> None:
    script = """
import sys
sys.modules["pytest"] = None
import moot.testing
from moot.testing import MemoryStore, ScriptedProvider, serving
try:
    moot.testing.StoreContract
except moot.Unavailable as error:
    print(error, error.fix)
"""
    told = subprocess.check_output([sys.executable, "-c", script], text=True)
    assert told.startswith("pytest is not installed, which moot.testing.StoreContract needs.")
    assert "[testing]" in told
