"""Keys that no service has given."""

from __future__ import annotations

OLD, NEW = "sk-canary-0001-old", "sk-canary-0002-new"
