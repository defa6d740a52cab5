"""The software that an experiment depends on: versions, the commit of a checkout, digests of the prompts."""

from __future__ import annotations

import hashlib
import re
from importlib import metadata
from importlib.resources import files
from importlib.resources.abc import Traversable
from platform import platform, python_version

from msgspec import Struct

from moot.extension import loaded
from moot.installation import find_commit
from moot.prompts import templates

PROMPT_FOLDERS = (("moot.prompts", (".md", ".toml")), ("moot.extensions.experiments.measuring", (".toml",)))
"""Where the texts are that models read: the templates, and the protocols for questions. Those of other
extensions are in the folder `prompts/` of their package."""
FOR_DEVELOPERS = re.compile(r"extra == '(?:dev|bench)'")
PACKAGE = re.compile(r"[A-Za-z0-9._-]+")


class Software(Struct, frozen=True):
    moot: str
    commit: str | None
    """Of the checkout; None where that is not known."""
    commit_from: str
    """How the commit was found."""
    python: str
    platform: str
    packages: dict[str, str]
    """What Moot needs, as far as it is installed."""
    prompts_version: int
    prompts: dict[str, str]
    """The SHA-256 of each file of prompts."""


def present_software(version: str) -> Software:
    found = find_commit()
    return Software(
        moot=version,
        commit=found.commit,
        commit_from=found.source,
        python=python_version(),
        platform=platform(),
        packages=_packages(),
        prompts_version=templates.VERSION,
        prompts=_prompt_digests(),
    )


def software_differences(before: Software, now: Software) -> list[str]:
    """A sentence for each kind of thing that differs."""
    told: list[str] = []
    for name, old, new in (
        ("Moot", before.moot, now.moot),
        ("Commit", before.commit, now.commit),
        ("Python", before.python, now.python),
        ("Platform", before.platform, now.platform),
    ):
        if old != new:
            told.append(f"{name}: {old or 'not known'} then, {new or 'not known'} now.")
    if changed := _changed(before.packages, now.packages):
        told.append(f"Other packages: {', '.join(changed)}.")
    if changed := _changed(before.prompts, now.prompts):
        told.append(f"Other prompts: {', '.join(changed)}.")
    return told


def _changed(before: dict[str, str], now: dict[str, str]) -> list[str]:
    return [name for name in sorted(before.keys() | now.keys()) if before.get(name) != now.get(name)]


def _packages() -> dict[str, str]:
    try:
        required = metadata.requires("moot") or []
    except metadata.PackageNotFoundError:
        return {}
    used = [line for line in required if not FOR_DEVELOPERS.search(line)]
    names = sorted({match[0].lower() for line in used if (match := PACKAGE.match(line))})
    found: dict[str, str] = {}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _prompt_digests() -> dict[str, str]:
    found: dict[str, str] = {}
    for extension in loaded():
        for each in _subfolder(files(extension.package), "prompts") if extension.package else ():
            found[f"prompts/{each.name}"] = hashlib.sha256(each.read_bytes()).hexdigest()
    for package, endings in PROMPT_FOLDERS:
        folder = files(package)
        for each in (*folder.iterdir(), *_subfolder(folder, "version_1"), *_subfolder(folder, "protocols")):
            if each.name.endswith(endings):
                place = str(each).replace("\\", "/").rsplit("/moot/", 1)[-1]
                # As manifests have always called them.
                place = place.replace("extensions/experiments/measuring/", "experiments/")
                found[place] = hashlib.sha256(each.read_bytes()).hexdigest()
    return dict(sorted(found.items()))


def _subfolder(folder: Traversable, name: str) -> list[Traversable]:
    inner = folder.joinpath(name)
    return list(inner.iterdir()) if inner.is_dir() else []
