"""The injections: one module for each failure mode."""
