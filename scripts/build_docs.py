"""Builds the manual, a site with search that the server shows at /manual, from docs/ and the code.

`make docs` runs it. The pages are put together in build/manual: those of docs/, those at the top of the
repository (architecture, contributing, changelog) and the reference that is generated from the code. A link
or an anchor that does not exist fails the build.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import reference_pages

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "build" / "manual"
FROM_THE_TOP = {
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "README.md": "index.md",
}
"""Where pages at the top of the repository are in the manual. The README is its first page."""
STYLE = "manual.css"
PICTURES = (".png", ".svg", ".webp")
LINK = re.compile(r"(\[[^]]*\]\()([^)#: ]+)((?:#[\w-]+)?\))")


def main() -> None:
    shutil.rmtree(PAGES, ignore_errors=True)
    sources = [*sorted((ROOT / "docs").rglob("*.md")), *(ROOT / name for name in FROM_THE_TOP)]
    for source in sources:
        _write(PAGES / _target(source), LINK.sub(lambda link, page=source: _moved(link, page), _text(source)))
    for picture in {picture for source in sources for picture in _pictures(source)}:
        (PAGES / _target(picture)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(picture, PAGES / _target(picture))
    shutil.copyfile(ROOT / "docs" / STYLE, PAGES / STYLE)
    for path, text in reference_pages.pages().items():
        _write(PAGES / path, text)
    built = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict", "--clean"],
        cwd=ROOT,
        env=os.environ | {"NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if built.returncode:
        sys.exit(built.stdout.split("Traceback")[0])


def _pictures(source: Path) -> Iterator[Path]:
    return (
        _linked(source, link[2]) for link in LINK.finditer(_text(source)) if Path(link[2]).suffix in PICTURES
    )


def _moved(link: re.Match[str], source: Path) -> str:
    """The link as it reads in the manual; of a file that is no page only the text remains."""
    linked = _linked(source, link[2])
    if linked.suffix not in (".md", *PICTURES):
        return link[1].strip("[](")
    return f"{link[1]}{os.path.relpath(_target(linked), Path(_target(source)).parent)}{link[3]}"


def _linked(source: Path, link: str) -> Path:
    return Path(os.path.normpath(source.parent / link))


def _target(source: Path) -> str:
    path = source.relative_to(ROOT).as_posix()
    return FROM_THE_TOP.get(path) or path.removeprefix("docs/")


def _text(source: Path) -> str:
    return source.read_text("utf-8")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
