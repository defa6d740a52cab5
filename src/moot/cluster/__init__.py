"""Who runs which debate: tasks of this process, or the workers of several machines."""
