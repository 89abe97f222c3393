"""`holdfast` alone on a terminal: every session at a glance. Loaded only there."""
