"""The vocabulary and state of a debate: plain values and pure functions that import nothing else of Moot."""
