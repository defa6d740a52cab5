"""Ballots: the shape of a judge's reply, how it is read, and how a person's ballot is checked.

The parties appear under neutral labels (`labels.py`). Criteria have neutral keys, because their names are
free text. A reply must be one JSON object of exactly the requested shape, without repeated
members, and cite speeches that were given. Anything else is not a ballot: a winner is never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from moot.core.errors import Invalid
from moot.core.state import Debate
from moot.core.terms import Ballot, Judge, PartyScore
from moot.judging.judged_speeches import speech_mark, speeches
from moot.judging.neutral_labels import labels, with_names
from moot.judging.parties import is_ranked, parties, party_of
from moot.prompts.fences import without_fences
from moot.prompts.model_replies import UnreadableReply, object_schema, read_json_reply
from moot.prompts.small_model_prompts import whole_sentences
from moot.prompts.templates import section

TIE = "tie"
TIES = (TIE, "draw")
"""What people may name in place of a winner."""
NOTHING_SAID = "none"
ORDERS = (0, 1)
"""The two readings of every model that judges (`readings.py`)."""
MAX_CITED = 5
MOST_DROPPED, LONGEST_DROPPED = 20, 100
SMALL_STRENGTHS = (
    "gives clear reasons",
    "uses concrete examples",
    "answers the other side",
    "stays on the question",
)
SMALL_WEAKNESSES = (
    "gives few examples",
    "repeats itself",
    "does not answer the other side",
    "stays vague",
)

# Only whole escapes: a stream may break off in the middle of one, or between the halves of a pair.
_REASONING = re.compile(
    r'"reasoning"\s*:\s*"('
    r'(?:[^"\\]|\\[^u]|\\u(?![dD][89a-fA-F])[0-9a-fA-F]{4}'
    r"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})*)",
    re.DOTALL,
)
_WORD_BEGINNINGS = tuple(section(file, "word-beginning") for file in ("judge", "question"))
_Points = Annotated[float, Meta(ge=0, le=100)]
_RubricPoints = Annotated[float, Meta(ge=0, le=10)]
MAX_REASONING_CHARS = 6000


class _PartyScores(Struct, forbid_unknown_fields=True):
    score: _Points
    strengths: list[str] = []
    weaknesses: list[str] = []


class _BallotReply(Struct, forbid_unknown_fields=True):
    reasoning: str
    rests_on: list[str]
    speakers: dict[str, _PartyScores]
    criteria: dict[str, str]
    rubric: dict[str, dict[str, _RubricPoints]] = {}
    winner: str = ""
    ranking: list[str] = []


def orders(judge: Judge) -> tuple[int, ...]:
    """The readings of a judge. A person reads the debate once, without labels."""
    return (0,) if judge.model.human else ORDERS


def criterion_keys(debate: Debate, judge: Judge) -> dict[str, str]:
    """The criteria of a judge by the keys that they have in its reply."""
    if debate.prompts == 1:
        return {name: name for name in judge.criteria}
    return {f"C{number}": name for number, name in enumerate(judge.criteria, 1)}


# --- what a reply looks like --------------------------------------------------------------------------


def ballot_schema(debate: Debate, judge: Judge) -> dict[str, Any]:
    """The shape of a reply. Reasoning comes first, so that it streams while the verdict forms."""
    names, keys = list(labels(debate, 0).values()), criterion_keys(debate, judge)
    remark = {"type": "string", "maxLength": 400}
    remarks = {"type": "array", "items": remark, "maxItems": 5}
    marks = object_schema({"strengths": remarks, "weaknesses": remarks, "score": _integer(100)})
    row = object_schema(dict.fromkeys(names, _integer(10)))
    return object_schema(
        {
            "reasoning": {"type": "string", "maxLength": 6000},
            "rests_on": cited_schema(debate, MAX_CITED),
            "criteria": object_schema(dict.fromkeys(keys, remark)),
            "rubric": object_schema(dict.fromkeys(keys, row)),
            "speakers": object_schema(dict.fromkeys(names, marks)),
            **_decision(debate, names),
        }
    )


def small_ballot_schema(debate: Debate, judge: Judge) -> dict[str, Any]:
    """For small models, which repeat themselves in free text: short, with closed lists of choices."""
    names = list(labels(debate, 0).values())
    remark = {"type": "string", "enum": [*(f"{name} is stronger" for name in names), "Both are even"]}
    marks = object_schema(
        {
            "strengths": _one_of(SMALL_STRENGTHS),
            "weaknesses": _one_of(SMALL_WEAKNESSES),
            "score": {"type": "integer", "enum": list(range(40, 100, 5))},
        }
    )
    return object_schema(
        {
            "reasoning": {"type": "string", "minLength": 40, "maxLength": 260},
            "rests_on": cited_schema(debate, 1),
            "criteria": object_schema(dict.fromkeys(criterion_keys(debate, judge), remark)),
            "speakers": object_schema(dict.fromkeys(names, marks)),
            **_decision(debate, names),
        }
    )


def cited_schema(debate: Debate, most: int) -> dict[str, Any]:
    """A list of speeches that were given. A schema may not have an empty list of choices."""
    marks = [speech_mark(turn) for turn in speeches(debate)] or [NOTHING_SAID]
    return {"type": "array", "items": {"type": "string", "enum": marks}, "minItems": 1, "maxItems": most}


def _decision(debate: Debate, names: list[str]) -> dict[str, Any]:
    if not is_ranked(debate):
        return {"winner": {"type": "string", "enum": [*names, TIE]}}
    places = {"type": "string", "enum": names}
    return {"ranking": {"type": "array", "items": places, "minItems": len(names), "maxItems": len(names)}}


def _integer(most: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": 0, "maximum": most}


def _one_of(remarks: tuple[str, ...]) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "string", "enum": list(remarks)}, "minItems": 1, "maxItems": 1}


# --- from a reply to a ballot -------------------------------------------------------------------------


def read_ballot(reply: str, debate: Debate, judge: Judge, order: int) -> Ballot:
    """Raises UnreadableReply with what is wrong."""
    reply_fields = read_json_reply(reply, _BallotReply)
    reasoning = without_fences(reply_fields.reasoning)
    ids = {label: party_id for party_id, label in labels(debate, order).items()}
    if set(reply_fields.speakers) != set(ids):
        raise UnreadableReply(f"speakers must be exactly: {', '.join(ids)}")
    ranking = _ranking(reply_fields, debate, ids)
    winner = ranking[0] if ranking else _winner(reply_fields, ids)
    scores = {
        ids[label]: PartyScore(
            marks.score,
            tuple(map(without_fences, marks.strengths)),
            tuple(map(without_fences, marks.weaknesses)),
        )
        for label, marks in reply_fields.speakers.items()
    }
    known = _known(reply_fields, criterion_keys(debate, judge))
    return Ballot(
        judge=judge.id,
        order=order,
        winner=winner,
        scores=scores,
        reasoning=whole_sentences(reasoning, 0.1) if judge.model.small else reasoning,
        criteria={
            known[key]: without_fences(remark)
            for key, remark in reply_fields.criteria.items()
            if key in known
        },
        inconsistent=contradicts_scores(winner, scores),
        cites=read_cites(reply_fields.rests_on, debate),
        rubric=_rubric(reply_fields, known, ids),
        ranking=ranking,
        dropped=_dropped(reply_fields, known),
    )


def contradicts_scores(winner: str | None, scores: dict[str, PartyScore]) -> bool:
    """Whether the winner does not have the highest score."""
    if winner is None or winner not in scores:
        return False
    return scores[winner].score < max(score.score for score in scores.values())


def _winner(reply: _BallotReply, ids: dict[str, str]) -> str | None:
    if reply.ranking:
        raise UnreadableReply("ranking was not asked for")
    if reply.winner not in (*ids, TIE):
        raise UnreadableReply(f"winner must be one of: {', '.join(ids)}, {TIE}")
    return ids.get(reply.winner)


def _ranking(reply: _BallotReply, debate: Debate, ids: dict[str, str]) -> tuple[str, ...]:
    if not is_ranked(debate):
        return ()
    if sorted(reply.ranking) != sorted(ids):
        raise UnreadableReply(f"ranking must name each of these once, the best first: {', '.join(ids)}")
    if reply.winner not in ("", reply.ranking[0]):
        raise UnreadableReply("winner and ranking contradict each other")
    return tuple(ids[label] for label in reply.ranking)


def read_cites(rests_on: list[str], debate: Debate) -> tuple[int, ...]:
    """The turns of the speeches that a reply names. Raises UnreadableReply where one was not given."""
    turns = {speech_mark(turn): turn.number for turn in speeches(debate)}
    if not turns:
        return ()
    if not rests_on or not turns.keys() >= set(rests_on):
        raise UnreadableReply(
            f"rests_on must name speeches that were given, at least one of: {', '.join(turns)}"
        )
    return tuple(sorted({turns[cited] for cited in rests_on}))


def _known(reply: _BallotReply, keys: dict[str, str]) -> dict[str, str]:
    """The requested criteria by the names that a reply may use: the key or the criterion itself."""
    words = {name: name for name in keys.values() if name not in keys}
    known = {**words, **keys}
    for scores in (reply.criteria, reply.rubric):
        named = [known[key] for key in scores if key in known]
        if len(set(named)) < len(named):
            raise UnreadableReply("a criterion is given twice")
    return known


def _dropped(reply: _BallotReply, known: dict[str, str]) -> tuple[str, ...]:
    unasked = (key[:LONGEST_DROPPED] for key in (*reply.criteria, *reply.rubric) if key not in known)
    return tuple(dict.fromkeys(unasked))[:MOST_DROPPED]


def _rubric(reply: _BallotReply, known: dict[str, str], ids: dict[str, str]) -> dict[str, dict[str, float]]:
    rows = {known[key]: row for key, row in reply.rubric.items() if key in known}
    if any(set(row) != set(ids) for row in rows.values()):
        raise UnreadableReply(f"each row of rubric must have exactly: {', '.join(ids)}")
    return {name: {ids[label]: points for label, points in row.items()} for name, row in rows.items()}


# --- a judge's words, for people ----------------------------------------------------------------------


def ballot_text(text: str, debate: Debate, ballot: Ballot) -> str:
    """Text of a ballot with names instead of labels; people are shown no labels."""
    if debate.judge(ballot.judge).model.human:
        return text
    judging = next((one for one in debate.judgings if ballot in one.ballots), None)
    return with_names(text, debate, ballot.order, judging)


def word_beginning(debate: Debate) -> str:
    """How the reply of a judge begins that is asked for one word."""
    return _WORD_BEGINNINGS[debate.setup.question is not None]


def reasoning_so_far(partial: str) -> str:
    """The reasoning in a reply that is still being written."""
    if partial.startswith(_WORD_BEGINNINGS):
        return without_fences(partial)
    match = _REASONING.search(partial)
    if match is None:
        return ""
    try:
        return without_fences(msgspec.json.decode(f'"{match[1]}"', type=str))
    except msgspec.DecodeError:
        return ""


# --- a person's ballot --------------------------------------------------------------------------------


def check_ballot(debate: Debate, judge: Judge, ballot: Ballot) -> Ballot:
    """The ballot with its parties by their ids. Raises Invalid with all problems.

    A ranking also names the winner. People may give points but need not.
    """
    ballot = replace(
        ballot,
        winner=_party(debate, ballot.winner or next(iter(ballot.ranking), None)),
        ranking=tuple(_party(debate, seat) or seat for seat in ballot.ranking),
        scores={_party(debate, seat) or seat: score for seat, score in ballot.scores.items()},
        cites=tuple(sorted(set(ballot.cites))),
    )
    problems: dict[str, list[str]] = {}
    for field, problem in _problems(debate, judge, ballot):
        problems.setdefault(field, []).append(problem)
    if problems:
        first = next(iter(problems.values()))[0]
        raise Invalid(f"This is no ballot: {first}.", problems)
    return replace(ballot, order=0, inconsistent=contradicts_scores(ballot.winner, ballot.scores))


def _party(debate: Debate, seat: str | None) -> str | None:
    """The party of a seat; an unknown id is returned as it is, for `_problems` to report."""
    party = party_of(debate, seat) if seat else None
    return party.id if party else seat


def _problems(debate: Debate, judge: Judge, ballot: Ballot) -> Iterator[tuple[str, str]]:
    ids = {party.id for party in parties(debate)}
    if ballot.winner is not None and ballot.winner not in ids:
        yield "winner", "Unknown participant"
    if not ballot.reasoning.strip() or len(ballot.reasoning) > MAX_REASONING_CHARS:
        yield "reasoning", f"Must be between 1 and {MAX_REASONING_CHARS} characters"
    turns = {turn.number for turn in speeches(debate)}
    if turns and not ballot.cites:
        yield "cites", "Name at least one speech on which the decision rests"
    if unknown := [str(turn) for turn in ballot.cites if turn not in turns]:
        yield "cites", f"No such speech: {', '.join(unknown)}"
    if not set(ballot.scores) <= ids:
        yield "scores", "Unknown participant"
    if any(not 0 <= score.score <= 100 for score in ballot.scores.values()):
        yield "scores", "Must be between 0 and 100"
    if not set(ballot.criteria) <= set(judge.criteria):
        yield "criteria", f"Must be of: {', '.join(judge.criteria)}"
    yield from _ranking_problems(debate, ballot, ids)


def _ranking_problems(debate: Debate, ballot: Ballot, ids: set[str]) -> Iterator[tuple[str, str]]:
    if ballot.ranking and not is_ranked(debate):
        yield "ranking", "Nobody is ranked in this debate: name a winner"
    elif ballot.ranking and sorted(ballot.ranking) != sorted(ids):
        yield "ranking", "Must name each participant once, the best first"
    elif ballot.ranking and ballot.ranking[0] != ballot.winner:
        yield "ranking", "Must begin with the winner"
