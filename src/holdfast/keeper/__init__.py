"""Keeps copies of what holders need, and has a new holder made when one dies.

Standard library only: what outlives every upgrade must not need one.
"""
