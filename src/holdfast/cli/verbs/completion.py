"""`holdfast completion`: print a script that completes words in your shell."""

import argparse
from collections.abc import Iterator
from pathlib import Path

from holdfast.cli.main import ALIASES, VERBS
from holdfast.cli.manual_pages import Page

NAMING = (
    *(
        "attach",
        "end",
        "recover",
        "rename",
        "keep",
        "send",
        "keys",
        "answer",
        "run",
        "read",
    ),
    *("screen", "log", "state", "graph", "blame", "wait", "resize", "who", "take"),
    *("ask", "give", "refuse", "drop", "seize", "freeze", "thaw", "approve", "deny"),
    *("grant", "revoke", "detach", "can-checkpoint", "checkpoint", "fork", "token"),
)
"""Verbs whose first argument is a session."""

GATE = ("pending", "approve", "deny", "test", "check", "apply", "init", "example")
"""The actions of `gate`; a test compares them with the verb."""

CONFIG = ("check", "show", "path")
"""Likewise of `config`."""

MODES = (
    *("disconnect", "host-death", "connection", "fork", "no-replay"),
    *("half-applied", "several-actors", "deputy", "idle"),
)
"""Likewise what `verify` injects."""

SCRIPTS = Path(__file__).parents[2] / "shell"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("shell", choices=("bash", "zsh", "fish"))


def run(options: argparse.Namespace) -> int:
    """Print the script."""
    script = (SCRIPTS / f"completion.{options.shell}").read_text("utf-8")
    lines = {"bash": _bash, "zsh": _zsh, "fish": _fish}[options.shell]
    verbs, taken = lines()
    naming = (" " if options.shell == "fish" else "|").join(_naming())
    filled = {
        "VERBS": verbs,
        "OPTIONS": taken,
        "NAMING": naming,
        "GATE": " ".join(GATE),
        "CONFIG": " ".join(CONFIG),
        "MODES": " ".join(MODES),
    }
    for name, text in filled.items():
        script = script.replace(f"@{name}@", text)
    print(script, end="")
    return 0


def _naming() -> list[str]:
    """Return the verbs that name a session, with their other names."""
    return [*NAMING, *(one for one, verb in ALIASES.items() if verb in NAMING)]


def options_of(verb: str) -> list[str]:
    """Return the options that the page of a verb tells of."""
    return [one for one in Page.of(verb).options if one.startswith("--")]


def _bash() -> tuple[str, str]:
    taken = [
        f'            {verb}) words="{" ".join(found)} --help" ;;'
        for verb, found in _taken()
    ]
    return " ".join(VERBS), "\n".join(taken)


def _zsh() -> tuple[str, str]:
    verbs = [f"        '{verb}:{_quoted(what)}'" for verb, what in VERBS.items()]
    taken = [
        f"        {verb}) compadd -- {' '.join(found)} --help ;;"
        for verb, found in _taken()
    ]
    return "\n".join(verbs), "\n".join(taken)


def _fish() -> tuple[str, str]:
    lead = "complete -c holdfast -n"
    verbs = [
        f"{lead} __fish_use_subcommand -a {verb} -d '{_quoted(what)}'"
        for verb, what in VERBS.items()
    ]
    taken = [
        f"{lead} '__fish_seen_subcommand_from {verb}' -l {option.removeprefix('--')}"
        for verb, found in _taken()
        for option in found
    ]
    return "\n".join(verbs), "\n".join(taken)


def _taken() -> Iterator[tuple[str, list[str]]]:
    return ((verb, found) for verb in VERBS if (found := options_of(verb)))


def _quoted(text: str) -> str:
    return text.replace("'", "")
