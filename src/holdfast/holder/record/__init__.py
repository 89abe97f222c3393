"""The logbook on disk, and what a successor recovers from."""
