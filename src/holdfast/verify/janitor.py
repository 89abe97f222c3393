"""Clears an account away when the process that made it is gone, however it went."""

import sys
from pathlib import Path

from holdfast.verify.account import PREFIX, sweep


def main() -> int:
    """Wait for the end of standard input; then leave nothing of the folder."""
    place = Path(sys.argv[1])
    if not place.name.startswith(PREFIX):
        return 64
    sys.stdin.buffer.read()
    sweep(place)
    return 0


if __name__ == "__main__":
    sys.exit(main())
