"""The keys that were saved with `moot keys set` or on the settings page.

Each is a file of its own in the folder `keys` of the data folder, named after its provider. Only its owner
can read it (mode 0600), and a change replaces the file as a whole. The folder is looked at whenever a key is
needed, so that a running server uses a new key at once, also one that was saved in the terminal. A saved key
comes before the environment and `moot.toml`: the person who saved it wants it to be used.

Beside the keys stands what their last test showed. A key that was never accepted can be used by naming its
model, but makes no model the default.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import msgspec
from msgspec import Struct

from moot.core.errors import Invalid, Unavailable
from moot.providers.keys import Secret

MAX_KEY_LENGTH = 512
KEY = re.compile("[!-~]+")
NOT_A_KEY = f"A key has 1 to {MAX_KEY_LENGTH} letters, digits and signs, without spaces"
FOLDER = "keys"
SETTLED_NS = 1_000_000_000
"""A folder that has changed within this time may change again without another time stamp."""
TESTS = ".tests"
TestState = Literal["untested", "accepted", "failed"]


class KeyTest(Struct, frozen=True):
    """What the last test of a key showed."""

    digest: str
    """Of the key that was tested, so that another one is not taken for it."""
    ok: bool


NO_KEYS: Mapping[str, Secret] = MappingProxyType({})


class SavedKeys:
    """The saved keys of a data folder."""

    def __init__(self, data: Path) -> None:
        self._folder = data / FOLDER
        self._read_at = -1
        self._keys = NO_KEYS
        self._tests: Mapping[str, KeyTest] = {}

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
            self._tests = self._read_tests() if changed_at else {}
            settled = time.time_ns() - changed_at > SETTLED_NS
            self._read_at = changed_at if settled else -1
        return self._keys

    def save(self, provider: str, key: Secret) -> None:
        """Raises Invalid for what cannot be a key, Unavailable where the folder cannot be written."""
        check_key_text(key.reveal())
        self._write(provider, key.reveal())

    def test_state(self, provider: str) -> TestState:
        """What is known of the saved key of this provider."""
        key, test = self.all().get(provider), self._tests.get(provider)
        if key is None or test is None or test.digest != _digest(key):
            return "untested"
        return "accepted" if test.ok else "failed"

    def unproven(self) -> frozenset[str]:
        """The providers whose saved key was never accepted in a test, or failed in the last one."""
        return frozenset(name for name in self.all() if self.test_state(name) != "accepted")

    def record_test(self, provider: str, key: Secret, *, ok: bool) -> None:
        """Keep the result of a test. Raises Unavailable where the folder cannot be written."""
        self.all()
        known = {name: test for name, test in self._tests.items() if name in self._keys}
        tests = {**known, provider: KeyTest(_digest(key), ok)}
        self._write(TESTS, msgspec.json.encode(tests).decode())

    def _write(self, name: str, text: str) -> None:
        temporary = self._folder / f".{name}.{secrets.token_hex(4)}"
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self._folder / name)
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

    def _read_tests(self) -> Mapping[str, KeyTest]:
        with suppress(OSError, msgspec.MsgspecError):
            return msgspec.json.decode((self._folder / TESTS).read_bytes(), type=dict[str, KeyTest])
        return {}

    def _cannot_write(self, error: OSError) -> Unavailable:
        fix = "Check the permissions of the data folder, or choose another one with MOOT_DATA."
        return Unavailable(f"{self._folder} cannot be written: {error.strerror}.", fix)


def _digest(key: Secret) -> str:
    return hashlib.sha256(key.reveal().encode()).hexdigest()


def check_key_text(key: str) -> None:
    """Raises Invalid, without repeating the key, for what cannot be one."""
    if not KEY.fullmatch(key) or len(key) > MAX_KEY_LENGTH:
        raise Invalid(f"{NOT_A_KEY}. Copy it once more.")
