"""The command that adds an extra to this Moot, from where it was installed.

The package called moot on the index is not this one, so `pip install "moot[local]"` would not work. Python
knows where a package came from (`direct_url.json`, PEP 610), and pipx and uv mark the environments they make.
`command_for` is pure; only `read_installation` looks at the machine.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import Any, Literal, NamedTuple
from urllib.parse import unquote, urlsplit

Extra = Literal["cluster", "experiments", "local", "mcp", "parquet", "testing"]
Installer = Literal["pip", "uv", "pipx", "uv tool"]

PROOFS: dict[Extra, str] = {
    "cluster": "procrastinate",
    "experiments": "evalica",
    "local": "xllamacpp",
    "mcp": "mcp",
    "parquet": "pyarrow",
    "testing": "pytest_asyncio",
}
"""A package that is there if the extra is."""


class Origin(NamedTuple):
    """Where it came from: a checkout, a wheel, or an address; all empty where that is not known."""

    path: str = ""
    editable: bool = False
    url: str = ""
    """As after `moot @`."""


class Installation(NamedTuple):
    python: str
    """The interpreter that Moot runs with."""
    installer: Installer = "pip"
    origin: Origin = Origin()
    extras: tuple[Extra, ...] = ()
    """Those that are installed."""


def install_command(extra: Extra) -> str:
    """Return the command that adds `extra` to the Moot that runs."""
    return command_for(extra, read_installation())


def command_for(extra: Extra, here: Installation) -> str:
    """Return the command, quoted for the shell; where the origin is unknown, also how to make a wheel."""
    # pipx and uv make a tool's environment anew, without the extras that are not named.
    anew = here.installer in ("pipx", "uv tool")
    extras = ",".join(sorted({extra, *here.extras} if anew else {extra}))
    match here.installer:
        case "pip":
            install = [here.python, "-m", "pip", "install"]
        case "uv":
            install = ["uv", "pip", "install", "--python", here.python]
        case "pipx":
            install = ["pipx", "install", "--force"]
        case "uv tool":
            install = ["uv", "tool", "install", "--force"]
    path, editable, url = here.origin
    if url:
        return _quoted(*install, f"moot[{extras}] @ {url}")
    if path:
        return _quoted(*install, *(["-e"] if editable else []), f"{path}[{extras}]")
    wheel = f'"$(echo dist/moot-*.whl)[{extras}]"'
    return f"{_quoted(*install)} {wheel} (in a checkout of Moot, after `make wheel`)"


def _quoted(*words: str) -> str:
    if os.name == "nt":
        from subprocess import list2cmdline

        return list2cmdline(words)
    return shlex.join(words)


@cache
def read_installation() -> Installation:
    return Installation(
        sys.executable,
        find_installer(Path(sys.prefix), has_pip=find_spec("pip") is not None),
        find_origin(_direct_url()),
        tuple(extra for extra, proof in PROOFS.items() if find_spec(proof)),
    )


def _direct_url() -> dict[str, Any]:
    try:
        return json.loads(metadata.distribution("moot").read_text("direct_url.json") or "{}")
    except metadata.PackageNotFoundError:
        return {}


class Commit(NamedTuple):
    commit: str | None
    source: str
    """How it was found, or why it was not."""


def find_commit() -> Commit:
    """The commit of the code that runs: as pip recorded it, or that of the checkout it runs from."""
    if recorded := _direct_url().get("vcs_info", {}).get("commit_id"):
        return Commit(recorded, "recorded by the installer (direct_url.json)")
    root = Path(__file__).resolve().parents[2]
    git = which("git")
    if git is None or not (root / ".git").exists():
        return Commit(None, "not a checkout" if git else "git is not installed")
    try:
        head = _output(git, "-C", str(root), "rev-parse", "HEAD")
        changed = _output(git, "-C", str(root), "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.SubprocessError) as error:
        return Commit(None, f"git could not tell: {type(error).__name__}")
    return Commit(head, "git, with changes that are not committed" if changed else "git")


def _output(*words: str) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=True, timeout=10).stdout.strip()


def find_installer(prefix: Path, *, has_pip: bool) -> Installer:
    """Return what can install into the environment at `prefix`."""
    if (prefix / "pipx_metadata.json").exists():
        return "pipx"
    if (prefix / "uv-receipt.toml").exists():
        return "uv tool"
    return "pip" if has_pip else "uv"


def find_origin(direct_url: dict[str, Any]) -> Origin:
    """Return what `direct_url.json` says; nothing, if the wheel or checkout is no longer there."""
    url: str = direct_url.get("url", "")
    if url.startswith("file:"):
        path = _local_path(url)
        editable = bool(direct_url.get("dir_info", {}).get("editable"))
        return Origin(path, editable) if Path(path).exists() else Origin()
    if vcs := direct_url.get("vcs_info"):
        url = f"{vcs['vcs']}+{url}@{vcs.get('requested_revision') or vcs['commit_id']}"
    if "subdirectory" in direct_url:
        url += f"#subdirectory={direct_url['subdirectory']}"
    return Origin(url=url)


def _local_path(url: str) -> str:
    if os.name == "nt":
        from urllib.request import url2pathname

        return url2pathname(urlsplit(url).path)
    return unquote(urlsplit(url).path)
