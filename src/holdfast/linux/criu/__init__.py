"""CRIU: where it is, and how one capsule is dumped and restored with it."""
