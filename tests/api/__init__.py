"""The dialects, on the golden logs and on small ones.

`snapshots/NAME.v1.txt` is what v1 makes of a golden log, one frame a line, without the members that say when
and where; `NAME.extended.txt` what is more or other with `extended`; `NAME.native.txt` the kinds of events
that an observer sees. After a change that is meant, they are written anew by

    python -m tests.api
"""
