"""The one seam between the core and its extensions: what an extension may bring, and which ones are loaded.

An extension is a value of `Extension`, in which every field has a default. Ours are in `moot/extensions/`;
others are found by the entry point group `moot.extensions`, or named in `MOOT_EXTENSIONS=+module:attribute`.
What is heavy to import is given as a function without arguments and asked for when it is needed first, so
that `moot --help` loads none of it. An extension that fails is left out with all that it brings, and
`moot extensions` says why. See docs/extending.md.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager
    from datetime import datetime
    from importlib.metadata import EntryPoint

    from fastapi import APIRouter
    from msgspec import Struct

    from moot.api.command_table import Button, CommandContext, DebateCommand
    from moot.api.frames import Dialect
    from moot.api.rights import Right
    from moot.api.v1.command_replies import action_reply
    from moot.api.v1.fields import Capabilities
    from moot.core.events import AsideAnswered
    from moot.core.extension_events import ExtensionEvent, state_of
    from moot.core.setup_field import AtMost, Between, FormField, MoreThan, Option, SetupField
    from moot.core.state import Aside, Debate
    from moot.core.terms import Model, Request, Slot
    from moot.core.visibility import Viewer
    from moot.engine.arena import Arena
    from moot.engine.bookings import Bookings
    from moot.manual.pages import WritePage
    from moot.prompts.fences import fence_for
    from moot.prompts.model_replies import UnreadableReply, object_schema, read_json_reply
    from moot.prompts.side_question_prompts import short_request
    from moot.providers.contract import Provider
    from moot.rules.commands import Command
    from moot.rules.side_questions import SideQuestion
    from moot.store.contract import Store
    from moot.store.extension_tables import MemoryAccess, SqlAccess, Tables
    from moot.views.exports import ExportFormat
    from moot.views.report_blocks import (
        Bullet,
        Bullets,
        Note,
        ReportSection,
        ReportTable,
        Sentences,
    )

__all__ = [
    "Aside",
    "AsideAnswered",
    "AtMost",
    "Between",
    "Bullet",
    "Bullets",
    "Button",
    "Command",
    "CommandContext",
    "DebateCommand",
    "DebateReport",
    "EventFamily",
    "ExportFormat",
    "Extension",
    "ExtensionEvent",
    "Fact",
    "FormField",
    "HttpRoutes",
    "Loaded",
    "MemoryAccess",
    "MoreThan",
    "Note",
    "Option",
    "PageModule",
    "ReportSection",
    "ReportTable",
    "Reported",
    "Right",
    "Sentences",
    "SetupField",
    "SideQuestion",
    "SideQuestions",
    "SqlAccess",
    "Tables",
    "TerminalCommand",
    "UnreadableReply",
    "Variable",
    "action_reply",
    "fence_for",
    "load",
    "loaded",
    "object_schema",
    "read_json_reply",
    "short_request",
    "state_of",
    "using",
]

T = TypeVar("T")
Lazy = Callable[[], T]
"""Asked for when it is needed first."""
VARIABLE, GROUP, OURS = "MOOT_EXTENSIONS", "moot.extensions", "moot.extensions"
PagePlace = Literal["page", "nav", "live", "verdict", "report", "form", "debates"]


class TerminalCommand(NamedTuple):
    """A command of `moot`, listed in its help without being imported."""

    name: str
    summary: str
    run: str | Callable[..., Any]
    """`module:function`, or `module:app` for a command with commands of its own; or a function. Empty: the
    command of this name or path among `debate_commands`, which needs nothing but the debate."""
    group: str = "Look"
    after: str = ""
    """The command after which the help lists it; empty: at the end of its group."""
    examples: tuple[str, ...] = ()
    """Command lines for its help."""
    parent: str = ""
    """The command that it is a command of: `export` for `moot export NAME`."""


class HttpRoutes(NamedTuple):
    """Routes, and what the description of the API has to know of them. Each route names the right that it
    needs by `documented` of `web/route_docs.py`."""

    routers: tuple[APIRouter, ...]
    prefix: str = "/api/v1"
    examples: Mapping[str, Callable[[str], Any]] = {}
    """Bodies as they can be sent, by the name of their class; each is made with a model that needs no key."""
    plain_text: frozenset[str] = frozenset()
    """Paths that accept JSON as `text/plain`."""
    coded_errors: frozenset[str] = frozenset()
    """Paths whose problems also have `message`, `code` and `retryable`."""
    streams: tuple[str, ...] = ()
    """Paths of streams that take a ticket instead of a token: `/api/debates/{debateId}/stream`. Their one
    parameter is the debate."""
    tags: Mapping[str, str] = {}
    """Sections of the description of the API, each with a sentence; they stand before that of the server."""
    rows: tuple[type[Struct], ...] = ()
    """Objects in replies that are passed on as they came: they may have members that are not described."""
    sample_replies: Callable[[Debate], Iterable[Struct]] | None = None
    """Replies about the sample debate at its end: the examples of their classes."""
    complete_schemas: Callable[[dict[str, dict[str, Any]], Capabilities], None] | None = None
    """Adds to the schemas of bodies, by name, what only this server knows: its providers, for example."""


class Fact(NamedTuple):
    """A figure of a debate in words: `Fact("Applause", "12 times")`. It is shown on the live page, in exports
    and in the terminal."""

    label: str
    text: str


class EventFamily(NamedTuple):
    """The events of an extension, and the state that they make: `Debate.extensions[name]`.

    Their tags begin with the name of the extension: `applause.given`. Nobody but the owner of a debate sees
    them where `visible` does not say otherwise.
    """

    events: tuple[type[ExtensionEvent], ...]
    start: Any = None
    """The state before the first event: an immutable value."""
    evolve: Callable[[Any, Any, datetime], Any] = lambda state, _event, _at: state
    """(state, event, time) -> state. Pure."""
    visible: Callable[[Debate, Any, Viewer], Any] | None = None
    """(debate, event, viewer) -> the event as this viewer may see it, or None. Pure."""
    upcast: Callable[[str, dict[str, Any]], Any] | None = None
    """(tag, members) -> the event of today, for an event of an older version that `events` cannot read."""


class SideQuestions(NamedTuple):
    """Questions beside the speeches: to a seat, to a judge, or to others for whom a model answers.

    The functions are pure. `before`, `after` and `at_end` say which questions belong to that moment of the
    debate; each is asked once, and once more where its answer was lost because the process stopped. The call
    is booked, tried again and recorded as any other, and its answer is in `Debate.asides`.
    """

    kinds: tuple[str, ...]
    """What these questions are: `flow.claims`. Each kind begins with the name of the extension."""
    request: Callable[[Debate, Aside, Model, int], Request]
    """(debate, question, model, attempt) -> what is sent."""
    read: Callable[[Debate, Aside, str], AsideAnswered]
    """(debate, question, reply) -> the answer. Raises UnreadableReply, and then there is no answer."""
    before: Callable[[Debate, tuple[Slot, ...]], Iterable[SideQuestion]] | None = None
    """(debate, slots) -> the questions before the speeches of these slots, which come next."""
    after: Callable[[Debate], Iterable[SideQuestion]] | None = None
    """The questions after the latest speeches."""
    at_end: Callable[[Debate], Iterable[SideQuestion]] | None = None
    """The questions when no speech is left, before the verdict."""
    model: Callable[[Debate, Aside], Model | None] | None = None
    """The model that answers; None: that of the seat or of the judge who is asked."""
    visible: Callable[[Debate, Aside, Viewer], bool] | None = None
    """Whether this viewer may read question and answer. Who conducts the debate always may; nobody else may
    unless this says so."""
    doing: Callable[[Debate, Aside], str] | None = None
    """What the terminal says while an answer is awaited: `a clerk lists the arguments`."""
    words: int = 40
    """Of a usual answer, for the estimate of costs."""


class DebateReport(NamedTuple):
    """What an extension tells of a debate: sections on the page, in exports and in the terminal. All of them
    are written from the same blocks (`moot.views.report_blocks`). The functions are pure."""

    title: str
    sections: Callable[[Debate, Viewer], Iterable[ReportSection]]
    """Nothing where there is nothing to tell, or this viewer may not know."""
    reads: tuple[str, ...] = ()
    """The attributes of `Debate` of which it is made: where one changes, an open page is told. Empty: all."""
    members: Callable[[Debate, Viewer], Any] | None = None
    """What programs read in place of the blocks, under the name of the extension in the JSON export: a value
    of `shape`, or None."""
    shape: Any = None
    """A msgspec struct."""
    page: Callable[[Debate, Viewer], dict[str, Any]] | None = None
    """What a module of its own on the page reads in place of the blocks, as `debate.at(name)`."""
    description: str = ""
    """What it is, in the description of the API."""
    page_description: str = ""


class Reported(NamedTuple):
    """The report of one extension, as one viewer may read it."""

    name: str
    title: str
    sections: tuple[ReportSection, ...]
    members: Any
    """Of the JSON export; None: it has nothing there."""


class PageModule(NamedTuple):
    """A JavaScript module of the page, in the folder `page/` beside the extension's own module."""

    module: str
    """Its path in that folder: `experiments.js`."""
    place: PagePlace = "page"
    """`page`: it draws a page of its own; `nav`: the same, with an entry in the navigation; `live`,
    `verdict`: a part of that page, drawn with the debate; `report`: a part of the verdict wherever it is
    shown, drawn once below it and once with `beside` in the column at its side; `form`: a button below the
    form of a debate; `debates`: a link above the list of debates."""
    address: str = ""
    """The address of a page: `/experiments/{name}`."""
    title: str = ""


class Variable(NamedTuple):
    """A setting in the environment: a number. `settings.service.value(VARIABLE)` is its value."""

    name: str
    """It begins with `MOOT_`."""
    default: float | None = None
    kind: Literal["number", "positive", "limit"] = "number"
    """`positive`: more than 0; `limit`: a whole number, and None where it is 0."""


class Extension(NamedTuple):
    """What an extension brings. `name` begins the tags of its events and names it everywhere else."""

    name: str
    summary: str = ""
    """One sentence for people."""
    commands: tuple[TerminalCommand, ...] = ()
    http: Lazy[HttpRoutes] | None = None
    dialects: Lazy[Mapping[str, Dialect]] | None = None
    """Streams of frames for other clients, by name; the test kit checks their laws."""
    events: Lazy[EventFamily] | None = None
    side_questions: Lazy[SideQuestions] | None = None
    rights: Lazy[tuple[Right, ...]] | None = None
    """Rights that only its own routes need."""
    debate_commands: Lazy[tuple[DebateCommand, ...]] | None = None
    """What people may do in a debate: routes, WebSocket messages, buttons and terminal commands."""
    facts: Callable[[Debate, Viewer], Iterable[Fact]] | None = None
    """Figures of a debate. Pure."""
    report: Lazy[DebateReport] | None = None
    """Sections of what is told of a debate, on the page, in exports and in the terminal."""
    exports: Lazy[Mapping[str, ExportFormat]] | None = None
    page: tuple[PageModule, ...] = ()
    package: str = ""
    """The package in whose folder `page/` its modules and stylesheets are."""
    services: Lazy[tuple[Callable[[Arena], AbstractAsyncContextManager[None]], ...]] | None = None
    """What runs beside `moot serve` and `moot work`, from their start to their end."""
    tables: Lazy[Tables[Any]] | None = None
    """Tables in the store, with migrations of their own: `store.tables(TABLES)`."""
    bookings: Lazy[Callable[[Store], Bookings]] | None = None
    """Who keeps the budget of debates that belong to something larger; at most one extension."""
    settings: Lazy[tuple[SetupField, ...]] | None = None
    """Settings of a debate, a row each: request, reply, form, terminal, MCP and experiments read them."""
    variables: tuple[Variable, ...] = ()
    """Settings in the environment; `moot doctor` knows their names."""
    settings_table: str = ""
    """The table of moot.toml that is its own; `Settings.extensions` has it as it was written."""
    providers: Lazy[Mapping[str, Callable[[], Provider]]] | None = None
    """Each by its name, made when a debate uses it first."""
    formats: Lazy[Mapping[str, str]] | None = None
    """Debate formats as TOML, by name."""
    manual: Mapping[str, WritePage] = {}
    """Pages of the manual by their paths in `docs/`, by which other pages link to them."""


class Loaded:
    """The extensions of this process. Whatever is read through `of` that fails is left out from then on."""

    def __init__(self, extensions: Iterable[Extension], sources: Mapping[str, str] | None = None) -> None:
        self._extensions = {extension.name: extension for extension in extensions}
        self.sources = dict(sources or {})
        """Where each comes from: `moot` for ours, or the package of another."""
        self.failures: dict[str, str] = {}
        """Why an extension was left out, by its name."""
        self.failed_fields: dict[str, str] = {}
        """The field of `Extension` that failed, by its name; one that could not be imported has none."""
        self.left_out: tuple[str, ...] = ()
        """Those of ours that `MOOT_EXTENSIONS` leaves out."""
        self._values: dict[tuple[str, int], Any] = {}
        self._families: dict[str, EventFamily | None] = {}
        self._askers: dict[str, tuple[Extension, SideQuestions]] | None = None

    def __iter__(self) -> Iterator[Extension]:
        return iter([one for one in self._extensions.values() if one.name not in self.failures])

    def of(self, field: Callable[[Extension], Lazy[T] | None]) -> Iterator[tuple[Extension, T]]:
        """What each extension brings of one kind: `loaded().of(lambda extension: extension.http)`."""
        for extension in self:
            if (make := field(extension)) is None:
                continue
            try:
                key = extension.name, id(make)
                if key not in self._values:
                    self._values[key] = make()
            except Exception as error:
                failed = next((one for one in Extension._fields if getattr(extension, one) is make), "")
                self.leave_out(extension.name, failed, error)
                continue
            yield extension, self._values[key]

    def leave_out(self, name: str, field: str, error: Exception) -> None:
        """From now on do without this extension, log the error, and remember why; `field` is the field of
        `Extension` that failed."""
        if name in self.failures:
            return
        self.failures[name], self.failed_fields[name] = f"{type(error).__name__}: {error}", field
        from logging import getLogger  # slow to import, and needed for this alone

        getLogger(__name__).error("The extension %s is left out: %s failed", name, field, exc_info=error)

    def family(self, name: str) -> EventFamily | None:
        """The events of an extension; None where it is not loaded or has none."""
        if name not in self._families:
            one = self._extensions.get(name)
            only = Loaded((one,)) if one and name not in self.failures else Loaded(())
            found = next((family for _, family in only.of(lambda extension: extension.events)), None)
            self.failures |= only.failures
            self.failed_fields |= only.failed_fields
            self._families[name] = found
        return self._families[name]

    def side_questions(self, kind: str) -> tuple[Extension, SideQuestions] | None:
        """The extension that asks questions of this kind; None where it is not loaded or was left out."""
        if self._askers is None:
            brought = self.of(lambda extension: extension.side_questions)
            self._askers = {kind: (one, asked) for one, asked in brought for kind in asked.kinds}
        found = self._askers.get(kind)
        return None if found is None or found[0].name in self.failures else found

    def facts(self, debate: Debate, viewer: Viewer) -> tuple[Fact, ...]:
        """The figures of all extensions."""
        found: list[Fact] = []
        for extension in self:
            try:
                found += tuple(extension.facts(debate, viewer)) if extension.facts else ()
            except Exception as error:
                self.leave_out(extension.name, "facts", error)
        return tuple(found)

    def reports(self, debate: Debate, viewer: Viewer) -> tuple[Reported, ...]:
        """What the extensions tell this viewer of a debate."""
        found: list[Reported] = []
        for extension, report in self.of(lambda extension: extension.report):
            try:
                sections = tuple(report.sections(debate, viewer))
                members = report.members(debate, viewer) if report.members else sections or None
                found.append(Reported(extension.name, report.title, sections, members))
            except Exception as error:
                self.leave_out(extension.name, "report", error)
        return tuple(found)


_HOMES = {
    "Aside": "moot.core.state",
    "AsideAnswered": "moot.core.events",
    "AtMost": "moot.core.setup_field",
    "Between": "moot.core.setup_field",
    "Bullet": "moot.views.report_blocks",
    "Bullets": "moot.views.report_blocks",
    "Button": "moot.api.command_table",
    "Command": "moot.rules.commands",
    "CommandContext": "moot.api.command_table",
    "DebateCommand": "moot.api.command_table",
    "ExportFormat": "moot.views.exports",
    "ExtensionEvent": "moot.core.extension_events",
    "FormField": "moot.core.setup_field",
    "MemoryAccess": "moot.store.extension_tables",
    "MoreThan": "moot.core.setup_field",
    "Note": "moot.views.report_blocks",
    "Option": "moot.core.setup_field",
    "ReportSection": "moot.views.report_blocks",
    "ReportTable": "moot.views.report_blocks",
    "Right": "moot.api.rights",
    "Sentences": "moot.views.report_blocks",
    "SetupField": "moot.core.setup_field",
    "SideQuestion": "moot.rules.side_questions",
    "SqlAccess": "moot.store.extension_tables",
    "Tables": "moot.store.extension_tables",
    "UnreadableReply": "moot.prompts.model_replies",
    "action_reply": "moot.api.v1.command_replies",
    "fence_for": "moot.prompts.fences",
    "object_schema": "moot.prompts.model_replies",
    "read_json_reply": "moot.prompts.model_replies",
    "short_request": "moot.prompts.side_question_prompts",
    "state_of": "moot.core.extension_events",
}


def __getattr__(name: str) -> object:
    """What authors of extensions need beside this module, imported when it is first used."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'moot.extension' has no attribute {name!r}")


_current: Loaded | None = None
_loading = False
TOO_EARLY = (
    "A module that it imports needs to know all extensions, and they are still being loaded: import it "
    "inside the function that uses it"
)


def loaded() -> Loaded:
    """The extensions of this process, found at the first call."""
    global _current, _loading
    if _current is None:
        if _loading:
            raise ImportError(TOO_EARLY)
        _loading = True
        try:
            _current = load(os.environ.get(VARIABLE))
        finally:
            _loading = False
    return _current


@contextmanager
def using(*extensions: Extension) -> Generator[Loaded]:
    """Only these extensions while this lasts: for tests."""
    global _current
    before, _current = _current, Loaded(extensions)
    try:
        yield _current
    finally:
        _current = before


def load(chosen: str | None = None) -> Loaded:
    """Import the extensions that are chosen. None: all; `` (empty): none; `-experiments,-mcp`: all but these;
    `mcp`: only this; `+applause:extension`: all, and the one that this attribute of a module is."""
    words = [] if chosen is None else chosen.replace(",", " ").split()
    only = {word for word in words if word[0] not in "+-"}
    without = {word[1:] for word in words if word[0] == "-"}
    added = [word[1:] for word in words if word[0] == "+"]
    targets = {**_ours(), **{point.name: point for point in _installed()}}
    everything = chosen is None or (words and not only)
    names = (name for name in targets if (everything or name in only) and name not in without)
    wanted = {name: targets[name] for name in names}
    found = [_imported(name, target) for name, target in (*wanted.items(), *((one, one) for one in added))]
    result = Loaded(
        (each for each in found if isinstance(each, Extension)),
        {each.name: _source(target) for each, target in zip(found, (*wanted.values(), *added), strict=True)},
    )
    result.failures |= {each.name: each.reason for each in found if isinstance(each, _Failed)}
    unknown = (only | without) - targets.keys()
    result.failures |= dict.fromkeys(unknown, f"{VARIABLE} names it, but there is no such extension")
    result.left_out = tuple(name for name in targets if name not in wanted)
    return result


class _Failed(NamedTuple):
    name: str
    reason: str


def _ours() -> dict[str, str]:
    names: tuple[str, ...] = import_module(OURS).NAMES
    return {name: f"{OURS}.{name}:EXTENSION" for name in names}


def _imported(name: str, target: str | EntryPoint) -> Extension | _Failed:
    try:
        if isinstance(target, str):
            module, _, attribute = target.partition(":")
            found: object = getattr(import_module(module), attribute or "EXTENSION")
        else:
            found = target.load()
        if not isinstance(found, Extension):
            raise TypeError(f"{target} is not an Extension")
    except Exception as error:
        return _Failed(name, f"{type(error).__name__}: {error}")
    return found


def _source(target: str | EntryPoint) -> str:
    if isinstance(target, str):
        return "moot" if target.startswith(f"{OURS}.") else target
    return target.dist.name if target.dist else target.value


def _installed() -> list[EntryPoint]:
    """Extensions of installed packages. `importlib.metadata` is slow to import, so it is asked only where a
    package has the group."""
    if not any(f"[{GROUP}]".encode() in text for text in _entry_point_files()):
        return []
    from importlib.metadata import entry_points

    return list(entry_points(group=GROUP))


def _entry_point_files() -> Iterator[bytes]:
    for folder in sys.path:
        try:
            packages = [name for name in os.listdir(folder or ".") if name.endswith("-info")]
        except OSError:  # an archive, or a folder that is not there
            continue
        for package in packages:
            try:
                with open(f"{folder or '.'}/{package}/entry_points.txt", "rb") as file:
                    yield file.read()
            except OSError:  # most have none
                continue
