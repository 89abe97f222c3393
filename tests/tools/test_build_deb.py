"""The parts of the Debian package that need no build."""

import re
from pathlib import Path

from holdfast.cli.main import main

ROOT = Path(__file__).parent.parent.parent
CONTAINERFILE = ROOT / "packaging" / "Containerfile"
PINNED = re.compile(r"^([a-z0-9.-]+)==([^ ]+) \\$", re.MULTILINE)


def pins(name: str) -> dict[str, str]:
    return dict(PINNED.findall((ROOT / "requirements" / name).read_text()))


def test_a_package_brings_the_versions_that_were_tested() -> None:
    brought, tested = pins("runtime.txt"), pins("dev.txt")

    assert {"cryptography", "msgspec", "websockets", "mcp"} <= brought.keys()
    assert brought.items() <= tested.items()


def test_what_a_container_runs_is_a_command_that_holdfast_has() -> None:
    lines = CONTAINERFILE.read_text().splitlines()
    commands = [
        re.findall(r'"([^"]*)"', line)
        for line in lines
        if line.startswith("ENTRYPOINT")
    ]
    options = [re.findall(r'"([^"]*)"', line) for line in lines if line[:4] == "CMD "]

    (relay, host), (given,) = commands, options
    assert relay[0] == host[0] == "holdfast"
    assert main([*relay[1:], *given, "--unit"]) == 0
    assert main([*host[1:], "--unit"]) == 0
