"""Tests of the extensions that come with Moot, a folder for each, and of those that docs show."""
