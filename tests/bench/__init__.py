"""`make bench`: what Moot costs, each figure beside a limit measured in the same run."""
