"""Whatever Moot is built from, the result has the page and the manual inside, or the build says why not."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from moot.manual.pages import missing_pages

ROOT = Path(__file__).parents[2]
VENDOR = "src/moot/web/vendor"
SOURCES = ("src", "docs", "scripts", "pyproject.toml", "package.json", "package-lock.json", "LICENSE")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What git has of it, which is less than set-up leaves there."""
    copy = tmp_path / "checkout"
    left_out = shutil.ignore_patterns("vendor", "__pycache__")
    for name in (*SOURCES, *(page.name for page in ROOT.glob("*.md"))):
        source, target = ROOT / name, copy / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=left_out)
        else:
            shutil.copy(source, target)
    return copy


def built(folder: Path, target: str) -> subprocess.CompletedProcess[str]:
    """Where neither Node.js nor npm can be found."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", target]
    return subprocess.run(
        command, cwd=folder, env={"PATH": ""}, capture_output=True, text=True, check=False, timeout=300
    )


@pytest.mark.parametrize("target", ["wheel", "sdist"])
def test_sources_without_the_page_and_without_node_are_not_built(checkout: Path, target: str) -> None:
    done = built(checkout, target)
    assert done.returncode != 0
    assert (
        "Moot's page is put together with Node.js 18 or newer and npm, and there is no npm here."
        in done.stderr
    )
    assert not list(checkout.glob("dist/*"))


def test_a_source_archive_has_all_that_a_wheel_of_it_needs(checkout: Path, tmp_path: Path) -> None:
    shutil.copytree(ROOT / VENDOR, checkout / VENDOR)
    assert built(checkout, "sdist").returncode == 0
    [archive] = checkout.glob("dist/*.tar.gz")
    (tmp_path / "unpacked").mkdir()
    subprocess.run(["tar", "-xf", archive, "-C", tmp_path / "unpacked"], check=True)
    [unpacked] = (tmp_path / "unpacked").iterdir()
    done = built(unpacked, "wheel")
    assert done.returncode == 0, done.stderr
    [wheel] = unpacked.glob("dist/*.whl")
    installed = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as opened:
        opened.extractall(installed)
    assert (installed / "moot/web/vendor/preact.js").is_file()
    assert missing_pages(installed / "moot/manual/sources") == ""
