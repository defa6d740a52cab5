"""The right that imported conversations need."""

from __future__ import annotations

from moot.api.rights import STEERING, Right

ARCHIVE = Right("archive", STEERING, "Imported conversations are shown to owners and moderators")
