"""How things are called in Redis: by digest, for in their names are clients, topics and keys of requests."""

from __future__ import annotations

import hashlib


def redis_key(kind: str, name: str) -> str:
    return f"moot:{kind}:{hashlib.sha256(name.encode()).hexdigest()[:32]}"
