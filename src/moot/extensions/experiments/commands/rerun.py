"""`moot experiment compare`, and what `moot experiment rerun` tells: what differs from a manifest."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from moot.cli.render.output import Terminal
from moot.core.errors import Invalid
from moot.extensions.experiments.commands.stored_experiment import in_arena
from moot.extensions.experiments.tables import EXPERIMENTS

if TYPE_CHECKING:
    from moot.engine.arena import Arena
    from moot.extensions.experiments.measuring.definition import ExperimentDefinition
    from moot.extensions.experiments.measuring.manifest import Manifest

EXIT_DIFFERENT = 1
Folder = Annotated[Path, Parameter(help="A folder that `moot experiment export NAME -o FOLDER` has written.")]


def compare(one: Folder, other: Folder, /) -> int:
    """Whether two runs of an experiment are the same: definition, software, transcripts and outcomes.

    Exits with 1 where transcripts or outcomes differ.
    """
    from moot.extensions.experiments.measuring.manifest import (
        compare_debates,
        definition_differences,
        read_manifest,
    )
    from moot.extensions.experiments.measuring.software import software_differences

    before, now = read_manifest(one), read_manifest(other)
    _tell(definition_differences(before.definition, now.definition))
    _tell(software_differences(before.software, now.software))
    found = compare_debates(before.debates, now.debates)
    _tell(found.sentences)
    return 0 if found.equal else EXIT_DIFFERENT


def declared_again(manifest: Manifest, name: str) -> ExperimentDefinition:
    """The definition of the manifest under this name, after what differs here was told. Raises Invalid where
    the store has an experiment of that name."""
    from msgspec.structs import replace

    from moot import __version__
    from moot.extensions.experiments.measuring.manifest import price_differences
    from moot.extensions.experiments.measuring.software import present_software, software_differences

    definition = replace(manifest.definition, name=name or manifest.definition.name)

    async def look(arena: Arena) -> list[str]:
        from moot.extensions.experiments.setups import ExperimentSetups

        if await arena.store.tables(EXPERIMENTS).experiment(definition.name) is not None:
            raise Invalid(
                f"There is an experiment {definition.name} in this store. Give another name with --name; "
                f"or continue it: moot experiment resume {definition.name}"
            )
        models = ExperimentSetups(arena, definition).models()
        return price_differences(manifest.models, {model.label: model.price for model in models})

    prices = in_arena(look, plan_only=True)
    _tell((*software_differences(manifest.software, present_software(__version__)), *prices))
    return definition


def tell_whether_equal(manifest: Manifest, name: str) -> bool:
    """Whether the stored experiment has the transcripts and outcomes of the manifest."""
    from moot.extensions.experiments.measuring.manifest import DebateComparison, compare_debates

    async def look(arena: Arena) -> DebateComparison:
        from moot.extensions.experiments.manifest import debate_records

        return compare_debates(manifest.debates, await debate_records(arena.store, name))

    found = in_arena(look)
    _tell(found.sentences)
    return found.equal


def _tell(sentences: Iterable[str]) -> None:
    for sentence in sentences:
        Terminal.out().line(sentence)
