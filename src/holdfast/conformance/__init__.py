"""Runs the wire contract against any implementation that speaks it.

A reading of docs/spec/wire.md of its own: like `holdfast.verify`, this package imports
nothing else of holdfast, so that it shares no mistake with what it checks.
"""
