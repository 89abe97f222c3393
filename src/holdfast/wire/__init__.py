"""What travels between processes, as bytes: frames, messages, versions.

Specified in docs/spec/wire.md. `frames` and `versions` need the standard
library only, so that the keeper can use them; nothing is imported here.
"""
