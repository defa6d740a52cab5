"""Random names: ids of debates, sortable by time, with 80 random bits; secrets of fences."""

from __future__ import annotations

import secrets
import time

CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def new_fence() -> str:
    """128 random bits, from which the fences of one debate get their names."""
    return secrets.token_hex(16)


def new_id(prefix: str = "deb") -> str:
    value = int(time.time() * 1000) << 80 | secrets.randbits(80)
    digits = [CROCKFORD[value >> shift & 31] for shift in range(125, -1, -5)]
    return f"{prefix}_{''.join(digits)}"
