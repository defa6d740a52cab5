"""What lies where others could read it, and only those can who know a word.

The word itself is never written down. It has to be hard to guess: whoever reads Redis may try as many as they
like.
"""

from __future__ import annotations

import hashlib
from base64 import urlsafe_b64encode

from cryptography.fernet import Fernet, InvalidToken


def encrypt(value: bytes, secret: str) -> bytes:
    return _fernet(secret).encrypt(value)


def decrypt(value: bytes, secret: str) -> bytes | None:
    """None where it was sealed with another word, or with none."""
    try:
        return _fernet(secret).decrypt(value)
    except InvalidToken:
        return None


def _fernet(word: str) -> Fernet:
    return Fernet(urlsafe_b64encode(hashlib.sha256(f"moot {word}".encode()).digest()))
