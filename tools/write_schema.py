"""Write docs/spec/wire.schema.json from the messages.

python tools/write_schema.py            write it
python tools/write_schema.py --check    exit 1 if it is not what would be written
"""

import argparse
from pathlib import Path

from holdfast.wire import schema

TARGET = Path(__file__).parent.parent / "docs" / "spec" / "wire.schema.json"


def differing(target: Path = TARGET) -> list[Path]:
    """Return the committed files that are not what would be written."""
    is_same = target.exists() and target.read_text("utf-8") == schema.text()
    return [] if is_same else [target]


def main() -> int:
    """Write or check, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--target", type=Path, default=TARGET)
    arguments = parser.parse_args()
    for path in differing(arguments.target):
        if arguments.check:
            print(f"{path} is out of date: run tools/write_schema.py")
            return 1
        path.write_text(schema.text(), "utf-8")
        print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
