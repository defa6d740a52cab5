"""`manifest.json`: what an experiment was made from, so that others can hold it again and compare.

It has the definition with motions and questions written out, the software that exported it, the models with
what answered and what they cost, seeds, times, counts, and the SHA-256 of every file beside it. Each debate
is in it with the digest of what was said and of what the judges decided: two manifests are compared by these
alone. A `ManifestBuilder` is given one debate at a time, and keeps two digests of each.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

import msgspec
from msgspec import Struct

from moot.core.errors import Invalid
from moot.core.state import Debate
from moot.core.terms import Model, ModelPrice
from moot.extensions.experiments.measuring.call_rows import CallRow
from moot.extensions.experiments.measuring.definition import ExperimentDefinition
from moot.extensions.experiments.measuring.leg_results import LegResult
from moot.extensions.experiments.measuring.software import Software
from moot.views.text import plural

MANIFEST_FILE = "manifest.json"
DIGEST_CHARS = 32
SHOWN_LEGS = 3


class FileRecord(Struct, frozen=True):
    bytes: int
    sha256: str


class ModelRecord(Struct, frozen=True, omit_defaults=True):
    """A model that was asked for, and what its service says answered."""

    model: str
    calls: int = 0
    answered_by: tuple[str, ...] = ()
    service_tiers: tuple[str, ...] = ()
    """Those that answered, where the service says so."""
    prices: tuple[ModelPrice, ...] = ()
    """As the debates recorded them; several where a price changed between two debates."""


class DebateRecord(Struct, frozen=True, array_like=True):
    """One debate by its name in the plan, which is the same in every run."""

    leg: str
    transcript: str
    outcome: str
    """A digest of the ballots, rankings and answers of the experiment's own judges."""


class Manifest(Struct, frozen=True, kw_only=True):
    manifest: int = 1
    """The version of this format."""
    definition: ExperimentDefinition
    software: Software
    """Of the Moot that exported it."""
    prompts_used: tuple[int, ...]
    """The versions of the prompts with which the debates were held."""
    formats: dict[str, str]
    """The SHA-256 of each format as the debates had it."""
    models: tuple[ModelRecord, ...]
    seeds: tuple[int, ...]
    started_at: datetime | None
    ended_at: datetime | None
    counts: dict[str, int]
    """Rows of each table, and debates that failed."""
    files: dict[str, FileRecord]
    debates: tuple[DebateRecord, ...]


class ManifestBuilder:
    def __init__(self, definition: ExperimentDefinition, software: Software) -> None:
        self._definition, self._software = definition, software
        self._models: dict[str, _ModelCount] = {}
        self._formats: dict[str, str] = {}
        self._prompts: set[int] = set()
        self._seeds: set[int] = set()
        self._times: tuple[datetime, datetime] | None = None
        self._failed = 0
        self._debates: list[DebateRecord] = []

    def add(self, leg: str, result: LegResult, debate: Debate | None, calls: Iterable[CallRow] = ()) -> None:
        """Add one debate; without its log, only its result."""
        self._debates.append(debate_record(leg, result))
        self._failed += result.status == "error"
        self._seeds |= {result.seed} - {None}  # pyright: ignore[reportAttributeAccessIssue]
        for call in calls:
            self._model(call.model).add_call(call)
        if debate is None:
            return
        self._prompts.add(debate.prompts)
        self._formats.setdefault(debate.format.name, _digest(debate.format))
        first, last = self._times or (debate.created_at, debate.updated_at)
        self._times = (min(first, debate.created_at), max(last, debate.updated_at))
        for model in (*(seat.model for seat in debate.seats), *(judge.model for judge in debate.panel)):
            self._model(model.label).add_price(model)

    def manifest(self, counts: Mapping[str, int], files: Mapping[str, FileRecord]) -> Manifest:
        started_at, ended_at = self._times or (None, None)
        return Manifest(
            definition=self._definition,
            software=self._software,
            prompts_used=tuple(sorted(self._prompts)),
            formats=self._formats,
            models=tuple(self._models[name].record(name) for name in sorted(self._models)),
            seeds=tuple(sorted(self._seeds)),
            started_at=started_at,
            ended_at=ended_at,
            counts={**counts, "failed": self._failed},
            files=dict(files),
            debates=tuple(sorted(self._debates, key=lambda each: each.leg)),
        )

    def _model(self, name: str) -> _ModelCount:
        return self._models.setdefault(name, _ModelCount())


class _ModelCount:
    def __init__(self) -> None:
        self._calls = 0
        self._answered_by: set[str] = set()
        self._tiers: set[str] = set()
        self._prices: list[ModelPrice] = []

    def add_call(self, call: CallRow) -> None:
        self._calls += 1
        self._answered_by |= {call.answered_by} - {""}
        self._tiers |= {call.service_tier} - {""}

    def add_price(self, model: Model) -> None:
        if model.price is not None and model.price not in self._prices:
            self._prices.append(model.price)

    def record(self, name: str) -> ModelRecord:
        return ModelRecord(
            name,
            self._calls,
            tuple(sorted(self._answered_by)),
            tuple(sorted(self._tiers)),
            tuple(self._prices),
        )


def debate_record(leg: str, result: LegResult) -> DebateRecord:
    ballots = [
        (row.judging, row.judge, row.order, row.pro_label, row.winner, row.margin)
        for row in result.judgments
        if row.own
    ]
    rankings = [
        (row.judging, row.judge, row.order, row.labels, row.ranking) for row in result.rankings if row.own
    ]
    answers = [(each.judge, each.probabilities, each.readings) for each in result.answers if each.own]
    # In the order of their texts: earlier releases stored ballots as they came.
    decided = (result.status, *(sorted(map(repr, rows)) for rows in (ballots, rankings, answers)))
    return DebateRecord(leg, result.transcript, _digest(decided))


# --- files --------------------------------------------------------------------------------------------


def file_records(folder: Path, names: Iterable[str]) -> dict[str, FileRecord]:
    """The size and digest of those files that are there."""
    found: dict[str, FileRecord] = {}
    for name in sorted(names):
        path = folder / name
        if path.is_file():
            with path.open("rb") as file:
                found[name] = FileRecord(path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest())
    return found


def write_manifest(folder: Path, manifest: Manifest) -> None:
    text = msgspec.json.format(msgspec.json.encode(manifest), indent=2)
    (folder / MANIFEST_FILE).write_bytes(text + b"\n")


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a folder that `moot experiment export` has written. Raises Invalid."""
    path = folder / MANIFEST_FILE if folder.is_dir() else folder
    try:
        return msgspec.json.decode(path.read_bytes(), type=Manifest)
    except OSError as error:
        raise Invalid(
            f"{path} cannot be read: {error.strerror}. `moot experiment export NAME -o FOLDER` writes it."
        ) from None
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        raise Invalid(f"{path} is no manifest that this Moot can read: {error}.") from None


def manifest_digest(folder: Path) -> str:
    """The sha256 of the manifest of such a folder, by which a report cites the run. Raises Invalid."""
    read_manifest(folder)
    path = folder / MANIFEST_FILE if folder.is_dir() else folder
    return hashlib.sha256(path.read_bytes()).hexdigest()


# --- what differs -------------------------------------------------------------------------------------


class DebateComparison(Struct, frozen=True):
    """How far two runs of an experiment are the same."""

    common: int
    """Debates that both have."""
    only_one: int
    other_transcript: tuple[str, ...]
    other_outcome: tuple[str, ...]
    """The legs that differ."""

    @property
    def equal(self) -> bool:
        return bool(self.common) and not (self.only_one or self.other_transcript or self.other_outcome)

    @property
    def sentences(self) -> list[str]:
        if self.equal:
            return [f"Equal: transcripts and outcomes of {plural(self.common, 'debate')}."]
        told = [
            f"Of {plural(self.common, 'debate')} that both have, {len(self.other_transcript):,} have another "
            f"transcript and {len(self.other_outcome):,} another outcome."
        ]
        if self.only_one:
            told.append(f"{plural(self.only_one, 'debate')} only one of them has.")
        differing = dict.fromkeys((*self.other_transcript, *self.other_outcome))
        return told + [f"  {leg}" for leg in list(differing)[:SHOWN_LEGS]]


def compare_debates(one: Sequence[DebateRecord], other: Sequence[DebateRecord]) -> DebateComparison:
    first, second = ({each.leg: each for each in records} for records in (one, other))
    common = sorted(first.keys() & second.keys())
    return DebateComparison(
        common=len(common),
        only_one=len(first.keys() ^ second.keys()),
        other_transcript=tuple(leg for leg in common if first[leg].transcript != second[leg].transcript),
        other_outcome=tuple(leg for leg in common if first[leg].outcome != second[leg].outcome),
    )


def definition_differences(before: ExperimentDefinition, now: ExperimentDefinition) -> list[str]:
    names = [field for field in before.__struct_fields__ if field != "name"]
    changed = [name for name in names if getattr(before, name) != getattr(now, name)]
    return [f"Another {', '.join(f'`{name}`' for name in changed)} in the definition."] if changed else []


def price_differences(models: Iterable[ModelRecord], now: Mapping[str, ModelPrice | None]) -> list[str]:
    """The models whose price is not one that was recorded."""
    return [
        f"Another price now: {each.model}."
        for each in models
        if each.model in now and now[each.model] not in (each.prices or (None,))
    ]


def _digest(value: object) -> str:
    return hashlib.sha256(msgspec.json.encode(value)).hexdigest()[:DIGEST_CHARS]
