"""How a token is made, and by what it is known again.

The bearer has the token; the store has its digest. A token is 32 random bytes, so a plain SHA-256 of it is
as hard to turn back as one that takes its time, and a request costs microseconds.
"""

from __future__ import annotations

import hashlib
import secrets

PREFIX = "moot_"
"""By which scanners for leaked secrets, and people, know it for what it is."""


def new_secret() -> str:
    return PREFIX + secrets.token_urlsafe(32)


def digest(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="surrogatepass")).hexdigest()
