"""The tables `beliefs` and `audience`: what was believed in private during a debate, and how people voted.

Each question is a row, also one that was not answered. Of the answers only figures and votes are taken, not
their words. People in an audience vote in secret, so they have numbers and not names, and votes are left out
while a poll is open.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from moot.core.state import Aside, Debate
from moot.core.terms import PollName
from moot.extensions.experiments.measuring.debate_judgments import party_model
from moot.judging.parties import parties
from moot.rules.extension_questions import side_question_model


class BeliefRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one debater or judge believed at one time: the answer to one private question."""

    debate: Annotated[str, Meta(description="The id of the debate.")]
    experiment: Annotated[str, Meta(description="The name of the experiment, if it belongs to one.")] = ""
    group: Annotated[str, Meta(description="The side-swapped matchup; the same in `ballots`.")] = ""
    motion: Annotated[str, Meta(description="What was debated.")] = ""
    question: Annotated[int, Meta(description="The number of the question in the debate.")] = 0
    role: Annotated[Literal["debater", "judge"], Meta(description="Who was asked.")] = "debater"
    name: Annotated[str, Meta(description="The seat or the judge by name.")] = ""
    model: Annotated[str, Meta(description="The model that was asked.")] = ""
    side: Annotated[str, Meta(description="Of a debater: `for` or `against`.")] = ""
    moment: Annotated[
        Literal["before", "after"],
        Meta(description="Asked before a speech of its own (a judge: before the first), or after one."),
    ] = "before"
    speech: Annotated[
        int | None, Meta(description="The speech after which it was asked; missing where it was before one.")
    ] = None
    round: Annotated[int, Meta(description="The round of the speech, from 1.")] = 0
    chance: Annotated[
        float | None,
        Meta(
            description="From 0 to 1: how likely a debater thought its own side was to win, a judge the side "
            "for the motion. Missing where no answer could be read."
        ),
    ] = None
    chances: Annotated[
        tuple[float, ...], Meta(description="Of a judge: how likely each of `models` was thought to win.")
    ] = ()
    models: Annotated[
        tuple[str, ...], Meta(description="The model of each team or side, in the order of the format.")
    ] = ()


class AudienceRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One vote of the audience in one poll: of a person, or of a persona for which a model speaks."""

    debate: Annotated[str, Meta(description="The id of the debate.")]
    experiment: Annotated[str, Meta(description="The name of the experiment, if it belongs to one.")] = ""
    group: Annotated[str, Meta(description="The side-swapped matchup; the same in `ballots`.")] = ""
    motion: Annotated[str, Meta(description="What was debated.")] = ""
    poll: Annotated[PollName, Meta(description="Before the first speech, or after the last.")] = "after"
    voters: Annotated[
        Literal["people", "models"], Meta(description="Votes of models decide nothing, and are never mixed.")
    ] = "people"
    voter: Annotated[
        str, Meta(description="The persona; of a person a number, the same in both polls of the debate.")
    ] = ""
    model: Annotated[str, Meta(description="The model that speaks for the persona.")] = ""
    choice: Annotated[
        str,
        Meta(
            description="`for`, `against` or `undecided`; with three or more teams the model that argued; "
            "empty where a persona gave no vote that could be read."
        ),
    ] = ""
    late: Annotated[bool, Meta(description="Cast after the poll had closed: it does not count.")] = False


def belief_rows(debate: Debate, experiment: str = "", group: str = "") -> Iterator[BeliefRow]:
    """One row for each private question about beliefs, in the order in which they were asked."""
    base = BeliefRow(debate=debate.id, experiment=experiment, group=group, motion=debate.motion)
    for aside in debate.asides:
        if aside.kind in ("confidence", "belief"):
            yield _belief(debate, aside, base)


def _belief(debate: Debate, aside: Aside, base: BeliefRow) -> BeliefRow:
    teams = parties(debate)
    seat = debate.seat(aside.seat) if aside.seat else None
    asked = seat or debate.judge(aside.judge or "")
    pro = next((team.id for team in teams if team.seats[0].side == "for"), None)
    chance = aside.chances.get(seat.id if seat else pro or "")
    return replace(
        base,
        question=aside.number,
        role="debater" if seat else "judge",
        name=asked.name,
        model=asked.model.label,
        side=seat.side if seat else "",
        moment="before" if aside.turn is None else "after",
        speech=aside.turn,
        round=debate.schedule[aside.slot].round,
        chance=chance,
        chances=() if seat else tuple(aside.chances[team.id] for team in teams if team.id in aside.chances),
        models=tuple(map(party_model, teams)),
    )


def audience_rows(debate: Debate, experiment: str = "", group: str = "") -> Iterator[AudienceRow]:
    """The votes of people, then those of the model audience."""
    teams = {party.id: party_model(party) for party in parties(debate)}

    def row(poll: PollName, voter: str, choice: str, *, model: str = "", late: bool = False) -> AudienceRow:
        return AudienceRow(
            debate=debate.id, experiment=experiment, group=group, motion=debate.motion, poll=poll,
            voters="models" if model else "people", voter=voter, model=model,
            choice=teams.get(choice, choice), late=late,
        )  # fmt: skip

    people: dict[str, str] = {}
    if all(poll.closed_at for poll in debate.polls):
        for vote in debate.votes:
            number = people.setdefault(vote.voter, str(len(people) + 1))
            yield row(vote.poll, number, vote.choice, late=vote.late)
    for aside in debate.asides:
        if aside.kind == "persona_vote":
            poll: PollName = "before" if aside.turn is None else "after"
            model = side_question_model(debate, aside)
            yield row(poll, aside.persona, aside.text, model=model.label if model else "")
