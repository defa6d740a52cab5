"""Secrets that are in files instead of variables.

`NAME_FILE` names the file of the variable `NAME`, and systemd puts files called `NAME` into the folder
`$CREDENTIALS_DIRECTORY` (LoadCredential=NAME:/path). The file holds one line. A file that is named and cannot
be used is an error: without its token, a server would be open to all.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from moot.core.errors import Invalid

CREDENTIALS = "CREDENTIALS_DIRECTORY"
SUFFIX = "_FILE"


def with_secret_files(env: Mapping[str, str], names: Collection[str]) -> dict[str, str]:
    """The environment, with those of these variables that are in files. Raises Invalid."""
    folder = env.get(CREDENTIALS, "")
    found = dict(env)
    for name in names:
        written = env.get(name + SUFFIX, "").strip()
        if written and env.get(name, "").strip():
            raise Invalid(f"{name} and {name}{SUFFIX} are both set: unset one of them.")
        if written:
            found[name] = _read(Path(written).expanduser(), f"{name}{SUFFIX} names {written}")
        elif folder and (path := Path(folder, name)).is_file() and not env.get(name, "").strip():
            found[name] = _read(path, f"The credential {name} of systemd is {path}")
    return found


def _read(path: Path, what: str) -> str:
    try:
        text = path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise Invalid(f"{what}, which cannot be read: {reason}.") from None
    if not text or len(text.splitlines()) > 1:
        raise Invalid(f"{what}, which must hold one line with the secret, and nothing else.")
    return text
