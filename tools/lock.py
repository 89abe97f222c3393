"""Choose the newest dependencies that fit, and pin them with their hashes.

Writes requirements/dev.txt, which is what `make setup` installs. The file names
packages and hashes and no host they come from.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "requirements" / "dev.txt"


def main() -> int:
    """Make a throw-away environment with the resolver, and run it."""
    with tempfile.TemporaryDirectory() as folder:
        _run(sys.executable, "-m", "venv", folder)
        _run(f"{folder}/bin/python", "-m", "pip", "install", "--quiet", "uv")
        _run(
            *(f"{folder}/bin/uv", "pip", "compile", "--quiet", "--generate-hashes"),
            *("--no-emit-index-url", "--no-header", "--python-version", "3.11"),
            *("--extra", "dev", "pyproject.toml", "--output-file", str(TARGET)),
        )
    print(f"wrote {TARGET.relative_to(ROOT)}")
    return 0


def _run(*words: str) -> None:
    subprocess.run(words, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    sys.exit(main())
