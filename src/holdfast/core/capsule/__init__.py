"""Capsules: what is decided about them, and about the images made of them."""
