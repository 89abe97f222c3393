"""The programs of tools/, run as people run them."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def run_tool(name: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run one to its end."""
    return subprocess.run(
        [sys.executable, "-m", f"tools.{name}", *arguments],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
