"""One judgment of one debate as a row: who argued which side, who judged, and what came of it.

A `Judgment` has two sides; a `Ranking` is a ballot of a format that ranks several teams. The unit of
measuring is the *group*: one matchup of two models on one motion, held twice with the sides swapped, with all
its repeats. Rows of a group are not independent, so intervals are computed from groups. This module reads
rows from stored debates and from summaries; `judgment_files.py` reads and writes files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Literal, TypeVar

from msgspec import Meta, Struct
from msgspec.structs import replace

from moot.core.state import Debate, Judging, Turn
from moot.core.terms import Ballot
from moot.extensions.experiments.measuring.addresses import addresses
from moot.extensions.experiments.measuring.judge_identity import Reading, is_own, judge_names, settings_text
from moot.extensions.experiments.measuring.model_names import contestant_name
from moot.extensions.experiments.measuring.transcripts import debate_seed, transcript_digest
from moot.judging.judged_speeches import last_word
from moot.judging.parties import Party, is_ranked, parties
from moot.judging.readings import is_by_side
from moot.views.summary import StoredSummary

JudgmentWinner = Literal["pro", "con", "tie", "none"]
"""`none`: the judge was asked and gave no valid ballot."""
SpeechIssue = Literal["refusal", "blank", "wrong_side", "timeout", "failure"]
MARKUP = re.compile(r"^\s*(?:[-*+•]|\d+[.)]|#{1,6})\s|\*\*[^*\n]+\*\*", re.MULTILINE)
SCORES: Mapping[JudgmentWinner, float] = {"pro": 1.0, "tie": 0.5, "con": 0.0}
"""What a decided judgment gives the side for the motion."""
PANEL = "panel"
"""The judge of a row that tells the verdict of a whole panel."""


class JudgeAddress(Struct, frozen=True):
    """A sentence of a speech that addresses the judge (`addresses.py`)."""

    speech: int
    """Its number in the debate."""
    model: str
    quotation: str


class Judgment(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What one judge decided about one debate of two sides, after one reading.

    `pro` and `con` are the models that argued for and against the motion. Amounts that are not known are
    None, never 0.
    """

    group: Annotated[
        str,
        Meta(description="The side-swapped matchup on one motion, with all repeats."),
    ]
    debate: Annotated[str, Meta(description="The id of the debate.")]
    pro: Annotated[str, Meta(description="The model that argued for the motion.")]
    con: Annotated[str, Meta(description="The model that argued against it.")]
    judge: Annotated[
        str,
        Meta(
            description="Who judged: model, prompt and settings, as in `xai/grok-5 [strict] (effort high)`; "
            "`#2` is a second one of the same name."
        ),
    ]
    winner: Annotated[
        JudgmentWinner, Meta(description="`none`: the judge was asked and gave no ballot that could be read.")
    ]
    margin: Annotated[
        float | None,
        Meta(description="By how much, in the judge's own points; positive for the side of `pro`."),
    ] = None
    experiment: Annotated[str, Meta(description="The name of the experiment, if it belongs to one.")] = ""
    motion: Annotated[str, Meta(description="What was debated.")] = ""
    format: Annotated[str, Meta(description="The format of the debate.")] = ""
    pro_seat: Annotated[str, Meta(description="The first seat of the side for the motion.")] = ""
    con_seat: Annotated[str, Meta(description="The first seat of the side against it.")] = ""
    judging: Annotated[
        int, Meta(description="Which judging of the debate, where it was judged more than once.")
    ] = 1
    prompt: Annotated[str, Meta(description="The name of the judge's prompt; empty for the usual one.")] = ""
    settings: Annotated[
        str, Meta(description="What was set for its model: effort, temperature, verbosity, max_tokens.")
    ] = ""
    own: Annotated[
        bool,
        Meta(description="Whether it is a ballot of the debate's own panel, and not of a later judging."),
    ] = True
    reading: Annotated[
        Reading, Meta(description="How the judge had the speeches: by time, or by side; if recorded.")
    ] = ""
    order: Annotated[
        int | None,
        Meta(
            description="0: `pro` was shown first; 1: `con` was. Read by time, that is the first label and "
            "the first place in the list of the sides; read by side, the first speeches."
        ),
    ] = None
    pro_label: Annotated[
        str, Meta(description="The label under which the judge read the side for the motion, if recorded.")
    ] = ""
    con_label: Annotated[str, Meta(description="The same of the other side.")] = ""
    read_first: Annotated[
        Literal["pro", "con"] | None,
        Meta(description="The side whose speech the judge read first, if recorded."),
    ] = None
    last_word: Annotated[
        Literal["pro", "con"] | None, Meta(description="The side that spoke last, where only one did.")
    ] = None
    pro_words: Annotated[int | None, Meta(description="Words that were heard of the side for it.")] = None
    con_words: Annotated[int | None, Meta(description="The same of the other side.")] = None
    pro_markup: Annotated[
        int | None, Meta(description="List items, headings and bold words in the speeches for the motion.")
    ] = None
    con_markup: Annotated[int | None, Meta(description="The same of the other side.")] = None
    pro_issues: Annotated[
        tuple[SpeechIssue, ...],
        Meta(description="What went wrong in the speeches for the motion, once for each speech."),
    ] = ()
    con_issues: Annotated[tuple[SpeechIssue, ...], Meta(description="The same of the other side.")] = ()
    pro_cost: Annotated[float | None, Meta(description="US dollars for the speeches for the motion.")] = None
    con_cost: Annotated[float | None, Meta(description="The same of the other side.")] = None
    pro_seconds: Annotated[
        float | None, Meta(description="Seconds of the calls for the speeches for the motion.")
    ] = None
    con_seconds: Annotated[float | None, Meta(description="The same of the other side.")] = None
    judge_cost: Annotated[
        float | None, Meta(description="US dollars for this ballot, attempts that failed included.")
    ] = None
    judge_seconds: Annotated[float | None, Meta(description="Seconds of the calls for this ballot.")] = None
    pro_addresses: Annotated[
        int | None, Meta(description="Sentences for the motion that address the judge; if they were counted.")
    ] = None
    con_addresses: Annotated[int | None, Meta(description="The same of the other side.")] = None
    repeat: Annotated[int, Meta(description="Which repeat of the matchup, from 1.")] = 1
    seed: Annotated[int | None, Meta(description="The seed of the debate; each repeat has another.")] = None
    transcript: Annotated[
        str,
        Meta(
            description="A digest of motion, speakers and what was heard. Debates with the same one are the "
            "same word for word, and count once."
        ),
    ] = ""
    eligible: Annotated[bool, Meta(description="Whether it counts for ratings.")] = True


class Ranking(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What one judge decided about one debate of three or more teams."""

    group: Annotated[str, Meta(description="The same models on one motion, each in every position.")]
    debate: Annotated[str, Meta(description="The id of the debate.")]
    judge: Annotated[str, Meta(description="Who judged: model, prompt and settings.")]
    models: Annotated[tuple[str, ...], Meta(description="One for each team, in the order of the format.")]
    seats: Annotated[
        tuple[str, ...], Meta(description="The position of each team, such as Opening Government.")
    ]
    ranking: Annotated[
        tuple[int, ...],
        Meta(
            description="Places in `models`, counted from 0, from best to worst. Teams that are left out are "
            "below those named, in no order."
        ),
    ]
    experiment: Annotated[str, Meta(description="The name of the experiment, if it belongs to one.")] = ""
    motion: Annotated[str, Meta(description="What was debated.")] = ""
    format: Annotated[str, Meta(description="The format of the debate.")] = ""
    judging: Annotated[
        int, Meta(description="Which judging of the debate, where it was judged more than once.")
    ] = 1
    prompt: Annotated[str, Meta(description="The name of the judge's prompt; empty for the usual one.")] = ""
    settings: Annotated[
        str, Meta(description="What was set for its model: effort, temperature, verbosity, max_tokens.")
    ] = ""
    own: Annotated[
        bool,
        Meta(description="Whether it is a ballot of the debate's own panel, and not of a later judging."),
    ] = True
    reading: Annotated[
        Reading, Meta(description="How the judge had the speeches: by time, or by side; if recorded.")
    ] = ""
    order: Annotated[
        int | None,
        Meta(
            description="0: shown in the order of the format; 1: in reverse. Read by time, that is the "
            "order of the labels; read by side, the order of the speeches."
        ),
    ] = None
    labels: Annotated[
        tuple[str, ...], Meta(description="The label under which the judge read each team, if recorded.")
    ] = ()
    read_first: Annotated[
        int | None,
        Meta(description="The place in `models` of the team that the judge read first, if recorded."),
    ] = None
    costs: Annotated[
        tuple[float | None, ...], Meta(description="US dollars for the speeches of each team.")
    ] = ()
    issues: Annotated[
        tuple[tuple[SpeechIssue, ...], ...],
        Meta(description="What went wrong in the speeches of each team, once for each speech."),
    ] = ()
    repeat: Annotated[int, Meta(description="Which repeat of the matchup, from 1.")] = 1
    seed: Annotated[int | None, Meta(description="The seed of the debate; each repeat has another.")] = None
    transcript: Annotated[
        str,
        Meta(
            description="A digest of motion, speakers and what was heard. Debates with the same one are the "
            "same word for word, and count once."
        ),
    ] = ""
    eligible: Annotated[bool, Meta(description="Whether it counts for ratings.")] = True


Judged = TypeVar("Judged", Judgment, Ranking)


def group_name(motion: str, format: str, models: Sequence[str]) -> str:
    """The group of a debate that names none: the same models on the same motion, on whichever sides."""
    return " | ".join((motion, format, *sorted(models)))


# --- stored debates -----------------------------------------------------------------------------------


def judgments_from_debate(
    debate: Debate, *, experiment: str = "", group: str = "", repeat: int = 1
) -> tuple[Judgment, ...]:
    """One row for each ballot that was cast or spoiled; none where the debate has not two parties."""
    sides = parties(debate)
    if len(sides) != 2:
        return ()
    pro, con = sides if sides[0].seats[0].side != "against" else sides[::-1]
    models = [party_model(pro), party_model(con)]
    last = last_word(debate)
    base = Judgment(
        group=group or group_name(debate.motion, debate.format.name, models),
        debate=debate.id,
        pro=models[0],
        con=models[1],
        judge="",
        winner="none",
        experiment=experiment,
        motion=debate.motion,
        format=debate.format.name,
        pro_seat=pro.id,
        con_seat=con.id,
        reading=reading_of(debate),
        last_word="pro" if _holds(pro, last) else "con" if _holds(con, last) else None,
        pro_words=_words(debate, pro),
        con_words=_words(debate, con),
        pro_markup=_markup(debate, pro),
        con_markup=_markup(debate, con),
        pro_issues=_issues(debate, pro),
        con_issues=_issues(debate, con),
        pro_cost=_cost(debate, pro),
        con_cost=_cost(debate, con),
        pro_seconds=_seconds(debate, pro),
        con_seconds=_seconds(debate, con),
        pro_addresses=sum(1 for _ in _addresses(debate, pro)),
        con_addresses=sum(1 for _ in _addresses(debate, con)),
        repeat=repeat,
        seed=debate_seed(debate),
        transcript=transcript_digest(debate),
    )
    rows = (
        row
        for judging in debate.judgings
        for row in _rows_of_judging(
            replace(base, own=is_own(debate, judging)), judging, pro.id, con.id, flip=pro is not sides[0]
        )
    )
    # Not in the order in which the ballots came, which differs from run to run.
    return tuple(sorted(rows, key=lambda row: (row.judging, row.judge, row.order or 0)))


def _rows_of_judging(
    base: Judgment, judging: Judging, pro: str, con: str, *, flip: bool
) -> Iterator[Judgment]:
    judges, names = {judge.id: judge for judge in judging.judges}, judge_names(judging)

    def row(judge: str, order: int) -> Judgment:
        return replace(
            base,
            judge=names[judge],
            prompt=judges[judge].variant,
            settings=settings_text(judges[judge].model),
            judging=judging.number,
            order=(order + flip) % 2,
            **_charge(judging, judge, order),
        )

    for ballot in judging.ballots:
        if ballot.judge in names:
            yield replace(
                row(ballot.judge, ballot.order),
                winner="tie" if ballot.winner is None else "pro" if ballot.winner == pro else "con",
                margin=_margin(ballot, pro, con),
                pro_label=ballot.labels.get(pro, ""),
                con_label=ballot.labels.get(con, ""),
                read_first={pro: "pro", con: "con"}.get(ballot.read_first or ""),
            )
    for judge, order in judging.spoiled:
        if judge in names:
            yield row(judge, order)


def _charge(judging: Judging, judge: str, order: int) -> dict[str, float | None]:
    """What the calls for one ballot cost and how long they took; nothing for a person."""
    found = judging.charge(judge, order)
    if found is None:
        return {}
    cost = None if found.cost is None else float(found.cost)
    return {"judge_cost": cost, "judge_seconds": round(found.latency_ms / 1000, 3)}


def _margin(ballot: Ballot, pro: str, con: str) -> float | None:
    if pro not in ballot.scores or con not in ballot.scores:
        return None
    return round(ballot.scores[pro].score - ballot.scores[con].score, 3)


def rankings_from_debate(
    debate: Debate, *, experiment: str = "", group: str = "", repeat: int = 1
) -> tuple[Ranking, ...]:
    """One row for each ballot of a debate that ranks its parties; a ballot without a winner is left out."""
    if not is_ranked(debate):
        return ()
    teams = parties(debate)
    places = {team.id: index for index, team in enumerate(teams)}
    models = tuple(map(party_model, teams))
    seed, transcript = debate_seed(debate), transcript_digest(debate)
    rows: list[Ranking] = []
    for judging in debate.judgings:
        judges, names = {judge.id: judge for judge in judging.judges}, judge_names(judging)
        for ballot in sorted(judging.ballots, key=lambda ballot: (names.get(ballot.judge, ""), ballot.order)):
            ranked = ballot.ranking or ((ballot.winner,) if ballot.winner else ())
            if ranked and ballot.judge in names:
                rows.append(
                    Ranking(
                        group=group or group_name(debate.motion, debate.format.name, models),
                        debate=debate.id,
                        judge=names[ballot.judge],
                        models=models,
                        seats=_positions(debate, teams),
                        ranking=tuple(places[party] for party in ranked),
                        experiment=experiment,
                        motion=debate.motion,
                        format=debate.format.name,
                        judging=judging.number,
                        prompt=judges[ballot.judge].variant,
                        settings=settings_text(judges[ballot.judge].model),
                        own=is_own(debate, judging),
                        reading=reading_of(debate),
                        order=ballot.order % 2,
                        labels=tuple(ballot.labels[team.id] for team in teams if team.id in ballot.labels),
                        read_first=places.get(ballot.read_first or ""),
                        costs=tuple(_cost(debate, team) for team in teams),
                        issues=tuple(_issues(debate, team) for team in teams),
                        repeat=repeat,
                        seed=seed,
                        transcript=transcript,
                    )
                )
    return tuple(rows)


def _positions(debate: Debate, teams: Sequence[Party]) -> tuple[str, ...]:
    """What the format calls the place of each team, whoever sits there."""
    chairs = [chair for chair in debate.format.chairs if chair.role == "debater"]
    if len(chairs) == len(teams):
        return tuple(chair.name for chair in chairs)
    return tuple(team.name for team in teams)


def judgment_from_summary(
    summary: StoredSummary, *, experiment: str = "", group: str = ""
) -> Judgment | None:
    """The verdict of a finished debate as one row of the judge `panel`, without reading its log.

    None for a debate that has not one seat for and one against, or no verdict.
    """
    places = {side: index for index, side in enumerate(summary.sides) if side in ("for", "against")}
    if (
        not summary.outcome
        or len(places) != 2
        or summary.sides.count("for") + summary.sides.count("against") != 2
    ):
        return None
    pro, con = summary.models[places["for"]], summary.models[places["against"]]
    winners: dict[str, JudgmentWinner] = {"for": "pro", "against": "con"}
    return Judgment(
        group=group or group_name(summary.motion, summary.format, (pro, con)),
        debate=summary.id,
        pro=pro,
        con=con,
        judge=PANEL,
        winner=winners.get(summary.winner_side, "tie"),
        experiment=experiment,
        motion=summary.motion,
        format=summary.format,
    )


def reading_of(debate: Debate) -> Reading:
    return "by-side" if is_by_side(debate) else "chronological"


def with_own_marked(row: Judged) -> Judged:
    """A row of a release that did not record whether it is of the debate's own panel: a further judging was
    one of `moot experiment rejudge`."""
    return replace(row, own=False) if row.judging > 1 and not row.reading else row


def counted_as(row: Judgment | Ranking) -> str:
    """What counts once: the debate, with those that are the same word for word."""
    return row.transcript or row.debate


# --- a party of a debate ------------------------------------------------------------------------------


def party_model(party: Party) -> str:
    return " + ".join(dict.fromkeys(contestant_name(seat.model) for seat in party.seats))


def _holds(party: Party, seat: str | None) -> bool:
    return any(one.id == seat for one in party.seats)


def _turns(debate: Debate, party: Party) -> list[Turn]:
    return [turn for turn in debate.turns if not turn.struck and _holds(party, turn.seat)]


def _words(debate: Debate, party: Party) -> int:
    return sum(turn.clipped or turn.words for turn in _turns(debate, party) if turn.has_words)


def _addresses(debate: Debate, party: Party) -> Iterator[JudgeAddress]:
    for turn in _turns(debate, party):
        if turn.has_words:
            for quotation in addresses(debate.heard_text(turn)):
                yield JudgeAddress(turn.number, party_model(party), quotation)


def first_address(debate: Debate) -> JudgeAddress | None:
    """The first sentence of the debate that addresses the judge."""
    found = (each for party in parties(debate) for each in _addresses(debate, party))
    return min(found, key=lambda each: each.speech, default=None)


def _markup(debate: Debate, party: Party) -> int:
    texts = (debate.heard_text(turn) for turn in _turns(debate, party) if turn.has_words)
    return sum(len(MARKUP.findall(text)) for text in texts)


def _issues(debate: Debate, party: Party) -> tuple[SpeechIssue, ...]:
    turns = (turn for turn in _turns(debate, party) if turn.used_slot)
    return tuple(issue for turn in turns if (issue := speech_issue(turn)))


def speech_issue(turn: Turn) -> SpeechIssue | None:
    if turn.refusal or turn.by == "filtered":
        return "refusal"
    if turn.truncated == "timeout" or turn.by in ("timeout", "stalled"):
        return "timeout"
    if turn.by == "off_side":
        return "wrong_side"
    if turn.by == "empty" or (turn.state == "completed" and not turn.text.strip()):
        return "blank"
    return "failure" if turn.state == "failed" else None


def _cost(debate: Debate, party: Party) -> float | None:
    costs = [turn.cost for turn in _turns(debate, party)]
    if any(cost is None for cost in costs):
        return None
    return float(sum(cost for cost in costs if cost is not None))


def _seconds(debate: Debate, party: Party) -> float:
    return round(sum(turn.latency_ms for turn in _turns(debate, party)) / 1000, 3)
