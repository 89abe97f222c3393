"""`holdfast config`: show the settings that are in force, and find mistakes."""

import argparse
import json
import shutil
from pathlib import Path

from holdfast.cli.config_text import facts, written
from holdfast.linux import terminfo
from holdfast.linux.stored import config, folders
from holdfast.model.errors import MalformedArgument
from holdfast.model.settings import Settings
from holdfast.model.text import printable
from holdfast.model.toml_text import Problem

EXIT_BROKEN = 65
"""The file has problems; the number is EX_DATAERR of sysexits(3)."""

ACTIONS = ("check", "show", "path")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("--json", action="store_true")
    parser.add_argument("what", metavar="WHAT", choices=ACTIONS)
    parser.add_argument("file", metavar="FILE", nargs="?")


def run(options: argparse.Namespace) -> int:
    """Do the action."""
    path = options.file or folders.config_file()
    if options.what == "path":
        if options.file:
            given = printable(f"path {options.file}", 64)
            raise MalformedArgument(given, "the arguments that `config` takes")
        is_there = Path(path).exists()
        print(json.dumps({"path": path, "exists": is_there}) if options.json else path)
        return 0
    settings, problems = config.examined(path)
    if options.what == "check":
        return _check(path, settings, problems, as_json=options.json)
    print(json.dumps(facts(settings), indent=2) if options.json else written(settings))
    return 0


def _check(
    path: str, settings: Settings, problems: tuple[Problem, ...], *, as_json: bool
) -> int:
    is_there = Path(path).exists()
    warnings = _warnings(settings)
    if as_json:
        said = {
            "path": path,
            "exists": is_there,
            "problems": [one._asdict() for one in problems],
            "warnings": warnings,
        }
        print(json.dumps(said))
        return EXIT_BROKEN if problems else 0
    shown = printable(path, 1000)
    for problem in problems:
        print(f"{shown}: {problem}")
    for warning in warnings:
        print(f"{shown}: {warning}")
    if not is_there:
        print(f"{shown}: there is no such file; everything has its default")
    elif not problems:
        print(f"{shown}: no problems")
    return EXIT_BROKEN if problems else 0


def _warnings(settings: Settings) -> list[str]:
    """Return what is right by itself, and does not work on this machine."""
    found = []
    if not terminfo.exists(settings.term):
        used = terminfo.usable(settings.term)
        found.append(
            f"term: this machine's terminfo does not know {settings.term};"
            f" sessions get {used}"
        )
    if settings.shell and shutil.which(settings.shell[0]) is None:
        shell = printable(settings.shell[0], 200)
        found.append(f"shell: {shell} is no program; `holdfast new` will not start it")
    return found
