"""A study of the 20 questions of our bank with scripted judges whose accuracy is known.

A judge is right about a question, in every reading, with the planted probability of the protocol under which
it is asked. `python -m tests.extensions.experiments.truth_study` holds the study and prints what was
planted beside what the report found.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
from msgspec import Struct

from moot import Arena, Settings
from moot.core.terms import Request
from moot.extensions.experiments.measuring.definition import ExperimentDefinition
from moot.extensions.experiments.measuring.estimates import Estimate
from moot.extensions.experiments.measuring.pairing import draw
from moot.extensions.experiments.measuring.planned_questions import ProtocolName
from moot.extensions.experiments.measuring.questions import Question, question_bank
from moot.extensions.experiments.measuring.report_markdown import markdown_table
from moot.extensions.experiments.measuring.report_text import estimate_text, percent
from moot.extensions.experiments.measuring.truth_report import TruthReport
from moot.extensions.experiments.runner import ExperimentRunner
from moot.providers.scripted import Cue, SayCue, ScriptedProvider
from moot.views.report_blocks import ReportTable

PLANTED: Mapping[tuple[str, ProtocolName], float] = {
    ("scripted/wise", "naive"): 0.6,
    ("scripted/wise", "consultancy"): 0.7,
    ("scripted/wise", "debate"): 0.85,
    ("scripted/wise", "expert"): 0.95,
    ("scripted/plain", "naive"): 0.5,
    ("scripted/plain", "consultancy"): 0.55,
    ("scripted/plain", "debate"): 0.65,
    ("scripted/plain", "expert"): 0.8,
}
SHOWN: tuple[ProtocolName, ...] = ("naive", "consultancy", "debate", "expert")
BANK = question_bank()
STUDY = ExperimentDefinition(
    name="study",
    models=("scripted/debater",),
    judges=("scripted/wise", "scripted/plain"),
    format="",
    pairing="self",
    rounds=1,
    questions=BANK.questions,
    passages=BANK.passages,
    protocols=SHOWN,
    concurrency=16,
)


class FoundAgain(Struct, frozen=True):
    judge: str
    protocol: str
    planted: float
    found: Estimate

    @property
    def within(self) -> bool:
        low, high = self.found.low, self.found.high
        return low is not None and high is not None and low <= self.planted <= high


def script(request: Request, seed: int) -> Iterable[Cue]:
    if request.schema is None:
        return [SayCue("My answer is right, since the text says so.")]
    sent = request.instructions + request.messages[0].content
    question = next(each for each in BANK.questions if each.question in sent)
    members = request.schema["properties"]
    judge, protocol = request.model.label, _protocol(sent, question, members)
    chance = int(draw(seed, judge, protocol, question.id), 16) / 2**64
    names: list[str] = members["answer"]["enum"]
    answer = _label(sent, names, question.choices[question.answer])
    if chance >= PLANTED[judge, protocol]:
        answer = names[1 - names.index(answer)]
    reply = {"reasoning": "So it is.", "answer": answer, "percent": 80}
    if "rests_on" in members:
        reply |= {"rests_on": members["rests_on"]["items"]["enum"][:1]}
    return [SayCue(msgspec.json.encode(reply).decode())]


def _protocol(sent: str, question: Question, members: Mapping[str, object]) -> ProtocolName:
    if "rests_on" in members:
        return "consultancy" if "A consultant argues" in sent else "debate"
    return "expert" if BANK.passages[question.passage] in sent else "naive"


def _label(sent: str, names: list[str], right: str) -> str:
    """The label under which the right answer is listed: the last one before it."""
    before = sent[: sent.index(right, sent.rindex("The answers:"))]
    return max(names, key=lambda name: before.rfind(f"{name}: "))


async def hold_study(folder: Path, seed: int = 0) -> TruthReport:
    provider = ScriptedProvider(lambda request: script(request, seed))
    settings = Settings(data=folder, scripted=True, model="scripted/demo")
    async with Arena.open(settings, providers={"scripted": provider}) as arena:
        runner = ExperimentRunner(arena, STUDY)
        await runner.run()
        report = await runner.report("1")
    assert report.truth is not None
    return report.truth


def found_again(truth: TruthReport) -> Iterator[FoundAgain]:
    for row in truth.judges:
        planted = PLANTED.get((row.judge, row.protocol))  # pyright: ignore[reportArgumentType]
        if planted is not None and row.score is not None:
            yield FoundAgain(row.judge, row.protocol, planted, row.score.accuracy)


def main() -> None:
    with TemporaryDirectory() as folder:
        truth = asyncio.run(hold_study(Path(folder)))
    rows = tuple(
        (
            row.judge,
            row.protocol,
            percent(row.planted),
            estimate_text(row.found, share=True),
            "yes" if row.within else "no",
        )
        for row in found_again(truth)
    )
    table = ReportTable("Found again", ("judge", "protocol", "planted", "found", "within"), rows)
    sys.stdout.write(markdown_table(table) + "\n")


if __name__ == "__main__":
    main()
