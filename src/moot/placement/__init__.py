"""Who runs which debate. In one process: tasks."""
