"""Write docs/spec/wire.schema.json from the messages.

python -m tools.write_schema            write it
python -m tools.write_schema --check    exit 1 if it is not what would be written
"""

from pathlib import Path

from tools.generated import write

from holdfast.wire import schema

TARGET = Path(__file__).parent.parent / "docs" / "spec" / "wire.schema.json"


if __name__ == "__main__":
    raise SystemExit(write(lambda target: {target: schema.text()}, TARGET))
