"""Makes golden logs: see the package's docstring."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from tests.golden.prompts import prompts
from tests.golden.reading import HERE, snapshot, written
from tests.golden.scenes import SCENES, SPOKEN


def make(name: str, folder: Path = HERE, *, force: bool = False) -> bool:
    """Whether a log was written: an existing one is kept."""
    log = folder / f"{name}.jsonl"
    if log.exists() and not force:
        return False
    scene = SCENES[name](f"deb_{name}")
    said = snapshot(scene.records)
    log.write_bytes(written(scene.records))
    log.with_suffix(".json").write_bytes(said)
    if name in SPOKEN:
        log.with_suffix(".prompts.txt").write_text(prompts(scene), "utf-8")
    return True


def reword(folder: Path = HERE) -> None:
    """The prompts as they are now, of debates as they would be held now."""
    for name, scene in SPOKEN.items():
        (folder / f"{name}.prompts.txt").write_text(prompts(scene(f"deb_{name}")), "utf-8")


def main(arguments: Sequence[str], folder: Path = HERE) -> int:
    if "--prompts" in arguments:
        reword(folder)
        return _say("wrote the prompts anew")
    force = "--force" in arguments
    asked = [argument for argument in arguments if argument != "--force"]
    unknown = [name for name in asked if name not in SCENES]
    if unknown:
        return _say(f"There is no scene called {', '.join(unknown)}. There are: {', '.join(SCENES)}.", 2)
    made = [name for name in asked or SCENES if make(name, folder, force=force)]
    kept = [name for name in asked or SCENES if name not in made]
    _say(f"made {', '.join(made) or 'nothing'}")
    if kept:
        _say(f"kept {', '.join(kept)}: golden logs stay as they are (--force rewrites them)")
    return 1 if asked and kept else 0


def _say(text: str, status: int = 0) -> int:
    sys.stdout.write(f"{text}\n")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
