"""Judging, pure: what a judge is asked, how its reply becomes a ballot, how ballots become a verdict."""
