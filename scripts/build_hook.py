"""Puts what is not in git into every wheel and source archive, or fails with the reason.

hatchling runs it: for `make wheel`, for `pip install git+…`, and for an archive of the sources. The libraries
of the page come from npm; where they are missing, they are fetched here. A source archive has them inside, so
installing from one needs no Node.js. The manual is the Markdown files of the repository and the pictures in
them. The blocking client is generated.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

MADE = "src/moot/web/vendor/preact.js"
PICTURES = (".png", ".svg", ".webp")
COMMANDS = (
    ("npm", "ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"),
    ("node", "scripts/vendor.js"),
)
REASON = (
    "Moot's page is put together with Node.js 18 or newer and npm, and there is no {missing} here. Install "
    "Node.js (Debian: apt-get install nodejs npm; macOS: brew install node), or install Moot from a wheel or "
    "a source archive, which have the page inside."
)


def manual_files(root: Path) -> list[Path]:
    """The pages of the manual, and the pictures that they show."""
    pages = [*root.glob("*.md"), *root.glob("docs/**/*.md")]
    texts = "".join(page.read_text("utf-8") for page in pages)
    pictures = [file for file in root.glob("docs/**/*") if file.suffix in PICTURES and file.name in texts]
    return pages + pictures


class PageBuildHook(BuildHookInterface[Any]):
    """Named in pyproject.toml."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        subprocess.run((sys.executable, "scripts/sync_client.py"), cwd=self.root, check=True)
        if version == "editable":
            return  # a checkout, which set-up makes complete
        if self.target_name == "wheel":
            root = Path(self.root)
            build_data["force_include"] |= {
                str(file): f"moot/manual/sources/{file.relative_to(root)}" for file in manual_files(root)
            }
        self._make_page()

    def _make_page(self) -> None:
        if Path(self.root, MADE).is_file():
            return
        for command in COMMANDS:
            if shutil.which(command[0]) is None:
                raise RuntimeError(REASON.format(missing=command[0]))
            done = subprocess.run(command, cwd=self.root, capture_output=True, text=True)
            if done.returncode:
                said = (done.stdout + done.stderr).strip()[-2000:]
                raise RuntimeError(f"The page cannot be put together: `{' '.join(command)}` failed.\n{said}")
