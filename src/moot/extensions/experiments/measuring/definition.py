"""An experiment as a file: which models debate which motions, in which format, before which judges.

`read_definition` reads the TOML file and reports everything that is wrong with it at once. A definition is
stored with its motions written out, so that it can be resumed without the file. Running it again with more
models, motions or repeats extends it; a change that would mix different debates is refused.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from difflib import get_close_matches
from math import isfinite
from pathlib import Path
from random import Random
from typing import Any, Literal
from unicodedata import category

import msgspec
from msgspec import Struct, field

from moot.core.errors import Invalid
from moot.core.setup_table import setup_fields
from moot.core.terms import MAX_MOTION_CHARS, MIN_MOTION_CHARS, MOTION_LENGTH, Money
from moot.extensions.experiments.measuring.bank_motions import (
    MotionDifficulty,
    MotionKind,
    draw_motions,
    find_motions,
)
from moot.extensions.experiments.measuring.model_names import ModelSettings, named_with, read_name
from moot.extensions.experiments.measuring.planned_questions import JUDGED, PROTOCOLS, ProtocolName
from moot.extensions.experiments.measuring.questions import Question, QuestionSource, load_questions

Pairing = Literal["round-robin", "swiss", "adaptive", "self"]
MAX_MODELS = 100
MAX_MOTIONS = 10_000
MAX_REPEATS = MAX_MATCHUPS = 100_000
MAX_CONCURRENCY = 1_000
MAX_SEED = 2**62
"""As far as it can be stored, with the seeds of repeats."""
MAX_DOLLARS = Decimal(1_000_000_000)
LEAST_DOLLARS = Decimal("0.000001")
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
FIXED = ("format", "rounds", "judges", "options", "seed", "pairing", "quote_words", "revise")
"""What must stay the same when an experiment is extended; otherwise its debates are not comparable."""


class MotionSource(Struct, frozen=True, forbid_unknown_fields=True):
    """Motions from a text file with one motion a line, or from the bank (`moot motions`)."""

    file: str = ""
    bank: bool = False
    theme: str | None = None
    kind: MotionKind | None = None
    difficulty: MotionDifficulty | None = None
    count: int | None = None
    """So many of them, chosen by the seed; all by default."""


class ExperimentDefinition(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What an experiment file says. `motions` are the texts, wherever they came from."""

    name: str
    models: tuple[str, ...]
    motions: tuple[str, ...] = ()
    format: str = "oxford"
    """Empty where there are questions: each protocol has its own."""
    rounds: int | None = None
    judges: tuple[str, ...] = ()
    """Without any, each debate is judged by the model that `moot` would choose for it."""
    repeats: int = 1
    """How often each side-swapped matchup is held."""
    pairing: Pairing = "round-robin"
    matchups: int | None = None
    """With `swiss` and `adaptive`: how many matchups in all."""
    budget: Money | None = None
    """US dollars for all debates together, never exceeded."""
    debate_limit: Money | None = None
    """The cost limit of each debate; with a budget, the smallest possible one by default."""
    seed: int = 0
    concurrency: int = 4
    """Debates that are held at the same time."""
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    """Further options of each debate: intensity, objective, blind, prep, beliefs and so on."""
    questions: tuple[Question, ...] = ()
    """Instead of motions: questions with a known answer."""
    passages: dict[str, str] = field(default_factory=dict[str, str])
    """What the questions are about, by the key that they name."""
    protocols: tuple[ProtocolName, ...] = ()
    quote_words: int | None = None
    """With questions: how many words of the passage each speaker may quote in a debate and have confirmed."""
    revise: bool = False
    """With questions: each speech is drafted, criticised and revised."""

    @property
    def judging_debaters(self) -> tuple[str, ...]:
        """The models that argue and judge, with whatever settings."""
        judges, debaters = ({read_name(name)[0] for name in names} for names in (self.judges, self.models))
        return tuple(sorted(judges & debaters))

    def to_json(self) -> str:
        return msgspec.json.encode(self).decode()


class ModelEntry(ModelSettings, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A model with settings: `{model = "openai/gpt-6-luna", effort = "high"}`."""

    model: str


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    """The file as written: motions inline or named."""

    name: str
    models: tuple[str | ModelEntry, ...]
    motions: tuple[str, ...] | MotionSource = ()
    questions: QuestionSource | None = None
    protocols: tuple[ProtocolName, ...] = ()
    quote_words: int | None = None
    revise: bool = False
    format: str | None = None
    rounds: int | None = None
    judges: tuple[str | ModelEntry, ...] = ()
    repeats: int = 1
    pairing: Pairing = "round-robin"
    matchups: int | None = None
    budget: float | str | None = None
    debate_limit: float | str | None = None
    seed: int = 0
    concurrency: int = 4
    options: dict[str, Any] = field(default_factory=dict[str, Any])


OPTION_TYPES = {field.name: field.kind for field in setup_fields() if field.experiments}
OPTIONS = frozenset(OPTION_TYPES)
QUESTION_OPTIONS = frozenset({"intensity", "turn_seconds", "recuse", "tools", "reading", "beliefs"})


def from_json(text: str) -> ExperimentDefinition:
    return msgspec.json.decode(text, type=ExperimentDefinition)


def _known_fields(problem: str) -> str:
    """The fields that there are, and the nearest one, where the problem is one that there is not."""
    unknown = re.search(r"unknown field `([^`]+)`", problem)
    if unknown is None:
        return ""
    sources = {
        "$.motions": MotionSource,
        "$.questions": QuestionSource,
        "$.models": ModelEntry,
        "$.judges": ModelEntry,
    }
    fields = next((source for place, source in sources.items() if place in problem), _File)
    names = [each.encode_name for each in msgspec.structs.fields(fields)]
    close = get_close_matches(unknown[1], names, n=1)
    meant = f" Did you mean {close[0]}?" if close else ""
    return f"{meant} Known fields: {', '.join(names)}."


def read_definition(path: Path) -> ExperimentDefinition:
    """Read and check a file. Raises Invalid with everything that is wrong with it."""
    try:
        written = msgspec.convert(tomllib.loads(path.read_text("utf-8")), _File, strict=True)
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror}.") from None
    except msgspec.ValidationError as error:
        raise Invalid(f"{path}: {error}.{_known_fields(str(error))}") from None
    except (ValueError, RecursionError) as error:
        # What is no TOML, no UTF-8, or a number of thousands of digits.
        raise Invalid(f"{path}: {error}.") from None
    if not -MAX_SEED <= written.seed <= MAX_SEED:
        raise Invalid(f"{path}: `seed` may have at most 18 digits.")
    values = msgspec.structs.asdict(written)
    values |= {name: _names(getattr(written, name)) for name in ("models", "judges")}
    if written.questions is not None:
        values |= _questions(written, written.questions, path)
    else:
        values |= {"motions": _motions(written, path.parent), "format": written.format or "oxford"}
        values["questions"] = ()
        if written.protocols:
            raise Invalid(f"{path}: `protocols` are for questions; name `questions`, not `motions`.")
    for name in ("budget", "debate_limit"):
        values[name] = _amount(name, values[name])
    definition = ExperimentDefinition(**values)
    problems = check_definition(definition)
    if problems:
        raise Invalid(f"{path}: {' '.join(problems)}")
    return definition


def check_definition(definition: ExperimentDefinition) -> list[str]:
    """What is wrong with it, a sentence each. Whether models and format exist is checked when it is run."""
    models = definition.models
    known = QUESTION_OPTIONS if definition.questions else OPTIONS
    checks = (
        (
            NAME.fullmatch(definition.name) is None,
            f"The name {definition.name!r} may have lower-case letters, digits and hyphens, 64 at most.",
        ),
        (len(set(models)) < len(models), f"`models` has {_twice(models)} twice."),
        (
            not 1 <= definition.repeats <= MAX_REPEATS,
            f"`repeats` must be at least 1, and at most {MAX_REPEATS:,}.",
        ),
        (
            not 1 <= definition.concurrency <= MAX_CONCURRENCY,
            f"`concurrency` must be at least 1, and at most {MAX_CONCURRENCY:,}.",
        ),
        (
            "human" in (*models, *definition.judges),
            "`human` cannot be in an experiment: name models. What people think of its debates is added with "
            "`moot experiment votes`.",
        ),
        *_option_checks(definition.options),
        (
            not definition.options.keys() <= known,
            f"`options` can have {', '.join(sorted(known))}, "
            f"not {', '.join(sorted(definition.options.keys() - known))}.",
        ),
        (definition.budget is not None and definition.budget <= 0, "`budget` must be greater than 0."),
        *(_question_checks(definition) if definition.questions else _motion_checks(definition)),
    )
    return [sentence for wrong, sentence in checks if wrong]


def _option_checks(options: dict[str, Any]) -> Iterator[tuple[bool, str]]:
    for name, value in options.items():
        try:
            msgspec.convert(value, OPTION_TYPES.get(name, Any))
        except msgspec.ValidationError as error:
            yield True, f"`options.{name}`: {error}."
        if isinstance(value, float) and not isfinite(value):
            yield True, f"`options.{name}` must be a number."


def _motion_checks(definition: ExperimentDefinition) -> tuple[tuple[bool, str], ...]:
    models, motions = definition.models, definition.motions
    return (
        (not 2 <= len(models) <= MAX_MODELS, f"`models` needs 2 to {MAX_MODELS} models."),
        (not motions, "`motions` is empty."),
        (len(motions) > MAX_MOTIONS, f"`motions` may have at most {MAX_MOTIONS:,}."),
        (len(set(motions)) < len(motions), f"`motions` has {_twice(motions)!r} twice."),
        *(
            (True, f"`motions`, number {number}: {MOTION_LENGTH.lower()}, none of them a control character.")
            for number in list(_unusable(motions))[:3]
        ),
        (definition.pairing == "self", '`pairing = "self"` is for questions.'),
        (definition.quote_words is not None, "`quote_words` is for questions."),
        (definition.revise, "`revise` is for questions."),
        (
            definition.pairing in ("swiss", "adaptive") and not definition.matchups,
            f'`matchups` is needed with `pairing = "{definition.pairing}"`: how many to hold in all.',
        ),
        (
            definition.matchups is not None and not 1 <= definition.matchups <= MAX_MATCHUPS,
            f"`matchups` must be at least 1, and at most {MAX_MATCHUPS:,}.",
        ),
    )


def _question_checks(definition: ExperimentDefinition) -> tuple[tuple[bool, str], ...]:
    models, protocols = definition.models, definition.protocols
    return (
        (not 1 <= len(models) <= MAX_MODELS, f"`models` needs 1 to {MAX_MODELS} models."),
        (not protocols, f"`protocols` is empty; there are: {', '.join(PROTOCOLS)}."),
        (len(set(protocols)) < len(protocols), f"`protocols` has {_twice(protocols)} twice."),
        (bool(definition.motions), "There can be `motions` or `questions`, not both."),
        (bool(definition.format), "`format` is for motions; with questions each protocol has its own."),
        (
            not definition.judges and any(name in JUDGED for name in protocols),
            "`judges` are needed, to say which answer they think right.",
        ),
        (
            definition.rounds == 1 and "interactive-debate" in protocols,
            "An interactive debate needs two rounds: the judge asks before the second.",
        ),
        (
            len(set(definition.judges)) < len(definition.judges),
            f"`judges` has {_twice(definition.judges)} twice.",
        ),
        (
            definition.pairing not in ("round-robin", "self"),
            '`pairing` can be "round-robin" or "self" with questions.',
        ),
        (
            definition.quote_words is not None and definition.quote_words < 0,
            "`quote_words` must be 0 or more.",
        ),
        (definition.matchups is not None, "`matchups` is for motions; take fewer questions with `count`."),
    )


def check_extension(before: ExperimentDefinition, after: ExperimentDefinition) -> None:
    """Raises Invalid where `after` changes what must stay the same, or leaves out what was there."""
    changed = [name for name in FIXED if getattr(before, name) != getattr(after, name)]
    dropped = [
        name
        for name in ("models", "motions", "questions", "protocols")
        if not {*getattr(before, name)} <= {*getattr(after, name)}
    ]
    if changed or dropped:
        what = ", ".join(f"`{name}`" for name in (*changed, *dropped))
        raise Invalid(
            f"The experiment {after.name} has been run with other {what}. Models, motions, questions and "
            "protocols can be added, and `repeats`, `budget`, `matchups` and `concurrency` can change; for "
            "anything else choose a new name."
        )


def _names(entries: Sequence[str | ModelEntry]) -> tuple[str, ...]:
    return tuple(each if isinstance(each, str) else named_with(each.model, each) for each in entries)


def _questions(written: _File, source: QuestionSource, path: Path) -> dict[str, Any]:
    if written.motions:
        raise Invalid(f"{path}: There can be `motions` or `questions`, not both.")
    found = load_questions(source, path.parent, written.seed)
    return {
        "questions": found.questions,
        "passages": found.passages,
        "protocols": written.protocols or _all_protocols(written.rounds),
        "format": written.format or "",
        "pairing": "self" if len(written.models) == 1 else written.pairing,
        "motions": (),
    }


def _all_protocols(rounds: int | None) -> tuple[ProtocolName, ...]:
    """An interactive debate needs two rounds."""
    return tuple(name for name in PROTOCOLS if rounds != 1 or name != "interactive-debate")


def _motions(written: _File, folder: Path) -> tuple[str, ...]:
    source = written.motions
    if not isinstance(source, MotionSource):
        return tuple(motion.strip() for motion in source)
    if bool(source.file) == source.bank:
        raise Invalid("`motions` needs a list of motions, `file`, or `bank = true`.")
    if source.count is not None and source.count < 1:
        raise Invalid("`count` must be at least 1.")
    if source.bank:
        chosen = find_motions(theme=source.theme, kind=source.kind, difficulty=source.difficulty)
        count = len(chosen) if source.count is None else source.count
        return tuple(motion.text for motion in draw_motions(chosen, count, written.seed))
    try:
        lines = (folder / source.file).read_text("utf-8").splitlines()
    except OSError as error:
        raise Invalid(f"{folder / source.file} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise Invalid(f"The file of `motions` cannot be read: {error}.") from None
    texts = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    count = len(texts) if source.count is None else min(source.count, len(texts))
    return tuple(Random(written.seed).sample(texts, count))


def _amount(name: str, value: float | str | None) -> Decimal | None:
    if value is None:
        return None
    try:
        amount = Decimal(str(value))
    except ArithmeticError:
        raise Invalid(f"`{name}` must be an amount in US dollars.") from None
    if not amount.is_finite() or amount <= 0:
        raise Invalid(f"`{name}` must be greater than 0.")
    if not LEAST_DOLLARS <= amount <= MAX_DOLLARS:
        raise Invalid(f"`{name}` must be between {LEAST_DOLLARS} and {MAX_DOLLARS:,} US dollars.")
    return amount


def _unusable(motions: Sequence[str]) -> Iterator[int]:
    """The numbers of the motions that no debate can have."""
    for number, motion in enumerate(motions, 1):
        is_long = MIN_MOTION_CHARS <= len(motion) <= MAX_MOTION_CHARS
        if not is_long or any(category(character) == "Cc" for character in motion):
            yield number


def _twice(values: Sequence[str]) -> str:
    return next((value for value, count in Counter(values).items() if count > 1), "")
