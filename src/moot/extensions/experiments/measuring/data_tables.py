"""What is exported of debates: the tables, their columns, and the data dictionary that is made from them.

Each table is a struct with a description at every field. The files (`table_files.py`), the page docs/data.md,
`dictionary.json` and the schemas for other programs (`table_schemas.py`) follow from these structs alone.
`debate_row` and `speech_rows` read a stored debate; other tables have modules of their own. Reasoning, secret
objectives, system prompts and requests as they were sent are in no table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import cache
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from msgspec import Meta, Struct, structs

from moot.core.state import Debate, Turn
from moot.core.terms import Usage
from moot.extensions.experiments.measuring.ballot_rows import BallotRow, RankingRow, VoteRow
from moot.extensions.experiments.measuring.belief_rows import AudienceRow, BeliefRow
from moot.extensions.experiments.measuring.call_rows import CallRow
from moot.extensions.experiments.measuring.debate_judgments import party_model, speech_issue
from moot.extensions.experiments.measuring.judge_answers import AnswerRow
from moot.extensions.experiments.measuring.judgments import SpeechIssue, group_name
from moot.extensions.experiments.measuring.leg_results import LegResult
from moot.extensions.experiments.measuring.model_names import contestant_name
from moot.extensions.experiments.measuring.transcripts import debate_seed
from moot.judging.parties import parties
from moot.views.outcome import ending, headline

TableName = Literal[
    "debates",
    "speeches",
    "ballots",
    "rankings",
    "answers",
    "votes",
    "beliefs",
    "audience",
    "calls",
    "ratings",
]
ColumnType = Literal["text", "whole number", "number", "yes or no", "time", "list"]


class DebateRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One debate."""

    debate: Annotated[str, Meta(description="The id of the debate.")]
    experiment: Annotated[str, Meta(description="The name of the experiment, if it belongs to one.")] = ""
    group: Annotated[str, Meta(description="The side-swapped matchup; the same in `ballots`.")] = ""
    motion: Annotated[str, Meta(description="What was debated.")] = ""
    format: Annotated[str, Meta(description="The format of the debate.")] = ""
    status: Annotated[str, Meta(description="`completed`, `aborted`, `error`, or where it stands now.")] = ""
    models: Annotated[
        tuple[str, ...], Meta(description="The model of each team or side, in the order of the format.")
    ] = ()
    sides: Annotated[tuple[str, ...], Meta(description="What each of them argues: `for` or `against`.")] = ()
    judges: Annotated[tuple[str, ...], Meta(description="The models of all who were asked to judge.")] = ()
    outcome: Annotated[
        str, Meta(description="`win`, `draw`, `too-close`; empty where there is no verdict.")
    ] = ""
    winner: Annotated[str, Meta(description="The model that won, by the first verdict.")] = ""
    winner_side: Annotated[str, Meta(description="The side that won.")] = ""
    agreement: Annotated[
        float | None, Meta(description="The share of ballots of the verdict that name the winner.")
    ] = None
    flips: Annotated[
        int | None, Meta(description="Judges who named another winner in their second reading.")
    ] = None
    headline: Annotated[str, Meta(description="The verdict in a sentence; of one that failed, why.")] = ""
    speeches: Annotated[int | None, Meta(description="Speeches with words.")] = None
    words: Annotated[int | None, Meta(description="Words that were heard, of all speeches.")] = None
    input_tokens: Annotated[int | None, Meta(description="Tokens read, judges included.")] = None
    output_tokens: Annotated[int | None, Meta(description="Tokens written, reasoning included.")] = None
    calls: Annotated[int | None, Meta(description="Calls of models, with those that failed.")] = None
    cost: Annotated[
        float | None, Meta(description="US dollars, judging included; missing where a price is not known.")
    ] = None
    seconds: Annotated[float | None, Meta(description="From the first event of its log to the last.")] = None
    seed: Annotated[int | None, Meta(description="The seed that was sent to the models.")] = None
    prompts: Annotated[int | None, Meta(description="The version of Moot's prompts.")] = None
    created_at: Annotated[datetime | None, Meta(description="When it was opened.")] = None
    ended_at: Annotated[datetime | None, Meta(description="When it ended.")] = None


class SpeechRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One speech, also one that failed or was cut. Speeches that were struck and given again are left out."""

    debate: Annotated[str, Meta(description="The id of the debate.")]
    speech: Annotated[int, Meta(description="Its number in the debate.")]
    experiment: Annotated[str, Meta(description="The name of the experiment, if it belongs to one.")] = ""
    motion: Annotated[str, Meta(description="What was debated.")] = ""
    round: Annotated[int, Meta(description="The round, from 1.")] = 0
    phase: Annotated[str, Meta(description="The phase of the format, such as `opening`.")] = ""
    seat: Annotated[str, Meta(description="Who speaks.")] = ""
    side: Annotated[str, Meta(description="`for`, `against`, or `neutral` for a moderator.")] = ""
    model: Annotated[str, Meta(description="The model that speaks.")] = ""
    state: Annotated[str, Meta(description="`completed`, `failed` or `interrupted`.")] = ""
    issue: Annotated[SpeechIssue | None, Meta(description="What went wrong.")] = None
    words: Annotated[int, Meta(description="Words of the whole speech.")] = 0
    heard_words: Annotated[int, Meta(description="Words within its budget, which the others heard.")] = 0
    input_tokens: Annotated[int, Meta(description="Tokens that the model read.")] = 0
    output_tokens: Annotated[int, Meta(description="Tokens that it wrote, reasoning included.")] = 0
    reasoning_tokens: Annotated[int, Meta(description="Tokens of reasoning.")] = 0
    cost: Annotated[float | None, Meta(description="US dollars; missing if the price is unknown.")] = None
    seconds: Annotated[float, Meta(description="Of its last call, from the request to the end.")] = 0.0
    started_at: Annotated[datetime | None, Meta(description="When it began.")] = None
    ended_at: Annotated[datetime | None, Meta(description="When it ended.")] = None
    text: Annotated[str, Meta(description="What was said, also beyond the budget.")] = ""


class RatingRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One model: its rating, and what its debates took. How ratings are made is in experiments.md."""

    model: Annotated[str, Meta(description="The model.")]
    experiment: Annotated[str, Meta(description="The name of the experiment, if it belongs to one.")] = ""
    rank: Annotated[int | None, Meta(description="By rating, from 1.")] = None
    best_rank: Annotated[
        int | None, Meta(description="One more than the number of models that are separable and better.")
    ] = None
    worst_rank: Annotated[int | None, Meta(description="The same from below.")] = None
    rating: Annotated[
        float | None, Meta(description="400 points are odds of ten to one; the mean of all models is 1500.")
    ] = None
    low: Annotated[
        float | None, Meta(description="Lower end of the 95 % interval; missing where it is open.")
    ] = None
    high: Annotated[float | None, Meta(description="Upper end of the 95 % interval.")] = None
    win_share: Annotated[
        float | None, Meta(description="Of the decided ballots, ties as halves; depends on the opponents.")
    ] = None
    expected_share: Annotated[
        float | None, Meta(description="Against every other model once, without the advantage of a side.")
    ] = None
    debates: Annotated[int | None, Meta(description="Debates in which it argued.")] = None
    groups: Annotated[int | None, Meta(description="Side-swapped matchups that count for its rating.")] = None
    with_issues: Annotated[int | None, Meta(description="Its debates in which something went wrong.")] = None
    words: Annotated[float | None, Meta(description="Words of a debate, on average.")] = None
    seconds: Annotated[float | None, Meta(description="Seconds of its calls in a debate, on average.")] = None
    cost: Annotated[float | None, Meta(description="US dollars of a debate, on average.")] = None
    wins_per_dollar: Annotated[float | None, Meta(description="Debates won for each US dollar.")] = None


TABLES: Mapping[TableName, type[Struct]] = {
    "debates": DebateRow,
    "speeches": SpeechRow,
    "ballots": BallotRow,
    "rankings": RankingRow,
    "answers": AnswerRow,
    "votes": VoteRow,
    "beliefs": BeliefRow,
    "audience": AudienceRow,
    "calls": CallRow,
    "ratings": RatingRow,
}


class Column(Struct, frozen=True):
    """One column of a table, as the data dictionary tells it."""

    name: str
    type: ColumnType
    of: ColumnType | None
    """What a list consists of; lists of lists are written as JSON."""
    optional: bool
    """Whether values may be missing."""
    values: tuple[str, ...]
    """All values that it can have, where these are few."""
    description: str


class TableDescription(Struct, frozen=True):
    table: TableName
    description: str
    columns: tuple[Column, ...]


# --- the dictionary -----------------------------------------------------------------------------------


@cache
def data_dictionary() -> tuple[TableDescription, ...]:
    """What every column of every table means."""
    return tuple(
        TableDescription(name, " ".join((row.__doc__ or "").split("\n\n")[0].split()), columns_of(row))
        for name, row in TABLES.items()
    )


@cache
def columns_of(row: type[Struct]) -> tuple[Column, ...]:
    hints = get_type_hints(row, include_extras=True)
    return tuple(_column(field.name, hints[field.name]) for field in structs.fields(row))


def dictionary_markdown() -> str:
    """The dictionary as tables of Markdown, which docs/data.md consists of."""
    parts: list[str] = []
    for table in data_dictionary():
        lines = ["| column | type | what it is |", "|---|---|---|"]
        lines += [f"| `{each.name}` | {_type_text(each)} | {each.description} |" for each in table.columns]
        parts.append(f"## {table.table}\n\n{table.description}\n\n" + "\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _type_text(column: Column) -> str:
    kind = f"list of {column.of}" if column.of else column.type
    values = f": {', '.join(f'`{value}`' for value in column.values)}" if column.values else ""
    return f"{kind}{values}{', may be missing' if column.optional else ''}"


SCALARS: Mapping[type, ColumnType] = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "yes or no",
    datetime: "time",
}


def _column(name: str, hint: Any) -> Column:
    inner, *metas = get_args(hint)
    description = next((meta.description for meta in metas if isinstance(meta, Meta)), None)
    kind, optional = _without_none(inner)
    if get_origin(kind) is tuple:
        item, _ = _without_none(get_args(kind)[0])
        of: ColumnType = "list" if get_origin(item) is tuple else _scalar(item)
        return Column(name, "list", of, optional, _choices(item), description or "")
    return Column(name, _scalar(kind), None, optional, _choices(kind), description or "")


def _without_none(hint: Any) -> tuple[Any, bool]:
    options = get_args(hint)
    if type(None) not in options:
        return hint, False
    return next(one for one in options if one is not type(None)), True


def _scalar(hint: Any) -> ColumnType:
    return "text" if get_origin(hint) is Literal else SCALARS[hint]


def _choices(hint: Any) -> tuple[str, ...]:
    return get_args(hint) if get_origin(hint) is Literal else ()


def with_all_members(row: Struct) -> dict[str, Any]:
    """A row as a dictionary with every column, also those that have their default."""
    return {name: getattr(row, name) for name in row.__struct_fields__}


# --- rows of a stored debate --------------------------------------------------------------------------


def debate_row(debate: Debate, *, experiment: str = "", group: str = "") -> DebateRow:
    """The row of a stored debate; by default, of the experiment that its log names."""
    teams = parties(debate)
    models = tuple(party_model(team) for team in teams)
    tag, verdict = debate.setup.experiment, debate.verdict
    tallies = debate.tallies.values()
    usage = sum((tally.usage for tally in tallies), Usage())
    winner = next((team for team in teams if verdict and team.id == verdict.winner), None)
    spoken = [turn for turn in debate.turns if not turn.struck and turn.has_words]
    judges = (judge for judging in debate.judgings for judge in judging.judges)
    return DebateRow(
        debate=debate.id,
        experiment=experiment or (tag.name if tag else ""),
        group=group or (tag.group if tag else group_name(debate.motion, debate.format.name, models)),
        motion=debate.motion,
        format=debate.format.name,
        status=debate.status,
        models=models,
        sides=tuple(team.seats[0].side for team in teams),
        judges=tuple(dict.fromkeys(contestant_name(judge.model) for judge in (*debate.panel, *judges))),
        outcome=verdict.outcome if verdict else "",
        winner=party_model(winner) if winner else "",
        winner_side=winner.seats[0].side if winner else "",
        agreement=verdict.agreement if verdict else None,
        flips=verdict.flips if verdict else None,
        headline=headline(debate, verdict) if verdict else ending(debate) if debate.failure else "",
        speeches=len(spoken),
        words=sum(turn.clipped or turn.words for turn in spoken),
        input_tokens=usage.input,
        output_tokens=usage.output,
        calls=sum(tally.calls for tally in tallies),
        cost=None if any(tally.unpriced for tally in tallies) else float(debate.cost_so_far),
        seconds=round((debate.updated_at - debate.created_at).total_seconds(), 3),
        seed=debate_seed(debate),
        prompts=debate.prompts,
        created_at=debate.created_at,
        ended_at=debate.ended_at,
    )


def debate_row_of_result(result: LegResult, *, experiment: str, group: str, format: str) -> DebateRow:
    """What is known of a debate of an experiment that has been deleted since."""
    first = next(iter(result.judgments), None)
    ranked = next(iter(result.rankings), None)
    models = (first.pro, first.con) if first else ranked.models if ranked else ()
    judges = tuple(dict.fromkeys(row.judge for row in (*result.judgments, *result.rankings)))
    return DebateRow(
        debate=result.debate, experiment=experiment, group=group, motion=result.motion, format=format,
        status=result.status, models=models, judges=judges, headline=result.headline, cost=result.cost,
        seconds=result.seconds,
    )  # fmt: skip


def speech_rows(debate: Debate, *, experiment: str = "") -> Iterator[SpeechRow]:
    """One row for each speech of a stored debate, in the order in which they were given."""
    tag = debate.setup.experiment
    name = experiment or (tag.name if tag else "")
    for turn in sorted(debate.turns, key=lambda turn: turn.number):
        if not turn.struck:
            yield _speech(debate, turn, name)


def _speech(debate: Debate, turn: Turn, experiment: str) -> SpeechRow:
    seat = debate.seat(turn.seat)
    return SpeechRow(
        debate=debate.id,
        speech=turn.number,
        experiment=experiment,
        motion=debate.motion,
        round=turn.round,
        phase=turn.phase,
        seat=seat.name,
        side=seat.side,
        model=contestant_name(seat.model),
        state=turn.state,
        issue=speech_issue(turn),
        words=turn.words,
        heard_words=turn.clipped or turn.words,
        input_tokens=turn.usage.input,
        output_tokens=turn.usage.output,
        reasoning_tokens=turn.usage.reasoning,
        cost=None if turn.cost is None else float(turn.cost),
        seconds=turn.latency_ms / 1000,
        started_at=turn.started_at,
        ended_at=turn.ended_at,
        text=turn.text,
    )
