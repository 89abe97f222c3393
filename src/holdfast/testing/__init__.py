"""A simulated world for the pure core, and the checkers that read its runs.

Public: programs built on holdfast may use it to test themselves.
"""
