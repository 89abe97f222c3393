"""The logbook: entries, chain, signatures, checkpoints."""
