"""As little as a format can say."""

from __future__ import annotations

BARE = """\
name = "bare"
title = "Bare"
summary = "As little as a format can say."
chairs = [{ name = "For", side = "for" }, { name = "Against", side = "against" }]

[[phases]]
key = "speech"
title = "Speech"
who = "each"
"""
