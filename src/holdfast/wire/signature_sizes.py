"""How long the parts of a signed statement are; apart, to be loaded by itself."""

SALT = 16
"""Bytes that keep a commitment from being tried out."""

STEP = SALT + 32
"""Bytes of one input in a statement: its salt, and the commitment to it."""

MAX_SIGNED = 256
"""Inputs in one statement: 12 KiB of it; more of them make another statement."""

ROTATION = 192
"""Bytes by which one key of an operator gave way to the next."""

MAX_ROTATIONS = 16
"""Of those, in one statement: more keys than an operator has had."""
