"""The keys that were saved with `moot keys set` or on the settings page.

Each is a file of its own in the folder `keys` of the data folder, named after its provider. Only its owner
can read it (mode 0600), and a change replaces the file as a whole. The folder is looked at whenever a key is
needed, so that a running server uses a new key at once, also one that was saved in the terminal. A saved key
comes before the environment and `moot.toml`: the person who saved it wants it to be used.
"""

from __future__ import annotations

import os
import re
import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType

from moot.core.errors import Invalid, Unavailable
from moot.providers.keys import Secret

MAX_KEY_LENGTH = 512
KEY = re.compile("[!-~]+")
NOT_A_KEY = f"A key has 1 to {MAX_KEY_LENGTH} letters, digits and signs, without spaces"
FOLDER = "keys"
SETTLED_NS = 1_000_000_000
"""A folder that has changed within this time may change again without another time stamp."""
NO_KEYS: Mapping[str, Secret] = MappingProxyType({})


class SavedKeys:
    """The saved keys of a data folder."""

    def __init__(self, data: Path) -> None:
        self._folder = data / FOLDER
        self._read_at = -1
        self._keys = NO_KEYS

    @property
    def folder(self) -> Path:
        return self._folder

    def stamp(self) -> int:
        """A number that changes with the keys; 0 where none was ever saved."""
        try:
            return self._folder.stat().st_mtime_ns
        except OSError:
            return 0

    def all(self) -> Mapping[str, Secret]:
        """The keys by provider. A file that cannot be read counts as none."""
        changed_at = self.stamp()
        if changed_at != self._read_at:
            self._keys = self._read() if changed_at else NO_KEYS
            settled = time.time_ns() - changed_at > SETTLED_NS
            self._read_at = changed_at if settled else -1
        return self._keys

    def save(self, provider: str, key: Secret) -> None:
        """Raises Invalid for what cannot be a key, Unavailable where the folder cannot be written."""
        check_key_text(key.reveal())
        temporary = self._folder / f".{provider}.{secrets.token_hex(4)}"
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(key.reveal())
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self._folder / provider)
        except OSError as error:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise self._cannot_write(error) from None
        self._read_at = -1

    def remove(self, provider: str) -> bool:
        """Returns whether there was a key. Raises Unavailable where the folder cannot be written."""
        try:
            (self._folder / provider).unlink()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise self._cannot_write(error) from None
        self._read_at = -1
        return True

    def _read(self) -> Mapping[str, Secret]:
        keys: dict[str, Secret] = {}
        with suppress(OSError):
            for file in sorted(self._folder.iterdir()):
                with suppress(OSError, UnicodeDecodeError):
                    key = "" if file.name.startswith(".") else file.read_text("utf-8").strip()
                    if key:
                        keys[file.name] = Secret(key)
        return keys

    def _cannot_write(self, error: OSError) -> Unavailable:
        fix = "Check the permissions of the data folder, or choose another one with MOOT_DATA."
        return Unavailable(f"{self._folder} cannot be written: {error.strerror}.", fix)


def check_key_text(key: str) -> None:
    """Raises Invalid, without repeating the key, for what cannot be one."""
    if not KEY.fullmatch(key) or len(key) > MAX_KEY_LENGTH:
        raise Invalid(f"{NOT_A_KEY}. Copy it once more.")
