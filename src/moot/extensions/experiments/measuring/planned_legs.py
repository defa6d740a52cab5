"""A leg of an experiment, on a motion or on a question, and what is left to chance in its debate.

A debate that belongs to no experiment takes its dice from its random id, and the names of its fences from a
random secret. Here both follow from the seed of the experiment and the name of the leg: the same file gives
the same requests, and models that heed the seed the same words. No debater is told the seed, and each reader
has a fence of its own, so that none can write the tag that ends a quotation in what a judge reads.
"""

from __future__ import annotations

from moot.core.terms import SeriesTag
from moot.extensions.experiments.measuring.definition import ExperimentDefinition
from moot.extensions.experiments.measuring.pairing import draw
from moot.extensions.experiments.measuring.planned_debates import PlannedDebate, planned_debate
from moot.extensions.experiments.measuring.planned_questions import PlannedQuestion, planned_question

PlannedLeg = PlannedDebate | PlannedQuestion


def planned_leg(definition: ExperimentDefinition, name: str) -> PlannedLeg:
    """The leg of this name."""
    return planned_question(name) if definition.questions else planned_debate(name)


def experiment_tag(definition: ExperimentDefinition, leg: PlannedLeg) -> SeriesTag:
    return SeriesTag(definition.name, leg.group, leg.repeat, draw(definition.seed, "dice", leg.leg))


def leg_fence(definition: ExperimentDefinition, leg: PlannedLeg) -> str:
    """The secret of the debate's fences."""
    return draw(definition.seed, "fence", leg.leg)
