"""Pure decisions: what may be asked of a debate, what comes next, what it may cost, when it ends."""
