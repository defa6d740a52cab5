"""Judgments and rankings of a stored debate: one row for each ballot, with what its speeches were like."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from moot.core.state import Debate, Judging, Turn
from moot.core.terms import Ballot
from moot.extensions.experiments.measuring.addresses import addresses
from moot.extensions.experiments.measuring.judge_identity import Reading, is_own, judge_names, settings_text
from moot.extensions.experiments.measuring.judgments import (
    PANEL,
    JudgeAddress,
    Judgment,
    JudgmentWinner,
    Ranking,
    SpeechIssue,
    group_name,
)
from moot.extensions.experiments.measuring.model_names import contestant_name
from moot.extensions.experiments.measuring.transcripts import debate_seed, transcript_digest
from moot.judging.judged_speeches import last_word
from moot.judging.parties import Party, is_ranked, parties
from moot.judging.readings import is_by_side
from moot.views.summary import StoredSummary

MARKUP = re.compile(r"^\s*(?:[-*+•]|\d+[.)]|#{1,6})\s|\*\*[^*\n]+\*\*", re.MULTILINE)


def judgments_from_debate(
    debate: Debate, *, experiment: str = "", group: str = "", repeat: int = 1
) -> tuple[Judgment, ...]:
    """One row for each ballot that was cast or spoiled; none where the debate has not two parties."""
    sides = parties(debate)
    if len(sides) != 2:
        return ()
    pro, con = sides if sides[0].seats[0].side != "against" else sides[::-1]
    models = (party_model(pro), party_model(con))
    last = last_word(debate)
    base = Judgment(
        **_of_debate(debate, models, experiment, group, repeat),
        pro=models[0],
        con=models[1],
        judge="",
        winner="none",
        pro_seat=pro.id,
        con_seat=con.id,
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
    )
    rows = (
        row
        for judging in debate.judgings
        for row in _rows_of_judging(base, debate, judging, flip=pro is not sides[0])
    )
    # Not in the order in which the ballots came, which differs from run to run.
    return tuple(sorted(rows, key=lambda row: (row.judging, row.judge, row.order or 0)))


def _of_debate(
    debate: Debate, models: Sequence[str], experiment: str, group: str, repeat: int
) -> dict[str, Any]:
    """What every row of a debate has."""
    return {
        "group": group or group_name(debate.motion, debate.format.name, models),
        "debate": debate.id,
        "experiment": experiment,
        "motion": debate.motion,
        "format": debate.format.name,
        "reading": reading_of(debate),
        "repeat": repeat,
        "seed": debate_seed(debate),
        "transcript": transcript_digest(debate),
    }


def _of_judges(debate: Debate, judging: Judging) -> dict[str, dict[str, Any]]:
    """What every row of a judge has, by the id of the judge."""
    names, own = judge_names(judging), is_own(debate, judging)
    return {
        judge.id: {
            "judge": names[judge.id],
            "prompt": judge.variant,
            "settings": settings_text(judge.model),
            "judging": judging.number,
            "own": own,
        }
        for judge in judging.judges
    }


def _rows_of_judging(base: Judgment, debate: Debate, judging: Judging, *, flip: bool) -> Iterator[Judgment]:
    judges, pro, con = _of_judges(debate, judging), base.pro_seat, base.con_seat

    def row(judge: str, order: int) -> Judgment:
        return replace(base, order=(order + flip) % 2, **judges[judge], **_charge(judging, judge, order))

    for ballot in judging.ballots:
        if ballot.judge in judges:
            yield replace(
                row(ballot.judge, ballot.order),
                winner="tie" if ballot.winner is None else "pro" if ballot.winner == pro else "con",
                margin=_margin(ballot, pro, con),
                pro_label=ballot.labels.get(pro, ""),
                con_label=ballot.labels.get(con, ""),
                read_first={pro: "pro", con: "con"}.get(ballot.read_first or ""),
            )
    for judge, order in judging.spoiled:
        if judge in judges:
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
    base = _of_debate(debate, tuple(map(party_model, teams)), experiment, group, repeat)
    return tuple(row for judging in debate.judgings for row in _rankings_of_judging(base, debate, judging))


def _rankings_of_judging(base: dict[str, Any], debate: Debate, judging: Judging) -> Iterator[Ranking]:
    judges, teams = _of_judges(debate, judging), parties(debate)
    places = {team.id: index for index, team in enumerate(teams)}
    known = [ballot for ballot in judging.ballots if ballot.judge in judges]
    for ballot in sorted(known, key=lambda ballot: (judges[ballot.judge]["judge"], ballot.order)):
        if ranked := ballot.ranking or ((ballot.winner,) if ballot.winner else ()):
            yield Ranking(
                **base,
                **judges[ballot.judge],
                models=tuple(map(party_model, teams)),
                seats=_positions(debate, teams),
                ranking=tuple(places[party] for party in ranked),
                order=ballot.order % 2,
                labels=tuple(ballot.labels[team.id] for team in teams if team.id in ballot.labels),
                read_first=places.get(ballot.read_first or ""),
                costs=tuple(_cost(debate, team) for team in teams),
                issues=tuple(_issues(debate, team) for team in teams),
            )


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
