"""The commands `moot experiment` and `moot motions`."""
