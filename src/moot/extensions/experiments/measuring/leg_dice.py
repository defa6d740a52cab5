"""What is left to chance in a debate of an experiment, so that a second run of it is the same.

A debate that belongs to no experiment takes its dice from its random id, and the names of its fences from a
random secret. Here both follow from the seed of the experiment and the name of the leg: the same file gives
the same requests, and models that heed the seed the same words. No debater is told the seed, and each reader
has a fence of its own, so that none can write the tag that ends a quotation in what a judge reads.
"""

from __future__ import annotations

from moot.core.terms import SeriesTag
from moot.extensions.experiments.measuring.definition import ExperimentDefinition
from moot.extensions.experiments.measuring.pairing import draw
from moot.extensions.experiments.measuring.planned_debates import PlannedDebate
from moot.extensions.experiments.measuring.planned_questions import PlannedQuestion

PlannedLeg = PlannedDebate | PlannedQuestion


def experiment_tag(definition: ExperimentDefinition, leg: PlannedLeg) -> SeriesTag:
    return SeriesTag(definition.name, leg.group, leg.repeat, draw(definition.seed, "dice", leg.leg))


def leg_fence(definition: ExperimentDefinition, leg: PlannedLeg) -> str:
    """The secret of the debate's fences."""
    return draw(definition.seed, "fence", leg.leg)
