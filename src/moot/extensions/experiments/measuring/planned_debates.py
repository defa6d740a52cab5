"""The debates that an experiment consists of: the legs of its groups.

A *group* is a set of models on one motion. Its legs are the same debate with the models on each other's
sides, so that neither the side nor the motion favours a model; with four teams every model has each position
once. Repeats are further legs of the same group, with seeds of their own. A leg is named by what it consists
of: the name stays the same when the experiment is extended, no leg is held twice, and a leg that was begun is
known again by its name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import comb

import msgspec
from msgspec import Struct

from moot.core.errors import Invalid
from moot.core.terms import Format
from moot.extensions.experiments.measuring.definition import ExperimentDefinition
from moot.extensions.experiments.measuring.judgments import Judgment
from moot.extensions.experiments.measuring.pairing import MAX_DEBATES, Matchup, draw, round_robin, swiss_round

MAX_GROUPS = 1_000_000
"""The matchups of a round robin, of which `matchups` takes the first."""


class PlannedDebate(Struct, frozen=True, array_like=True):
    motion: str
    models: tuple[str, ...]
    """One for each team, in the order of the format."""
    repeat: int = 1

    @property
    def leg(self) -> str:
        return msgspec.json.encode(self).decode()

    @property
    def group(self) -> str:
        """As `Matchup.group`, for any number of models."""
        return " | ".join((self.motion, *sorted(self.models)))


def planned_debate(leg: str) -> PlannedDebate:
    """The debate that a leg is named after."""
    return msgspec.json.decode(leg, type=PlannedDebate)


def legs_of(motion: str, models: Sequence[str], repeat: int = 1) -> tuple[PlannedDebate, ...]:
    """All legs of a group: the models in each rotation."""
    seats = tuple(models)
    rotations = (seats[index:] + seats[:index] for index in range(len(seats)))
    return tuple(PlannedDebate(motion, rotated, repeat) for rotated in rotations)


def legs_of_matchups(matchups: Sequence[Matchup]) -> list[PlannedDebate]:
    return [leg for each in matchups for leg in legs_of(each.motion, (each.first, each.second), each.repeat)]


def all_legs(definition: ExperimentDefinition, teams: int) -> list[PlannedDebate]:
    """Every set of models on every motion, in layers: after each, all have met equally often."""
    models, motions, seed = definition.models, definition.motions, definition.seed
    if teams == 2:
        matchups = round_robin(models, motions, repeats=definition.repeats, seed=seed)
        return legs_of_matchups(matchups[: definition.matchups])
    check_size(definition, teams)
    groups = sorted(
        (
            (repeat, draw(seed, repeat, motion, *each), motion, each)
            for repeat in range(1, definition.repeats + 1)
            for motion in motions
            for each in combinations(sorted(models), teams)
        ),
        key=lambda group: group[:2],
    )
    return [
        leg
        for repeat, _, motion, each in groups[: definition.matchups]
        for leg in legs_of(motion, each, repeat)
    ]


def next_legs(
    definition: ExperimentDefinition, rows: Sequence[Judgment], count: int
) -> Iterator[PlannedDebate]:
    """The legs of the next matchups by Swiss or adaptive pairing, at most `count` matchups."""
    models, motions, seed = definition.models, definition.motions, definition.seed
    if definition.pairing == "swiss":
        matchups = swiss_round(models, motions, rows, seed=seed)
    else:
        from moot.extensions.experiments.measuring.adaptive_pairing import adaptive_round

        matchups = adaptive_round(models, motions, rows, count=count, seed=seed)
    return iter(legs_of_matchups(matchups[:count]))


def planned_count(definition: ExperimentDefinition, teams: int) -> int:
    """How many debates the experiment has in all."""
    if definition.pairing != "round-robin" and definition.matchups is not None:
        return definition.matchups * teams
    groups = comb(len(definition.models), teams) * len(definition.motions) * definition.repeats
    return teams * (groups if definition.matchups is None else min(groups, definition.matchups))


def check_size(definition: ExperimentDefinition, teams: int) -> None:
    """Raises Invalid where there are more debates than can be planned, or too few models for one."""
    if len(definition.models) < teams:
        raise Invalid(f"A debate of this format has {teams} teams, so `models` needs at least {teams}.")
    debates = planned_count(definition, teams)
    if debates > MAX_DEBATES:
        raise Invalid(
            f"This would be {debates:,} debates; an experiment has at most {MAX_DEBATES:,}. Name fewer "
            "models or motions, or lower `repeats` or `matchups`."
        )
    groups = comb(len(definition.models), teams) * len(definition.motions) * definition.repeats
    if definition.pairing == "round-robin" and groups > MAX_GROUPS:
        raise Invalid(
            f"`matchups` would be chosen from {groups:,}, and at most {MAX_GROUPS:,} are possible. Name "
            'fewer models or motions, lower `repeats`, or take `pairing = "swiss"`.'
        )


def lineups_for_estimate(models: Sequence[str], teams: int, most: int) -> tuple[tuple[str, ...], ...]:
    """At most so many debates by their models. Of a few models each has every place once; of many, those at
    even distances are taken.

    >>> lineups_for_estimate("abc", 2, 8)
    (('a', 'b'), ('b', 'c'), ('c', 'a'))
    """
    count = min(len(models), most)
    chosen = [models[place * len(models) // count] for place in range(count)]
    if count < teams:
        chosen = list(models[:teams])
    return tuple(
        tuple(chosen[(place + seat) % len(chosen)] for seat in range(teams)) for place in range(count)
    )


def teams_of(format: Format) -> int:
    """How many models meet in a debate of this format. Raises Invalid where it has no winner."""
    debaters = [chair for chair in format.chairs if chair.role == "debater"]
    teams = 2 if format.parties == "sides" else len(debaters)
    if teams < 2 or format.result in ("summary", "none"):
        raise Invalid(f"The format {format.name} has no winner, so models cannot be compared in it.")
    return teams


def seats_of(planned: PlannedDebate, format: Format) -> tuple[str, ...]:
    """The model of each chair: all chairs of a side where a side wins, else one chair each."""
    if format.parties != "sides":
        return planned.models
    pro, con = planned.models
    return tuple(con if chair.side == "against" else pro for chair in format.chairs)
