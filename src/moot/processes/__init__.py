"""The programs: the server, the worker, how they start and stop, and the backends that the settings name."""
