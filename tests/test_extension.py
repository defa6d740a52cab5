"""The seam: which extensions are loaded, what becomes of one that fails, and of events without theirs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from moot import extension, fold, settings
from moot.api.auth import NOBODY, OPERATOR
from moot.api.problems import Problem
from moot.api.rights import all_rights, check, may
from moot.core import events as ev
from moot.core.errors import Invalid
from moot.core.events import Recorded, decode_event, decode_recorded, encode
from moot.core.extension_events import ExtensionEvent, KeptEvent, state_of
from moot.core.state import Aside, Debate
from moot.core.terms import DebateLimits, Model, Request
from moot.core.visibility import OBSERVER, OWNER, Viewer, visible_event, visible_state
from moot.extension import (
    DebateReport,
    EventFamily,
    Extension,
    Fact,
    Loaded,
    ReportSection,
    Right,
    SideQuestion,
    SideQuestions,
    TerminalCommand,
    UnreadableReply,
    Variable,
    load,
    using,
)
from moot.extensions import NAMES
from moot.prompts.side_question_prompts import object_schema, seat_request
from moot.rules.cost_estimate import estimate
from moot.settings import unknown_variables
from moot.testing.event_factories import table
from moot.views.report_blocks import (
    Bullet,
    Bullets,
    Folded,
    Listing,
    Note,
    Picture,
    ReportTable,
    Sentences,
)
from tests.golden.reading import HERE, log_of
from tests.rules.simulate import Reply, Sent, Simulation, speak

LOGS = sorted(path.stem for path in HERE.glob("*.jsonl"))
RAW = (
    b'{"debate":"deb_1","seq":7,"at":"2026-01-01T00:00:00Z","epoch":1,'
    b'"event":{"type":"flow.claim-found","a-b":1.0,"class":{"y":[1,"2.50"]}}}'
)


class Given(ExtensionEvent, frozen=True, tag="applause.given"):
    by: str = ""


def applause(evolve: object = lambda state, _event, _at: state + 1) -> Extension:
    return Extension("applause", events=lambda: EventFamily((Given,), start=0, evolve=evolve))  # type: ignore[arg-type]


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A module `acme` that an extension may be in."""
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path / "acme.py"
    sys.modules.pop("acme", None)


# --- which are loaded ---------------------------------------------------------------------------------


def test_ours_are_loaded_unless_something_else_is_said() -> None:
    assert [extension.name for extension in load()] == list(NAMES)
    assert load().sources == dict.fromkeys(NAMES, "moot")
    assert load().failures == {}


@pytest.mark.parametrize(
    ("chosen", "names"),
    [("", []), (NAMES[0], [NAMES[0]]), (f"-{NAMES[0]}", list(NAMES[1:])), (",".join(NAMES), list(NAMES))],
)
def test_the_variable_chooses(chosen: str, names: list[str]) -> None:
    found = load(chosen)
    assert [extension.name for extension in found] == names
    assert set(found.left_out) == set(NAMES) - set(names)


def test_a_name_that_is_not_there_is_told() -> None:
    assert load("-acme").failures == {"acme": "MOOT_EXTENSIONS names it, but there is no such extension"}


def test_a_module_can_be_added(module: Path) -> None:
    module.write_text("from moot.extension import Extension\nEXTENSION = Extension('acme')\n")
    found = load("+acme:EXTENSION")
    assert [extension.name for extension in found] == [*NAMES, "acme"]
    assert found.sources["acme"] == "acme:EXTENSION"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("raise RuntimeError('no luck')", "RuntimeError: no luck"),
        ("import nothing_like_it", "ModuleNotFoundError: No module named 'nothing_like_it'"),
        ("EXTENSION = 'a word'", "TypeError: acme is not an Extension"),
    ],
)
def test_one_that_does_not_load_is_named_and_left_out(module: Path, text: str, reason: str) -> None:
    module.write_text(text)
    found = load("+acme")
    assert [extension.name for extension in found] == list(NAMES)
    assert found.failures == {"acme": reason}


@pytest.mark.parametrize(
    ("imported", "reason"),
    [
        ("from moot.extension import *", ""),
        ("import moot.api.v1.create_debate", f"ImportError: {extension.TOO_EARLY}"),
        ("import moot.cli.commands.debate", f"ImportError: {extension.TOO_EARLY}"),
    ],
)
def test_what_an_extension_imports_does_not_lose_its_settings(
    tmp_path: Path, imported: str, reason: str
) -> None:
    """What the seam exports can be imported at the top of the module; what is made of all settings cannot."""
    field = "SetupField(name='echo', type=bool, default=False)"
    text = f"from moot.extension import Extension, SetupField\n{imported}\n"
    text += f"EXTENSION = Extension('echo', settings=lambda: ({field},))\n"
    (tmp_path / "echo_room.py").write_text(text, "utf-8")
    program = (
        "from moot.extension import loaded; print(loaded().failures.get('echo_room:EXTENSION', ''));"
        "from moot.api.v1.create_debate import Config; print('echo' in Config.model_fields)"
    )
    environ = {**os.environ, "PYTHONPATH": str(tmp_path), "MOOT_EXTENSIONS": "+echo_room:EXTENSION"}
    told = subprocess.run(
        [sys.executable, "-c", program], env=environ, check=True, capture_output=True, text=True
    )
    assert told.stdout.splitlines() == [reason, str(not reason)]


def test_an_installed_package_is_found(tmp_path: Path, module: Path) -> None:
    module.write_text("from moot.extension import Extension\nEXTENSION = Extension('acme', 'A test.')\n")
    folder = tmp_path / "acme-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text("[moot.extensions]\nacme = acme:EXTENSION\n")
    found = load()
    assert [extension.name for extension in found] == [*NAMES, "acme"]
    assert found.sources["acme"] == "acme"
    assert [extension.name for extension in load("-acme")] == list(NAMES)


def test_one_whose_contribution_fails_is_left_out_of_everything_and_the_log_says_what_failed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    broken = Extension("broken", formats=lambda: {}["nothing"], providers=dict)
    found = Loaded([broken, Extension("sound", formats=lambda: {"f": "toml"})])
    assert [extension.name for extension, _ in found.of(lambda extension: extension.formats)] == ["sound"]
    assert list(found.of(lambda extension: extension.providers)) == []
    assert found.failures == {"broken": "KeyError: 'nothing'"}
    assert found.failed_fields == {"broken": "formats"}
    [record] = caplog.records
    assert record.getMessage() == "The extension broken is left out: formats failed"
    assert record.exc_info


def test_facts_that_fail_cost_the_extension_not_the_debate() -> None:
    def facts(_debate: object, _viewer: object) -> Iterator[Fact]:
        yield Fact("Figure", "1")
        raise ValueError("oops")

    debate = fold(log_of("oxford-steered"))
    assert debate is not None
    with using(
        Extension("broken", facts=facts), Extension("sound", facts=lambda _d, _v: [Fact("A", "b")])
    ) as found:
        assert found.facts(debate, OWNER) == (Fact("A", "b"),)
        assert found.failures == {"broken": "ValueError: oops"}
        assert found.failed_fields == {"broken": "facts"}


def test_the_help_lists_a_command_where_it_says() -> None:
    from moot.cli.command_line import terminal_commands

    rows = (
        TerminalCommand("first", "", "acme:one", after="list"),
        TerminalCommand("last", "", "acme:two", group="Steer"),
        TerminalCommand("own", "", "acme:three", group="Acme"),
    )
    with using(Extension("acme", commands=rows)):
        order = [row.name for row in terminal_commands()]
    assert order.index("first") == order.index("list") + 1
    assert order.index("last") == order.index("abort") + 1
    assert order[-1] == "own"


def test_a_command_may_stand_after_that_of_another_extension() -> None:
    from moot.cli.command_line import terminal_commands

    first = Extension("first", commands=(TerminalCommand("second-word", "", "acme:one", after="first-word"),))
    other = Extension("other", commands=(TerminalCommand("first-word", "", "acme:one", after="stats"),))
    with using(first, other):
        names = [row.name for row in terminal_commands()]
    assert names.index("second-word") == names.index("first-word") + 1 == names.index("stats") + 2


@pytest.mark.needs_extensions("conversations")
def test_a_command_that_only_extensions_fill_goes_with_them() -> None:
    from moot.cli.command_line import terminal_commands

    assert "import" in [row.name for row in terminal_commands()]
    with using():
        assert "import" not in [row.name for row in terminal_commands()]
    with using(Extension("applause", commands=(TerminalCommand("old", "Old.", "a:b", parent="import"),))):
        assert "import" in [row.name for row in terminal_commands()]


# --- settings and rights ------------------------------------------------------------------------------


def test_a_variable_is_read_known_and_has_a_default(tmp_path: Path) -> None:
    times, pause, most = (
        Variable("MOOT_APPLAUSE_TIMES", 3),
        Variable("MOOT_APPLAUSE_PAUSE", 2, "positive"),
        Variable("MOOT_APPLAUSE_MOST", kind="limit"),
    )
    data = {"MOOT_DATA": str(tmp_path)}
    set_here = {"MOOT_APPLAUSE_TIMES": "5", "MOOT_APPLAUSE_MOST": "0"}
    with using(Extension("applause", variables=(times, pause, most))):
        assert unknown_variables(set_here) == []
        service = settings.load(data | set_here).service
        assert [service.value(each) for each in (times, pause, most)] == [5, 2, None]
        with pytest.raises(Invalid, match="MOOT_APPLAUSE_PAUSE must be more than 0"):
            settings.load(data | {"MOOT_APPLAUSE_PAUSE": "0"})
    assert len(unknown_variables(set_here)) == 2


def test_a_right_is_of_the_roles_it_names_and_refuses_the_others_in_its_words() -> None:
    right = Right("applaud", ("operator", "audience"), "Only the audience applauds")
    with using(Extension("applause", rights=lambda: (right,))):
        assert all_rights()["applaud"] == right.roles
    assert "applaud" not in all_rights()
    assert may(OPERATOR, right)
    with pytest.raises(Problem) as refused:
        check(NOBODY, right)
    assert refused.value.detail == right.refusal


# --- events -------------------------------------------------------------------------------------------


def test_an_event_without_its_extension_is_kept_as_it_came() -> None:
    recorded = decode_recorded(RAW)
    assert isinstance(recorded.event, KeptEvent)
    assert recorded.event.extension == "flow"
    assert encode(recorded) == RAW
    assert msgspec.json.encode(recorded) == RAW


def test_an_event_is_read_by_its_extension() -> None:
    with using(applause()):
        assert decode_event(b'{"type":"applause.given","by":"Zoe"}') == Given("Zoe")
        assert isinstance(decode_event(b'{"type":"applause.taken"}'), KeptEvent)


def test_an_event_of_an_older_version_is_read_by_the_upcast() -> None:
    def upcast(tag: str, members: dict[str, object]) -> Given | None:
        return Given(str(members["who"])) if tag == "applause.given.1" else None

    family = EventFamily((Given,), upcast=upcast)
    with using(Extension("applause", events=lambda: family)):
        assert decode_event(b'{"type":"applause.given.1","who":"Zoe"}') == Given("Zoe")


@pytest.mark.parametrize(
    "data", [b'{"type":"turn.sung"}', b'{"type":"turn.started"}', b"{}", b"[]", b'{"type":"x"}']
)
def test_what_can_be_no_event_of_an_extension_is_refused(data: bytes) -> None:
    with pytest.raises(msgspec.ValidationError):
        decode_event(data)


def with_events(name: str, *events: ev.Event) -> list[Recorded]:
    """A golden log with these events after its second."""
    log = log_of(name)
    own = [Recorded(log[0].debate, 0, log[1].at, log[1].epoch, event) for event in events]
    mixed = [*log[:2], *own, *log[2:]]
    return [Recorded(one.debate, seq, one.at, one.epoch, one.event) for seq, one in enumerate(mixed, 1)]


def test_the_fold_of_an_extension_makes_a_state_of_its_own() -> None:
    with using(applause()):
        debate = fold(with_events("oxford-steered", Given("Zoe"), Given("Ann")))
        assert debate is not None
        assert state_of(debate, "applause") == 2
        opened = fold(log_of("oxford-steered")[:1])
        assert opened is not None
        assert state_of(opened, "applause") == 0


def test_a_fold_that_fails_costs_the_extension_not_the_debate() -> None:
    with using(applause(evolve=lambda state, event, at: 1 / 0)) as found:
        debate = fold(with_events("oxford-steered", Given("Zoe")))
        assert debate is not None
        assert debate.verdict is not None
        assert debate.extensions == {}
        assert found.failures == {"applause": "ZeroDivisionError: division by zero"}
        assert found.failed_fields == {"applause": "events"}


def test_without_a_word_from_the_extension_only_the_owner_sees_its_events() -> None:
    records = with_events("oxford-steered", Given("Zoe"))
    with using(applause()):
        debate = fold(records[:3])
        assert debate is not None
        assert visible_event(debate, records[2], OWNER) == records[2]
        assert visible_event(debate, records[2], OBSERVER) is None


@pytest.mark.parametrize("name", LOGS)
def test_a_log_is_the_same_without_the_extension(name: str) -> None:
    """State, but for the positions, and all exports."""
    from moot.views.exports import documents, render

    lines = [encode(one) for one in with_events(name, Given("Zoe"), Given("Ann"))]
    records = [decode_recorded(line) for line in lines]
    assert [encode(one) for one in records] == lines
    with_kept, without = fold(records), fold(log_of(name))
    assert with_kept is not None
    assert without is not None
    assert with_kept.status == without.status
    assert with_kept.extensions == {}
    for form in documents():
        assert render(form, with_kept, OBSERVER) == render(form, without, OBSERVER), form


def test_the_time_of_an_event_reaches_the_fold() -> None:
    def evolve(state: tuple[datetime, ...], _event: Given, at: datetime) -> tuple[datetime, ...]:
        return (*state, at)

    family = EventFamily((Given,), start=(), evolve=evolve)
    with using(Extension("applause", events=lambda: family)):
        debate = fold(with_events("oxford-steered", Given("Zoe")))
        assert debate is not None
        assert all(at.tzinfo is UTC or at.utcoffset() is not None for at in state_of(debate, "applause"))


# --- side questions -----------------------------------------------------------------------------------

MOOD = "mood.feeling"


def feeling(turn: int | None, slot: int, seat: str) -> SideQuestion:
    return SideQuestion(MOOD, slot, seat, turn=turn)


def ask(debate: Debate, aside: Aside, model: Model, attempt: int) -> Request:
    return seat_request(debate, aside, model, "How do you feel?", object_schema({}), attempt)


def answer(_debate: Debate, aside: Aside, reply: str) -> ev.AsideAnswered:
    if reply != "Fine.":
        raise UnreadableReply("it must be a feeling")
    return ev.AsideAnswered(aside.number, text=reply)


def mood(**changes: object) -> Extension:
    """Each speaker is asked how it feels before its speech, the last one also after it and at the end."""
    asked = SideQuestions(
        kinds=(MOOD,),
        request=ask,
        read=answer,
        before=lambda _debate, coming: (feeling(None, slot.index, slot.seat) for slot in coming),
        after=lambda debate: [feeling(turn.number, turn.slot, turn.seat) for turn in debate.turns[-1:]],
        at_end=lambda debate: [feeling(99, debate.turns[-1].slot, debate.turns[-1].seat)],
    )
    return Extension("mood", side_questions=lambda: asked._replace(**changes))


def moody(reply: str = "Fine.") -> Simulation:
    def script(sent: Sent) -> Reply:
        return Reply(reply) if sent.purpose.aside else speak(sent)

    return Simulation(table("oxford", limits=DebateLimits(1)), script).start()


def in_a_mood(reply: str = "Fine.") -> Simulation:
    return moody(reply).run()


def test_questions_are_asked_once_at_their_moments_and_the_answers_recorded() -> None:
    with using(mood()):
        debate = in_a_mood().debate
    assert [(one.kind, one.seat, one.turn, one.text) for one in debate.asides] == [
        (MOOD, "a", None, "Fine."), (MOOD, "a", 1, "Fine."),
        (MOOD, "b", None, "Fine."), (MOOD, "b", 2, "Fine."), (MOOD, "b", 99, "Fine."),
    ]  # fmt: skip
    assert debate.verdict is not None


def test_a_reply_that_cannot_be_read_is_no_answer_and_not_asked_for_again() -> None:
    with using(mood()):
        debate = in_a_mood("Leave me alone.").debate
    assert [one.state for one in debate.asides] == ["failed"] * 5
    assert debate.verdict is not None


def test_a_question_whose_answer_was_lost_is_asked_again() -> None:
    with using(mood()):
        simulation = moody().run_until(lambda debate: bool(debate.calls))
        simulation.crash()
        first, second, *_ = simulation.run().debate.asides
    assert (first.lost, first.slot, first.seat) == (True, second.slot, second.seat)


def test_the_estimate_counts_the_questions_of_an_extension() -> None:
    opening = table("oxford", limits=DebateLimits(1))
    with using():
        before = estimate(opening)
    with using(mood()):
        assert estimate(opening).calls.low == before.calls.low + 5


def test_an_answer_is_for_those_who_conduct_the_debate_unless_the_extension_says_otherwise() -> None:
    def said_to(viewer: Viewer) -> set[str]:
        return {one.text for one in visible_state(debate, viewer).asides}

    with using(mood()):
        debate = in_a_mood().debate
        assert said_to(OWNER) == {"Fine."}
        assert said_to(OBSERVER) == {""}
    with using(mood(visible=lambda _debate, aside, _viewer: aside.turn is None)):
        assert said_to(OBSERVER) == {"Fine.", ""}


@pytest.mark.parametrize("part", ["before", "after", "at_end", "request", "read", "model"])
def test_an_extension_that_fails_at_a_question_costs_no_debate(part: str) -> None:
    def broken(*_: object) -> None:
        raise ValueError("oops")

    opening = table("oxford", limits=DebateLimits(1))
    with using(mood(**{part: broken})):
        assert estimate(opening).calls.low > 0
    with using(mood(**{part: broken})) as found:
        assert in_a_mood().debate.verdict is not None
        assert found.failures == {"mood": "ValueError: oops"}


def test_a_log_with_questions_of_an_extension_that_is_not_there_is_read() -> None:
    with using(mood()):
        simulation = in_a_mood()
    lines = [encode(one) for one in simulation.records]
    with using():
        records = [decode_recorded(line) for line in lines]
        assert [encode(one) for one in records] == lines
        debate = fold(records)
        assert debate is not None
        assert [one.kind for one in debate.asides] == [MOOD] * 5
        assert debate.verdict is not None
        assert not any(one.text for one in visible_state(debate, OBSERVER).asides)


# --- what an extension tells of a debate --------------------------------------------------------------

TABLE = ReportTable("Who <b>", ("Speaker", "Times"), (("Ann | Zoe", "3"),), note="Counted by hand.")
BLOCKS = (
    Note("Nobody was asked."),
    Sentences(("It was *loud*.",)),
    Bullets((Bullet("The loudest speech", turn=2),), "Loud"),
    TABLE,
    Picture("<svg></svg>"),
    Folded("As a table", TABLE),
    Listing("All of it", "a\nb"),
)


def noise(**changes: object) -> Extension:
    report = DebateReport("Noise", lambda _debate, _viewer: [ReportSection("Noise", BLOCKS)])
    return Extension("noise", report=lambda: report._replace(**changes))


def exported(name: str, viewer: Viewer = OWNER) -> str:
    from moot.views.exports import render

    debate = fold(log_of("oxford-steered"))
    assert debate is not None
    return render(name, debate, viewer).decode()


def test_a_report_stands_in_markdown() -> None:
    with using(noise()):
        found = exported("markdown")
    section = found[found.index("## Noise") :]
    for line in (
        "*Nobody was asked.*",
        r"It was \*loud\*.",
        "**Loud**",
        "- The loudest speech (S2)",
        r"**Who \<b\>**",
        "| Speaker | Times |",
        "| --- | ---: |",
        r"| Ann \| Zoe | 3 |",
        "Counted by hand.",
        "```",
    ):
        assert f"\n{line}\n" in section, line
    assert "svg" not in section


def test_a_report_stands_in_html() -> None:
    with using(noise()):
        found = exported("html")
    assert '<h2>Noise</h2>\n<section class="verdict"><p class="facts">Nobody was asked.</p>' in found
    assert '<a class="mark" href="#s2">S2</a>' in found
    assert "<caption>Who &lt;b&gt;</caption>" in found
    assert "<svg></svg>" in found
    assert "<details><summary>As a table</summary><table" in found


def test_a_report_is_a_member_of_the_json_export_and_of_the_page() -> None:
    from moot.api.page_view.sections import view

    debate = fold(log_of("oxford-steered"))
    assert debate is not None
    with using(noise()):
        (section,) = msgspec.json.decode(exported("json"))["noise"]
        assert section["blocks"][0] == {"type": "note", "text": "Nobody was asked."}
        shown = msgspec.json.decode(msgspec.json.encode(view(debate, OWNER)["noise"]))
        assert shown == {"title": "Noise", "sections": [{"title": "Noise", "blocks": section["blocks"]}]}
    with using(noise(members=lambda _debate, _viewer: None, page=lambda _debate, _viewer: {"loud": True})):
        assert "noise" not in msgspec.json.decode(exported("json"))
        assert view(debate, OWNER)["noise"] == {"loud": True}


def test_a_report_stands_in_the_terminal() -> None:
    from moot.cli.render.debate_lines import report_lines

    debate = fold(log_of("oxford-steered"))
    assert debate is not None
    with using(noise()) as found:
        (report,) = found.reports(debate, OWNER)
    lines = [line.plain.strip() for line in report_lines(report, 80)]
    assert lines[:2] == ["It was *loud*.", "The loudest speech (S2)"]
    assert lines[2].split() == ["Speaker", "Times"]


def test_a_report_that_fails_costs_the_extension_not_the_export() -> None:
    def broken(_debate: Debate, viewer: Viewer) -> Iterator[ReportSection]:
        yield ReportSection("Noise", BLOCKS)
        raise ValueError("oops")

    with using(noise(sections=broken)) as found:
        assert "Noise" not in exported("markdown")
        assert found.failures == {"noise": "ValueError: oops"}
