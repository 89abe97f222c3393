"""A compiler that stays: the names of parts in, the names of objects out."""

# ruff: noqa: T201  # it talks to who has started it

import sys

for part in sys.stdin:
    print(f"out/{part.strip()}.o", flush=True)
