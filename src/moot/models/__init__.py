"""Which models there are: `registry` has all providers by name, `discovery` finds what can be used here, and
the rest fetches local models and runs them.
"""
