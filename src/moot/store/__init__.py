"""The log: `memory`, `sqlite` and `postgres` keep the same contract, held by one test suite."""
