"""Several processes on one or many machines: the queue that says which worker runs a debate and how another
takes over, and what they share in Redis: live events, counters, presence.
"""
