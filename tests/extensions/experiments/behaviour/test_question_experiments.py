"""Questions with a known answer are run under every protocol: once each, within the budget, after any crash,
and without a judge ever reading the passage."""

from __future__ import annotations

import re
import signal
from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from moot import Arena, Settings
from moot.core.terms import DocumentName, Request
from moot.core.visibility import OWNER, Viewer, visible_state
from moot.experiments import load
from moot.extensions.experiments.measuring.definition import ExperimentDefinition
from moot.extensions.experiments.measuring.leg_results import LegResult, read_result
from moot.extensions.experiments.measuring.planned_questions import OPEN, PROTOCOLS, READINGS, ProtocolName
from moot.extensions.experiments.measuring.questions import Question
from moot.extensions.experiments.measuring.report_document import report_document
from moot.extensions.experiments.measuring.report_html import report_html
from moot.extensions.experiments.measuring.report_markdown import report_markdown
from moot.extensions.experiments.runner import ExperimentRunner
from moot.extensions.experiments.tables import EXPERIMENTS
from moot.providers.prices import flat_price
from moot.providers.scripted import Cue, SayCue, ScriptedProvider, ThinkCue
from moot.views.exports import render
from tests.cli.terminal import environment, piped

PASSAGE = "The keeper carried a blue lantern to the boat. Nobody saw him come back that night."
DOCUMENTS: tuple[DocumentName, ...] = ("json", "markdown", "html")
ASIDE = "Say it again, but better."
ASKS = "Where in the text does it say so?"
SECRET = "A thought that no judge may read."
TRUTH = ExperimentDefinition(
    name="truth",
    models=("scripted/a",),
    judges=("scripted/owl",),
    format="",
    pairing="self",
    questions=(
        Question("lantern", "What colour was the lantern?", ("Red", "Blue"), 1, "p"),
        Question("keeper", "Did the keeper come back?", ("Yes", "No", "On a horse"), 1, "p"),
    ),
    passages={"p": PASSAGE},
    protocols=PROTOCOLS,
)


def script(request: Request) -> Iterable[Cue]:
    """Debaters quote the passage rightly and wrongly; who is asked for an answer gives the one named in the
    passage where it can be read, and the first one else."""
    yield ThinkCue(SECRET)
    sent = request.instructions + request.messages[-1].content
    if request.schema is None and request.model.name == "owl":
        yield SayCue(ASKS)
        return
    if request.schema is None:
        yield SayCue(
            'The text says "carried a blue lantern" and also "the lantern was bright red", so I am right.'
        )
        return
    members = request.schema["properties"]
    if "notes" in members:
        yield SayCue(msgspec.json.encode({"notes": ASIDE}).decode())
        return
    if "answer" not in members:
        yield SayCue(belief(sent))
        return
    names = members["answer"]["enum"]
    shown = {name: re.search(rf"{name}: ?\n?<[^>]+>\n?([^<]+)\n?<", sent) for name in names}
    right = [name for name, found in shown.items() if found and found[1].strip() in ("Blue", "No")]
    answer = {"reasoning": "Because.", "answer": right[0] if PASSAGE in sent else names[0], "percent": 90}
    if "rests_on" in members:
        answer = {**answer, "rests_on": members["rests_on"]["items"]["enum"][:1]}
    yield SayCue(msgspec.json.encode(answer).decode())


def belief(sent: str) -> str:
    """Of a judge that knows nothing at first, and more of the truth after every speech."""
    first = re.search(r"The answers:\n\w+:\s+<[^>]+>\s+([^<]+?)\s+<", sent)
    assert first
    sure = 10 * len(re.findall(r"^S\d+\. ", sent, re.MULTILINE))
    return msgspec.json.encode({"percent": 50 + sure if first[1] in ("Blue", "No") else 50 - sure}).decode()


def settings(folder: Path) -> Settings:
    prices = {"scripted/*": flat_price(Decimal(1), Decimal(2))}
    return Settings(data=folder, scripted=True, model="scripted/demo", prices=prices)


async def results_of(arena: Arena) -> list[LegResult]:
    return [read_result(leg.result or "") for leg in await arena.store.tables(EXPERIMENTS).legs("truth")]


async def test_every_protocol_is_run_and_reported_and_no_judge_reads_the_passage(tmp_path: Path) -> None:
    provider = ScriptedProvider(script)
    async with Arena.open(settings(tmp_path), providers={"scripted": provider}) as arena:
        expected = await ExperimentRunner(arena, TRUTH).estimate()
        progress = await ExperimentRunner(arena, replace(TRUTH, budget=Decimal(5))).run()
        assert (progress.planned, progress.finished, progress.failed) == (40, 40, 0)
        assert (await ExperimentRunner(arena, replace(TRUTH, budget=Decimal(5))).run()).held_now == 0
        assert (await arena.list()).total == 40
        calls = sum(each.calls[0] for each in expected.protocols)
        assert len(provider.calls) == calls

        judged = [call for call in provider.calls if call.schema and "rests_on" in call.schema["properties"]]
        alone = [call for call in provider.calls if call.model.name == "owl" and call not in judged]
        asking = [call for call in alone if call.schema is None]
        expert = [call for call in alone if PASSAGE in call.messages[0].content]
        naive = [call for call in alone if call not in (*asking, *expert)]
        assert len(judged) == 24 * 2
        assert len(asking) == 4
        assert len(naive) == len(expert) == 4 * READINGS  # as often as a judge is asked about a debate
        for call in (*judged, *asking, *naive):
            sent = msgspec.json.encode(call).decode()
            assert not any(part in sent for part in (PASSAGE, "Nobody saw him", "to the boat", SECRET))
        marks = Counter(re.findall(r"\[quote-\w+: ((?:not )?in the text)\]", judged[0].messages[0].content))
        assert marks["in the text"] == marks["not in the text"] > 0
        assert all("in the text]" in call.messages[0].content for call in asking)
        heard = [call for call in provider.calls if call.model.name == "a" and ASKS in str(call.messages)]
        assert len(heard) == 4 * 2  # both debaters of every interactive debate
        assert sum("You asked the speakers:" in call.messages[0].content for call in judged) == 4 * 2
        debaters = [call for call in provider.calls if call.model.name == "a"]
        assert all(PASSAGE in call.instructions + call.messages[0].content for call in debaters)

        results = await results_of(arena)
        right = {
            name: [row.right for result in results if result.protocol == name for row in result.answers]
            for name in PROTOCOLS
        }
        assert right["single-shot"] == right["expert"] == [1.0] * 4
        assert right["self-consistency"] == [1.0] * 4
        assert set(right["naive"]) == {0.5}  # 90 % for the first answer shown, in both orders
        assert set(right["debate"]) == {0.5}
        chosen = [row for result in results if result.protocol in OPEN for row in result.answers]
        assert len(chosen) == 8
        assert all(row.argued == row.answer for row in chosen)
        votes = [row for result in results if result.protocol == "self-consistency" for row in result.answers]
        assert min(row.samples for row in votes) > 3
        debates, answers = (
            sum(result.cost or 0 for result in results if result.protocol == name)
            for name in ("debate", "self-consistency")
        )
        assert 0.3 < answers / debates < 3

        for result in results:
            debate = await arena.state(result.debate)
            assert PASSAGE not in str(visible_state(debate, Viewer("judge")).setup)
            assert all(render(name, debate, OWNER) for name in DOCUMENTS)
        report = await ExperimentRunner(arena, TRUTH).report("1")
        assert report.truth is not None
        single = {row.protocol: row for row in report.truth.readings}
        for name in ("naive", "debate"):
            row = single[name]
            assert (row.readings, row.confidence, row.score.accuracy.value) == (8, pytest.approx(0.9), 0.5)
            assert (row.flips.value, row.first.value) == (1.0, 1.0)
        assert (single["single-shot"].flips.value, single["single-shot"].first.value) == (0.0, 0.5)
        changing = next(note for note in report.notes if note.startswith("More than a third"))
        assert "naive 100 % (the first is named in 100 % of the readings)" in changing
        assert "| single-shot | 4 | 100 %" in report_markdown(report_document(report))
        assert report_html(report_document(report)).count("<polyline") == len(PROTOCOLS)


async def test_quotations_beyond_the_words_allowed_are_not_confirmed_and_all_are_counted(
    tmp_path: Path,
) -> None:
    provider = ScriptedProvider(script)
    asked = replace(TRUTH, protocols=("debate",), questions=TRUTH.questions[:1], quote_words=5)
    async with Arena.open(settings(tmp_path), providers={"scripted": provider}) as arena:
        await ExperimentRunner(arena, asked).run()
        debaters = [call for call in provider.calls if call.model.name == "a"]
        assert all("at most 5 words of your quotations" in call.instructions for call in debaters)
        judged = next(call for call in provider.calls if call.model.name == "owl")
        marks = Counter(re.findall(r"\[quote-\w+: ([^\]]+)\]", judged.messages[0].content))
        # Each of the two debaters quotes four words rightly and five wrongly in each of two speeches.
        assert marks == {"in the text": 2, "not checked, too many quotations": 2, "not in the text": 4}
        quotes = [each for result in await results_of(arena) for each in result.quotes]
        assert [(each.found, each.missing, each.over, each.words) for each in quotes] == [(1, 2, 1, 4)] * 4
        assert Counter(each.argued_right for each in quotes) == {True: 2, False: 2}
        report = await ExperimentRunner(arena, asked).report("1")
        shown = report_markdown(report_document(report))
        assert "| scripted/a | the right answer | 2 | 2 | 4 | 2 | 50 %" in shown


async def test_accuracy_after_each_round_comes_from_what_every_judge_believed(tmp_path: Path) -> None:
    provider = ScriptedProvider(script)
    asked = replace(
        TRUTH,
        protocols=("debate", "consultancy", "naive"),
        judges=("scripted/owl", "scripted/raven"),
        options={"beliefs": True},
        budget=Decimal(5),
    )
    async with Arena.open(settings(tmp_path), providers={"scripted": provider}) as arena:
        expected = await ExperimentRunner(arena, asked).estimate()
        await ExperimentRunner(arena, asked).run()
        assert len(provider.calls) == expected.calls[0]
        believed = [call for call in provider.calls if call.schema and len(call.schema["properties"]) == 1]
        assert len(believed) == 8 * 2 * 3  # debates and consultancies, judges, twice and at first
        assert not any(PASSAGE in msgspec.json.encode(call).decode() for call in believed)
        report = await ExperimentRunner(arena, asked).report("1")
        assert report.truth is not None
        assert report.beliefs is None
        rounds = {
            (row.protocol, row.round): (row.score.answers, row.score.accuracy.value, row.confidence)
            for row in report.truth.rounds
            if not row.judge
        }
        assert rounds["debate", 0] == (8, 0.5, 0.5)
        assert rounds["debate", 1] == (8, 1.0, pytest.approx(0.7))
        assert rounds["debate", 2] == (8, 1.0, pytest.approx(0.9))
        assert rounds["consultancy", 2] == (8, 1.0, pytest.approx(0.7))
        assert {row.judge for row in report.truth.rounds} == {"", *asked.judges}


async def test_debaters_draft_criticise_and_revise_their_speeches_unheard_by_others(tmp_path: Path) -> None:
    provider = ScriptedProvider(script)
    asked = replace(
        TRUTH, protocols=("debate", "naive"), questions=TRUTH.questions[:1], revise=True, budget=Decimal(5)
    )
    async with Arena.open(settings(tmp_path), providers={"scripted": provider}) as arena:
        expected = await ExperimentRunner(arena, asked).estimate()
        progress = await ExperimentRunner(arena, asked).run()
        assert progress.finished == progress.planned == 4
        assert len(provider.calls) == expected.calls[0]
        notes = [call for call in provider.calls if call.schema and "notes" in call.schema["properties"]]
        critics = [call for call in notes if call.instructions.startswith("You are the critic")]
        speeches = [call for call in provider.calls if call.model.name == "a" and call.schema is None]
        assert (len(notes) - len(critics), len(critics), len(speeches)) == (8, 8, 8)
        assert all(f"Draft: {ASIDE}" in call.messages[-1].content for call in critics)
        for call in speeches:
            assert f"Draft: {ASIDE}" in call.messages[-1].content
            assert f"Critique: {ASIDE}" in call.messages[-1].content
        judged = [call for call in provider.calls if call.model.name == "owl"]
        assert not any(ASIDE in msgspec.json.encode(call).decode() for call in judged)


async def test_unreadable_answers_count_for_nothing_and_are_told(tmp_path: Path) -> None:
    provider = ScriptedProvider(
        lambda request: [SayCue("It is surely the first." if request.schema else "Yes.")]
    )
    asked = replace(TRUTH, protocols=("consultancy", "naive", "open-debate"), questions=TRUTH.questions[:1])
    async with Arena.open(settings(tmp_path), providers={"scripted": provider}) as arena:
        progress = await ExperimentRunner(arena, asked).run()
        assert (progress.planned, progress.failed) == (5, 2)
        results = await results_of(arena)
        assert not any(result.answers for result in results)
        report = await ExperimentRunner(arena, asked).report("1")
        assert report.truth is not None
        assert [(row.asked, row.answered) for row in report.truth.protocols] == [(2, 0), (2, 0), (0, 0)]
        assert any("the speaker chose no answer" in note for note in report.notes)


def test_kills_lose_double_and_overspend_nothing_of_any_protocol(tmp_path: Path) -> None:
    (tmp_path / "moot.toml").write_text('[prices."scripted/*"]\ninput = "1"\noutput = "2"\n', "utf-8")
    file = tmp_path / "truth.toml"
    file.write_text(
        'name = "truth"\nmodels = ["scripted/a"]\njudges = ["scripted/owl"]\nrounds = 1\nbudget = 4\n'
        "questions = {bank = true, count = 2}\nconcurrency = 2\n",
        "utf-8",
    )
    env = environment(tmp_path)
    kills = 0
    for point in ("leg-reserved:3", "leg-opened:4", "leg-held:5", "leg-settled:6"):
        done = piped({**env, "MOOT_CRASH_AT": point}, "experiment", "run", str(file))
        kills += done.returncode == -signal.SIGKILL
    assert kills >= 3
    done = piped(env, "experiment", "run", str(file))
    assert done.returncode == 0, done.stdout + done.stderr
    held = int(re.findall(r"(\d+) of \1 debates held", done.stdout)[0])
    assert len(piped(env, "list", "--limit", "100", "--json").stdout.splitlines()) == held
    told = piped(env, "experiment", "report", "truth", "-o", str(tmp_path / "t.json"))
    assert "self-consistency" in told.stdout
    written = piped(env, "experiment", "export", "truth", "-o", str(tmp_path / "t.csv"), "--table", "answers")
    assert f"{held} answers" in written.stdout, written.stdout + written.stderr
    assert len({row.debate for row in load("truth", Settings(data=tmp_path)).answers()}) == held


def talker(request: Request) -> Iterable[Cue]:
    """Says far more than it should, also where a ballot is asked for: each of those must be repaired."""
    if request.schema is not None and (
        "rests_on" not in request.schema["properties"] or len(request.messages) > 1
    ):
        yield from script(request)
        return
    yield SayCue("word " * min(request.max_tokens, 800))


@pytest.mark.parametrize(
    ("protocol", "share", "aside"),
    [
        ("interactive-debate", 0.6, False),
        ("open-consultancy", 0.6, False),
        ("expert", 1.1, False),
        ("debate", 0.6, True),
    ],
)
async def test_talkative_models_never_exceed_the_budget(
    tmp_path: Path, protocol: ProtocolName, share: float, aside: bool
) -> None:
    dear = replace(settings(tmp_path), prices={"scripted/*": flat_price(Decimal(100), Decimal(200))})
    asked = replace(
        TRUTH, protocols=(protocol,), questions=TRUTH.questions[:1], options={"beliefs": aside}, revise=aside
    )
    async with Arena.open(dear, providers={"scripted": ScriptedProvider(talker)}) as arena:
        expected = await ExperimentRunner(arena, asked).estimate()
        assert expected.high is not None
        limited = replace(asked, budget=expected.high * Decimal(share))
        progress = await ExperimentRunner(arena, limited).run()
        assert progress.finished + progress.failed > 0
        assert 0 < progress.spent <= limited.budget
        assert any(result.protocol == protocol for result in await results_of(arena))
        for leg in await arena.store.tables(EXPERIMENTS).legs("truth"):
            debate = await arena.state(leg.debate)
            assert debate.limits.cost_limit is not None
            assert 0 < debate.cost_so_far <= debate.limits.cost_limit
