"""Everything Moot says to models: templates in `*.md` beside this file, and their rendering.

A request is a pure function of the log up to `turn.started`. A seat's own speeches are its `assistant`
messages; what others said arrives as attributed quotations in `user` messages, fenced with a nonce that they
cannot know, and never as instructions. Each past message is rendered as it was at the time, so that the
prefix stays the same from turn to turn and a provider's cache can hit.
"""
