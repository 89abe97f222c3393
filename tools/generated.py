"""Write files that are made from the code, or say which are not what they should be.

What all the programs here have in common that write such files: each says what it
makes, by path, and this does the rest.

    python -m tools.write_…                    write what differs
    python -m tools.write_… --check            exit 1 if anything does
    python -m tools.write_… --target PLACE     there, and not in its own place
"""

import argparse
from collections.abc import Callable
from pathlib import Path


def write(made: Callable[[Path], dict[Path, str]], target: Path) -> int:
    """Do what the arguments of the program say; return its exit status.

    `made` returns each file that belongs at a target, and its text.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("--target", type=Path, default=target)
    arguments = parser.parse_args()
    differing = {
        path: text
        for path, text in made(arguments.target).items()
        if not path.exists() or path.read_text("utf-8") != text
    }
    for path, text in differing.items():
        if arguments.check:
            print(f"{path} is out of date: run `make generated`")
        else:
            path.write_text(text, "utf-8")
            print(f"wrote {path}")
    return 1 if arguments.check and differing else 0
