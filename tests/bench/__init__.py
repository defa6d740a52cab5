"""`make bench`: what Moot costs, as ratios to a baseline of the same run."""
