"""The log: `memory` and `sqlite` keep the same contract, held by one test suite."""
