import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.mcp import packages

SOURCE = str(Path(__file__).parents[2] / "src")
HEAVY = ("mcp.client", "mcp.server.mcpserver", "httpx2")
"""What the server has no use for, and clients and frameworks do."""


def loaded(program: str) -> set[str]:
    """Return the modules that a fresh process has after a program."""
    told = subprocess.run(
        [sys.executable, "-c", f"{program}\nimport sys; print(*sys.modules)"],
        env={"PYTHONPATH": SOURCE},
        capture_output=True,
        text=True,
        check=True,
    )
    return {*told.stdout.split()}


def test_the_server_loads_nothing_that_only_clients_and_frameworks_use() -> None:
    modules = loaded("from holdfast.mcp import main; main.load()")

    assert "holdfast.mcp.server" in modules
    assert not modules & {*HEAVY}


def test_whoever_asks_the_package_for_a_name_gets_it() -> None:
    modules = loaded(
        "from holdfast.mcp import packages; packages.enter('mcp');"
        " packages.enter('mcp.server'); import mcp; mcp.ClientSession;"
        " from mcp.server import Server; assert mcp.server.Server is Server"
    )

    assert "mcp.client" in modules


def test_a_name_that_there_is_not_is_still_an_error() -> None:
    with pytest.raises(subprocess.CalledProcessError):
        loaded(
            "from holdfast.mcp import packages; packages.enter('mcp');"
            " import mcp; mcp.nothing"
        )


def test_what_is_loaded_already_is_left_as_it_is() -> None:
    before = sys.modules["pathlib"]

    packages.enter("pathlib")

    assert sys.modules["pathlib"] is before


def test_a_package_that_there_is_not_is_said() -> None:
    with pytest.raises(ModuleNotFoundError):
        packages.enter("holdfast_nothing")
