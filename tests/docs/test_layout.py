"""Tests are found like their modules, as docs/testing.md says."""

from __future__ import annotations

from pathlib import Path

import moot

SOURCE = Path(moot.__file__).parent
TESTS = Path(__file__).parents[1]


def is_found(test: Path) -> bool:
    folder = test.parent.relative_to(TESTS)
    if folder.parts and not (SOURCE / folder.parts[0]).is_dir():
        return True  # of no package: tests/page, tests/docs, tests/chaos and so on
    if folder.name == "behaviour":
        return (SOURCE / folder.parent).is_dir()
    name = test.stem.removeprefix("test_")
    return name == (SOURCE / folder).name or (SOURCE / folder / f"{name}.py").exists()


def test_each_test_has_the_path_of_its_module_or_is_of_a_behaviour() -> None:
    """The contract of a package as a whole is in the file with the name of the package."""
    assert not [str(test) for test in TESTS.rglob("test_*.py") if not is_found(test)]
