"""Write constraints.txt: one exact pin for everything Moot and its extras pull in.

pip itself resolves, in an empty environment and without installing, so the user's own index settings
count and nothing but names and versions is written down.
"""

import json
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADER = "# Written by `make lock`; do not edit.\n"


def requirements() -> list[str]:
    """Everything pyproject.toml asks for, with every extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    return [*project["dependencies"], *(wish for extra in extras for wish in extra)]


def resolve(wishes: list[str]) -> dict[str, str]:
    """Ask pip which versions it would install."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        report = Path(folder, "report.json")
        pip = [Path(folder, "bin/python"), "-m", "pip", "install", "-qq", "--dry-run", "--report", report]
        subprocess.run([*pip, *wishes], check=True)
        installs = json.loads(report.read_text())["install"]
    return {normal(i["metadata"]["name"]): i["metadata"]["version"] for i in installs}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    pins = resolve(requirements())
    lines = [f"{name}=={version}\n" for name, version in sorted(pins.items())]
    (ROOT / "constraints.txt").write_text(HEADER + "".join(lines))
    print(f"constraints.txt: {len(lines)} pins", file=sys.stderr)
