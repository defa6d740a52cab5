"""What every extension must be good for, as a class of tests that an extension's own tests inherit.

    class TestMine(ExtensionContract):
        @pytest.fixture
        def extension(self) -> Extension:
            return EXTENSION

        @pytest.fixture
        def samples(self) -> tuple[ExtensionEvent, ...]:
            return (Given("Zoe"),)

`samples` are events of the extension in an order in which they may occur, each kind at least once; an
extension without events leaves the fixture out. They are put into the log of a debate. Another debate is
held with a scripted model and all switches of the extension on, so that its side questions are asked. Moot
itself leaves out an extension that fails, so that a debate goes on; here that is the failure of a test.

Settings are read when Moot makes the shapes of its API. For an extension with settings that is not an
installed package, `MOOT_EXTENSIONS=+module:ATTRIBUTE` is set before Moot is imported: by
`MOOT_EXTENSIONS=+mine:EXTENSION pytest`, or at the top of `conftest.py`.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from copy import deepcopy
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import msgspec
import pytest
from msgspec.structs import replace

from moot import formats
from moot.api.frames import Dialect, as_message
from moot.api.page_view.sections import view
from moot.cli.command_line import COMMANDS, terminal_commands
from moot.client import DebateConfig
from moot.core.events import AsideAnswered, AsideFailed, Recorded, decode_event, encode
from moot.core.evolve import evolve
from moot.core.extension_events import ExtensionEvent, KeptEvent
from moot.core.setup_table import setup_fields
from moot.core.state import Debate
from moot.core.visibility import OBSERVER, OWNER, Viewer, seen_event, visible_event, visible_state
from moot.engine.arena import Arena
from moot.extension import EventFamily, Extension, Fact, Loaded, using
from moot.providers.scripted import ScriptedProvider
from moot.rules.debate_setup import field_problem
from moot.settings import Settings
from moot.store.contract import Store
from moot.store.memory import MemoryStore
from moot.store.sqlite.store import SqliteStore
from moot.testing.served import QUICK, serving
from moot.views.exports import documents, render
from moot.web.sample_debate import sample_log

LAZY = tuple(name for name, kind in Extension.__annotations__.items() if "Lazy[" in str(kind))
"""The fields that are functions without arguments, asked when they are needed first."""
VIEWERS = (OWNER, OBSERVER, Viewer("moderator"), Viewer("participant", seat="for"))
OPENING = 2
"""Events of the sample debate before the samples."""
MADE_WITHOUT = (
    "{name}: the shapes of the API were made without this setting. Set MOOT_EXTENSIONS=+module:ATTRIBUTE "
    "before Moot is imported first."
)
HIDDEN = "Nobody else may read this."


def log_with(samples: Sequence[ExtensionEvent]) -> list[Recorded]:
    """The log of a whole debate, with these events soon after its beginning."""
    log = list(sample_log())
    own = [Recorded(log[0].debate, 0, log[OPENING].at, log[OPENING].epoch, event) for event in samples]
    mixed = [*log[:OPENING], *own, *log[OPENING:]]
    return [Recorded(one.debate, seq, one.at, one.epoch, one.event) for seq, one in enumerate(mixed, 1)]


Step = tuple[Recorded, Debate | None, Debate]


def steps(records: Sequence[Recorded]) -> Iterator[Step]:
    """Each event with the debate before and after it."""
    debate: Debate | None = None
    for recorded in records:
        before, debate = debate, evolve(debate, recorded)
        yield recorded, before, debate


class ExtensionContract:
    """What every extension must be good for. A subclass gives the fixture `extension`, and `samples` where
    the extension has events."""

    @pytest.fixture
    def samples(self) -> tuple[ExtensionEvent, ...]:
        return ()

    @pytest.fixture
    def stored_kinds(self) -> frozenset[str]:
        """Kinds of side questions that do not begin with the name of the extension, because logs have them
        from before it."""
        return frozenset()

    @pytest.fixture
    def found(self, extension: Extension) -> Iterator[Loaded]:
        """Only this extension, while a test lasts; nothing of it may have failed at its end."""
        with using(extension) as found:
            yield found
            assert found.failures == {}

    @pytest.fixture
    def family(self, found: Loaded, extension: Extension) -> EventFamily:
        return found.family(extension.name) or EventFamily(())

    # --- what it brings -------------------------------------------------------------------------------

    def test_its_name_is_one_word_and_a_sentence_says_what_it_is(self, extension: Extension) -> None:
        assert re.fullmatch(r"[a-z][a-z0-9_]*", extension.name), extension.name
        assert extension.summary.endswith("."), "`moot extensions` prints the summary as a sentence"

    def test_all_that_is_lazy_loads(self, extension: Extension, found: Loaded) -> None:
        for name in LAZY:
            given = [value for _, value in found.of(lambda each, name=name: getattr(each, name))]
            assert len(given) == (getattr(extension, name) is not None), f"{name}: {found.failures}"

    def test_every_command_is_there_and_has_a_place_of_its_own(
        self, extension: Extension, found: Loaded
    ) -> None:
        taken = {name for _, name, _, _ in COMMANDS}
        rows = [row for _, brought in found.of(lambda each: each.debate_commands) for row in brought]
        given = {word for row in rows for word in (row.name, row.path) if row.buttons}
        listed = [row.name for row in terminal_commands()]
        for row in extension.commands:
            assert row.summary, row.name
            assert row.parent in taken if row.parent else row.name not in taken, row.name
            assert (row.parent or row.name) in listed, row.name
            if not row.run:
                assert row.name in given, f"{row.name}: there is no command of a debate with this button"
            elif isinstance(row.run, str):
                module, _, function = row.run.partition(":")
                assert callable(getattr(import_module(module), function)), row.run

    def test_formats_can_be_read(self, found: Loaded) -> None:
        for _, brought in found.of(lambda each: each.formats):
            for name, text in brought.items():
                assert formats.parse(text, name).name == name

    def test_settings_are_legal(self, extension: Extension, found: Loaded) -> None:
        rows = [row for _, brought in found.of(lambda each: each.settings) for row in brought]
        names = [row.name for row in setup_fields()]
        assert found.failures == {}
        for row in rows:
            assert names.count(row.name) == 1, row.name
            assert row.name.isidentifier(), row.name
            assert row.sentence.endswith("."), f"{row.name}: a sentence says to people what it is"
            default = msgspec.convert(msgspec.to_builtins(row.default), type=row.type)
            assert default == row.default, f"{row.name}: the default is not of its type"
            assert default is None or field_problem(row, default) == "", row.name

    def test_settings_are_in_what_the_api_takes(self, found: Loaded) -> None:
        for _, rows in found.of(lambda each: each.settings):
            for row in rows:
                made_with_it = row.keyword in DebateConfig.__struct_fields__
                assert made_with_it or not row.request, MADE_WITHOUT.format(name=row.name)

    def test_kinds_of_side_questions_begin_with_the_name(
        self, extension: Extension, found: Loaded, stored_kinds: frozenset[str]
    ) -> None:
        for _, questions in found.of(lambda each: each.side_questions):
            assert len(set(questions.kinds)) == len(questions.kinds)
            for kind in set(questions.kinds) - stored_kinds:
                assert kind.startswith(f"{extension.name}."), kind

    def test_modules_of_the_page_are_there_and_can_be_read(
        self, extension: Extension, tmp_path: Path
    ) -> None:
        assert bool(extension.package) >= bool(extension.page), "`package` says where the folder `page/` is"
        node = shutil.which("node")
        for each in extension.page:
            text = files(extension.package).joinpath("page", each.module).read_text("utf-8")
            exported = re.search(r"^export\b.*\bdefault\b", text, re.MULTILINE)
            assert exported, f"{each.module}: its default export is the component"
            assert each.address or each.place not in ("page", "nav"), each.module
            if node:
                (tmp_path / "module.mjs").write_text(text, "utf-8")
                checked = [node, "--check", "module.mjs"]
                done = subprocess.run(checked, cwd=tmp_path, capture_output=True, text=True, check=False)
                assert done.returncode == 0, f"{each.module}: {done.stderr}"

    def test_pages_of_the_manual_are_written(self, extension: Extension) -> None:
        for path, write in extension.manual.items():
            assert write().startswith("# "), f"{path} begins with its title"

    # --- events -----------------------------------------------------------------------------------------

    def test_tags_begin_with_the_name(
        self, extension: Extension, family: EventFamily, samples: tuple[ExtensionEvent, ...]
    ) -> None:
        tags = [str(event.__struct_config__.tag) for event in family.events]
        assert len(set(tags)) == len(tags)
        assert [tag for tag in tags if tag.partition(".")[0] != extension.name] == []
        assert {type(one) for one in samples} == set(family.events), "the samples have each kind of event"

    def test_events_survive_being_stored(
        self, family: EventFamily, samples: tuple[ExtensionEvent, ...]
    ) -> None:
        for event in samples:
            assert decode_event(encode(event)) == event
            assert type(event) in family.events

    @pytest.mark.usefixtures("found")
    def test_events_are_kept_as_they_are_where_the_extension_is_left_out(
        self, samples: tuple[ExtensionEvent, ...]
    ) -> None:
        written = [encode(event) for event in samples]
        with using():
            kept = [decode_event(event) for event in written]
            assert all(isinstance(event, KeptEvent) for event in kept)
            assert [encode(event) for event in kept] == written
            told = [debate.status for _, _, debate in steps(log_with(kept))]  # type: ignore[arg-type]
        assert [debate.status for _, _, debate in steps(log_with(samples))] == told
        assert [decode_event(event) for event in written] == list(samples)

    def test_the_fold_is_pure(self, family: EventFamily, samples: tuple[ExtensionEvent, ...]) -> None:
        times = [recorded.at for recorded in log_with(samples)[OPENING:]]
        states, copies = [family.start], [deepcopy(family.start)]
        for event, at in zip(samples, times, strict=False):
            once, again = (family.evolve(states[-1], event, at) for _ in range(2))
            assert once == again, f"{event}: the same event gives another state"
            assert states == copies, f"{event}: the state before it was changed"
            states.append(once)
            copies.append(deepcopy(once))

    def test_who_sees_an_event_does_not_depend_on_who_looked_before(
        self, found: Loaded, family: EventFamily, samples: tuple[ExtensionEvent, ...]
    ) -> None:
        for recorded, _, debate in steps(log_with(samples)):
            if not isinstance(recorded.event, ExtensionEvent):
                continue
            for viewer in VIEWERS:
                once, again = (visible_event(debate, recorded, viewer) for _ in range(2))
                assert once == again
                if once is not None:
                    assert type(once.event) is type(recorded.event), f"{viewer.role} is told another event"
                if family.visible is None:
                    assert (once is not None) == (viewer.role == "owner")

    # --- what people and programs are shown -------------------------------------------------------------

    def test_facts_are_told_of_every_debate(
        self, extension: Extension, found: Loaded, samples: tuple[ExtensionEvent, ...]
    ) -> None:
        for _, _, debate in steps(log_with(samples)):
            for viewer in VIEWERS if extension.facts else ():
                once, again = ([*extension.facts(debate, viewer)] for _ in range(2))  # type: ignore[misc]
                assert once == again
                assert all(isinstance(one, Fact) and one.label and one.text for one in once)

    def test_every_debate_is_shown_and_exported(
        self, found: Loaded, samples: tuple[ExtensionEvent, ...]
    ) -> None:
        debates = [debate for _, _, debate in steps(log_with(samples))]
        own = {name for _, brought in found.of(lambda each: each.exports) for name in brought}
        for viewer in (OWNER, OBSERVER):
            for name in own & {*documents()}:
                assert all(isinstance(render(name, debate, viewer), bytes) for debate in debates), name
            assert view(debates[-1], viewer)

    @pytest.mark.asyncio
    async def test_a_debate_is_held_and_shown_with_all_of_it_on(self, found: Loaded, tmp_path: Path) -> None:
        records = await _held(found, tmp_path)
        assert found.failures == {}, "it fails while a debate is held"
        asked = {kind for _, each in found.of(lambda each: each.side_questions) for kind in each.kinds}
        for _, _, debate in _answers_and_ending(records):
            hidden = _with_other_hidden_answers(debate, asked)
            assert _shown(debate, OWNER)
            assert _shown(debate, OBSERVER) == _shown(hidden, OBSERVER), (
                "an observer is shown what `visible` of the side questions hides"
            )
            assert found.failures == {}, "it fails at what is shown of a debate"

    def test_a_stream_tells_the_same_wherever_it_begins(
        self, found: Loaded, samples: tuple[ExtensionEvent, ...]
    ) -> None:
        dialects = [each for _, brought in found.of(lambda each: each.dialects) for each in brought.values()]
        assert len({dialect.name for dialect in dialects}) == len(dialects)
        seen = [*steps(log_with(samples))]
        for dialect in dialects:
            for viewer in VIEWERS:
                whole = [_told(dialect, step, viewer) for step in seen]
                backwards = [_told(dialect, step, viewer) for step in reversed(seen)]
                assert whole == backwards[::-1], (
                    f"{dialect.name}: what is told depends on what was told before"
                )

    @pytest.mark.asyncio
    async def test_a_server_serves_it(self, found: Loaded, tmp_path: Path) -> None:
        http = [added for _, added in found.of(lambda each: each.http)]
        routes: list[Any] = [
            (each.prefix, route) for each in http for one in each.routers for route in one.routes
        ]
        rows = [row for _, brought in found.of(lambda each: each.debate_commands) for row in brought]
        async with serving(tmp_path) as served:
            described = (await asyncio.to_thread(_description, served.url))["paths"].keys()
        assert {f"{prefix}{route.path_format}" for prefix, route in routes} <= described
        assert {f"/api/v1/debates/{{debateId}}/{row.path}" for row in rows} <= described

    # --- its tables, and what runs ----------------------------------------------------------------------

    @pytest.mark.asyncio
    async def test_its_tables_are_made_in_a_new_store_and_in_an_old_one(
        self, extension: Extension, found: Loaded, tmp_path: Path
    ) -> None:
        for _, tables in found.of(lambda each: each.tables):
            assert tables.name == extension.name
            numbers = [sorted(tables.scripts(database)) for database in ("sqlite", "postgres")]
            assert numbers[0] == numbers[1] == list(range(1, len(numbers[0]) + 1))
            assert MemoryStore().tables(tables) is not None
            with using():
                await SqliteStore.open(tmp_path / "old.db").close()
            for name in ("new", "old", "old"):
                store = SqliteStore.open(tmp_path / f"{name}.db")
                assert store.tables(tables) is not None
                await store.close()

    @pytest.mark.asyncio
    async def test_what_runs_beside_a_server_starts_and_ends(self, found: Loaded, tmp_path: Path) -> None:
        async with serving(tmp_path) as served:
            for _, services in found.of(lambda each: each.services):
                for service in services:
                    async with service(served.arena):
                        pass

    def test_bookings_are_kept_for_any_store(self, found: Loaded) -> None:
        store: Store = MemoryStore()
        for _, make in found.of(lambda each: each.bookings):
            bookings = make(store)
            assert all(map(callable, (bookings.reserve, bookings.settle, bookings.settle_deleted)))


async def _held(found: Loaded, data: Path) -> list[Recorded]:
    """The log of a debate with every switch of the extension on."""
    rows = [row for _, brought in found.of(lambda each: each.settings) for row in brought]
    switches = {row.name: True for row in rows if row.kind is bool}
    settings = Settings(data=data, pace=QUICK, scripted=True)
    providers = {"scripted": ScriptedProvider()}
    async with Arena.open(settings, store=MemoryStore(), providers=providers) as arena:
        debate = arena.debate(
            "Cats are better than dogs", format="oxford", rounds=2, model="scripted/demo", **switches
        )
        return [recorded async for recorded in debate]


def _answers_and_ending(records: Sequence[Recorded]) -> Iterator[Step]:
    """The steps at which a side question is answered or given up, and the last one."""
    for recorded, before, debate in steps(records):
        if isinstance(recorded.event, AsideAnswered | AsideFailed) or recorded is records[-1]:
            yield recorded, before, debate


def _with_other_hidden_answers(debate: Debate, kinds: set[str]) -> Debate:
    """The debate as if other answers had been given to those questions that an observer may not read."""
    seen = visible_state(debate, OBSERVER).asides
    asides = [
        replace(aside, text=HIDDEN, chances={}) if aside.kind in kinds and shown != aside else aside
        for aside, shown in zip(debate.asides, seen, strict=True)
    ]
    return replace(debate, asides=tuple(asides))


def _shown(debate: Debate, viewer: Viewer) -> list[bytes]:
    """The page and all documents."""
    page = msgspec.json.encode(view(debate, viewer))
    return [page, *(render(name, debate, viewer) for name in documents())]


def _told(dialect: Dialect, step: Step, viewer: Viewer) -> tuple[list[bytes], bool, bool]:
    """The frames of an event as they are sent, and whether the stream ends or rests after it."""
    recorded, before, debate = step
    seen = seen_event(recorded, before, debate, viewer)
    return [as_message(frame) for frame in dialect.frames(seen)], dialect.ends(seen), dialect.rests(debate)


def _description(url: str) -> Any:
    with urlopen(f"{url}/openapi.json") as reply:  # noqa: S310 - our own address
        return json.load(reply)
