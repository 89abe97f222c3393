"""Who typed, entered, staged or changed something."""
