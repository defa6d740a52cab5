"""Questions with a known answer, and where they come from: JSON lines, QuALITY-like files, CSV, our bank.

A question has choices, of which one is right, and may have a passage that debaters read and judges do not. Of
more than two choices the right one and one other are used: the best distractor where the file names it, as
QuALITY does, else one chosen by the seed. Passages are kept once, under the digest of their text, which also
says which questions belong together.
"""

from __future__ import annotations

import csv
import json
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any, Literal, cast

from msgspec import Struct
from msgspec.structs import replace

from moot.core.errors import Invalid
from moot.core.terms import MAX_MOTION_CHARS
from moot.extensions.experiments import measuring
from moot.extensions.experiments.measuring.pairing import draw

MAX_QUESTIONS = 10_000
MAX_PASSAGE_CHARS = 200_000
LETTERS = "ABCDEFGHIJ"
Distractor = Literal["best", "random"]


class Question(Struct, frozen=True, omit_defaults=True):
    """One question with its choices, of which one is right."""

    id: str
    question: str
    choices: tuple[str, ...]
    answer: int
    """The index of the right choice."""
    passage: str = ""
    """The key of its passage in `QuestionSet.passages`; empty where it has none."""
    distractor: int | None = None
    """The index of the wrong choice that is easiest to take for the right one, where that is known."""


class QuestionSet(Struct, frozen=True):
    """Questions, and the passages that they are about, each once."""

    questions: tuple[Question, ...]
    passages: dict[str, str]


class QuestionSource(Struct, frozen=True, forbid_unknown_fields=True):
    """Questions from a .jsonl, .json or .csv file, or from the bank that comes with Moot."""

    file: str = ""
    bank: bool = False
    count: int | None = None
    """So many of them, chosen by the seed; all by default."""
    distractor: Distractor = "best"
    """Which wrong choice is argued for: the best one where it is known, or one chosen by the seed."""


class ChoicesInPlay(Struct, frozen=True):
    """The two choices of a question that are argued for, in the order of the unswapped debate."""

    choices: tuple[str, str]
    right: int
    """The index of the right one of these two."""


def in_play(question: Question, seed: int) -> ChoicesInPlay:
    """The right choice and its best distractor, or one that the seed decides, in an order that it decides.

    >>> asked = Question("q1", "Which is it?", ("red", "green", "blue"), answer=2)
    >>> in_play(asked, 0) == in_play(asked, 0), in_play(asked, 0).choices[in_play(asked, 0).right]
    (True, 'blue')
    """
    others = [text for index, text in enumerate(question.choices) if index != question.answer]
    chance = Random(draw(seed, 0, question.id))
    right, wrong = question.choices[question.answer], chance.choice(others)
    if question.distractor is not None:
        wrong = question.choices[question.distractor]
    return ChoicesInPlay((right, wrong), 0) if chance.random() < 0.5 else ChoicesInPlay((wrong, right), 1)


def load_questions(source: QuestionSource, folder: Path, seed: int) -> QuestionSet:
    """The questions of a file or of the bank. Raises Invalid with everything that is wrong with them."""
    if bool(source.file) == source.bank:
        raise Invalid("`questions` needs `file`, or `bank = true`.")
    found = question_bank() if source.bank else read_questions(folder / source.file)
    if source.distractor == "random":
        found = replace(found, questions=tuple(replace(each, distractor=None) for each in found.questions))
    if source.count is None or source.count >= len(found.questions):
        return found
    if source.count < 1:
        raise Invalid("`count` must be at least 1.")
    order = sorted(found.questions, key=lambda each: draw(seed, 0, each.id))
    chosen = tuple(order[: source.count])
    used = {each.passage for each in chosen}
    return QuestionSet(chosen, {key: text for key, text in found.passages.items() if key in used})


@cache
def question_bank() -> QuestionSet:
    """Our own questions, each with a short passage that we wrote."""
    text = files(measuring).joinpath("question_bank.jsonl").read_text("utf-8")
    return _question_set(_json_rows(text, "question_bank.jsonl"), "question_bank.jsonl")


def read_questions(path: Path) -> QuestionSet:
    """JSON lines, a JSON list, or CSV. Raises Invalid with everything that is wrong with it."""
    try:
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise Invalid(f"{path} is not UTF-8.") from None
    except ValueError as error:
        raise Invalid(f"The file of `questions` cannot be read: {error}.") from None
    rows = _csv_rows(text) if path.suffix.lower() == ".csv" else _json_rows(text, str(path))
    return _question_set(rows, str(path))


# --- rows -----------------------------------------------------------------------------------------------


def _json_rows(text: str, source: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    whole = text.lstrip().startswith("[")
    try:
        found: Any = (
            json.loads(text) if whole else [json.loads(line) for line in text.splitlines() if line.strip()]
        )
    except json.JSONDecodeError as error:
        raise Invalid(f"{source} is not JSON: {error}.") from None
    for number, row in enumerate(cast("list[Any]", found), 1):
        if not isinstance(row, dict):
            raise Invalid(f"{source}: row {number} is no JSON object.")
        yield number, cast("dict[str, Any]", row)


def _csv_rows(text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Columns `question`, `answer`, and `choices` with | between them, or a column for each choice
    (`choice_1`, `A` …)."""
    for number, row in enumerate(csv.DictReader(text.splitlines(keepends=True)), 2):
        filled = {name: value.strip() for name, value in row.items() if name and isinstance(value, str)}
        named = [
            value for name, value in filled.items() if name.lower().startswith("choice_") or name in LETTERS
        ]
        listed = [part.strip() for part in filled.get("choices", "").split("|") if part.strip()]
        yield number, {**filled, "choices": listed or [value for value in named if value]}


def _question_set(rows: Iterator[tuple[int, Mapping[str, Any]]], source: str) -> QuestionSet:
    questions: list[Question] = []
    passages: dict[str, str] = {}
    problems: list[str] = []
    for number, row in rows:
        passage = str(row.get("passage") or row.get("article") or row.get("context") or "").strip()
        key = blake2b(passage.encode(), digest_size=8).hexdigest() if passage else ""
        nested: Any = row.get("questions")
        each_of = cast("list[Any]", nested) if isinstance(nested, list) else [row]
        for place, one in enumerate(each_of, 1):
            given: Mapping[str, Any] = one if isinstance(one, dict) else {}
            article = str(row.get("article_id") or number)
            name = f"{article}-{place}" if len(each_of) > 1 or nested else str(number)
            try:
                questions.append(_question(given, key, name))
            except Invalid as error:
                problems.append(f"Row {number}: {error}")
        if key:
            passages[key] = passage
        if len(passage) > MAX_PASSAGE_CHARS:
            problems.append(f"Row {number}: a passage may have at most {MAX_PASSAGE_CHARS:,} characters.")
    names = [each.id for each in questions]
    if (
        twice := next((name for name in names if names.count(name) > 1), "")
        if len(set(names)) < len(names)
        else ""
    ):
        problems.append(f"The id {twice!r} is given twice.")
    if not questions and not problems:
        problems.append("There are no questions in it.")
    if len(questions) > MAX_QUESTIONS:
        problems.append(f"At most {MAX_QUESTIONS:,} questions.")
    if problems:
        shown = problems[:10]
        more = f" And {len(problems) - 10} more." if len(problems) > 10 else ""
        raise Invalid(f"{source}: {' '.join(shown)}{more}")
    return QuestionSet(tuple(questions), passages)


def _question(row: Mapping[str, Any], passage: str, usual_id: str) -> Question:
    text = _one_line(row.get("question"))
    given: Any = row.get("choices") or row.get("options") or []
    choices = tuple(_one_line(choice) for choice in cast("Sequence[Any]", given))
    if not text or len(text) > MAX_MOTION_CHARS:
        raise Invalid(f"a question has 1 to {MAX_MOTION_CHARS} characters.")
    if len(choices) < 2 or len(set(choices)) < len(choices) or not all(choices):
        raise Invalid("a question needs at least two different choices.")
    name = row.get("id") or row.get("question_unique_id") or usual_id
    right = _right(row, choices)
    return Question(str(name), text, choices, right, passage, _distractor(row, choices, right))


def _one_line(text: Any) -> str:
    """The text without line breaks and other control characters."""
    plain = "".join(" " if unicodedata.category(char) in ("Cc", "Cs") else char for char in str(text or ""))
    return " ".join(plain.split())


def _right(row: Mapping[str, Any], choices: Sequence[str]) -> int:
    """`gold_label` counts from 1, as in QuALITY; `answer` is an index from 0, a letter, or the choice."""
    gold: Any = row.get("gold_label")
    if gold is not None and str(gold).isdigit() and 1 <= int(gold) <= len(choices):
        return int(gold) - 1
    if (found := _index(row.get("answer"), choices)) is not None:
        return found
    raise Invalid("`answer` must be one of the choices, its letter, or in JSON its number from 0.")


def _index(value: Any, choices: Sequence[str]) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(choices):
        return value
    named = _one_line(value)
    if choices.count(named) == 1:
        return choices.index(named)
    return (
        LETTERS.index(named.upper()) if len(named) == 1 and named.upper() in LETTERS[: len(choices)] else None
    )


def _distractor(row: Mapping[str, Any], choices: Sequence[str], right: int) -> int | None:
    """`distractor` is given like `answer`. In QuALITY each validator names the best one, from 1: the one that
    most name, the first of those that are named equally often."""
    if row.get("distractor") not in (None, ""):
        named = _index(row["distractor"], choices)
        if named is None or named == right:
            raise Invalid("`distractor` must be a wrong choice, its letter, or in JSON its number from 0.")
        return named
    validation: Any = row.get("validation")
    validators = cast("list[Any]", validation) if isinstance(validation, list) else []
    labels = Counter(
        int(label) - 1
        for each in validators
        if isinstance(each, dict)
        and isinstance(label := cast("dict[str, Any]", each).get("untimed_best_distractor"), int)
        and 1 <= label <= len(choices)
        and label - 1 != right
    )
    return min(labels, key=lambda index: (-labels[index], index)) if labels else None
