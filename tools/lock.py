"""Choose the newest dependencies that fit, and pin them with their hashes.

Writes requirements/dev.txt, which is what `make setup` installs; of the same versions
requirements/runtime.txt, which is what a Debian package brings along; and
requirements/docs.txt, which is what `make docs` builds the site with. The files name
packages and hashes and no host they come from.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WANTED = {
    "requirements/dev.txt": ("--extra", "dev", "pyproject.toml"),
    "requirements/runtime.txt": (
        *("--extra", "painter", "--extra", "mcp", "pyproject.toml"),
        *("--constraint", "requirements/dev.txt", "--no-annotate"),
    ),
    "requirements/docs.txt": ("requirements/docs.in",),
}
"""What is written, in this order, with the resolver's arguments for it."""


def main() -> int:
    """Make a throw-away environment with the resolver, and run it."""
    with tempfile.TemporaryDirectory() as folder:
        _run(sys.executable, "-m", "venv", folder)
        _run(f"{folder}/bin/python", "-m", "pip", "install", "--quiet", "uv")
        for target, source in WANTED.items():
            _run(
                *(f"{folder}/bin/uv", "pip", "compile", "--quiet", "--generate-hashes"),
                *("--no-emit-index-url", "--no-header", "--python-version", "3.11"),
                *(*source, "--output-file", target),
            )
            print(f"wrote {target}")
    return 0


def _run(*words: str) -> None:
    subprocess.run(words, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    sys.exit(main())
