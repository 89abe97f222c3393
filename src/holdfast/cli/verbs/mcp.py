"""`holdfast mcp`: serve AI agents, each as a separate operator."""

import argparse
import importlib.util
import os
import secrets
import sys
from types import ModuleType

from holdfast.client.current_operator import acting_as
from holdfast.client.own_name import VARIABLE, login_name
from holdfast.linux.stored import operators
from holdfast.model.actors import ActorKind
from holdfast.model.errors import MalformedArgument, NotInstalled
from holdfast.model.text import checked_name, printable, same_name

AGENT = "mcp-agent"
"""The operator an agent acts as unless one is named: never the user."""

MIN_TOKEN = 32
"""Characters of a token, enough that nobody can guess it."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("--http", metavar="ADDRESS:PORT")
    parser.add_argument("--token-file", metavar="FILE")


def run(options: argparse.Namespace) -> int:
    """Serve until the client disconnects, or a signal arrives."""
    operator = _operator()
    main = _main()
    if options.http is None:
        if options.token_file is not None:
            raise MalformedArgument("--token-file", "allowed without --http")
        main.serve_stdio(operator)
        return 0
    address = _address(options.http)
    # Enrol first: a folder with a token and no operator would count as damaged.
    path = options.token_file or f"{acting_as(operator).folder}/mcp-token"
    token = _token(path)
    where = f"http://{options.http}/mcp"
    print(f"holdfast: {where}, token in {printable(path)}", file=sys.stderr)
    main.serve_http(operator, address, token)
    return 0


def _operator() -> str:
    """Return the operator the agent acts as: never a person."""
    name = checked_name(os.environ.get(VARIABLE) or AGENT)
    known = operators.by_name(name)
    is_person = known is not None and known.actor.kind is ActorKind.HUMAN
    if is_person or same_name(name, login_name()):
        raise MalformedArgument(
            name, "an agent: a person's name cannot be used by a program"
        )
    return name


def _main() -> ModuleType:
    if importlib.util.find_spec("mcp") is None:
        raise NotInstalled("the server for agents", "the module `mcp` is not installed")
    from holdfast.mcp import main  # noqa: PLC0415  # optional

    return main


def _address(text: str) -> tuple[str, int]:
    """Return the address to listen on.

    It must be on this machine: anyone who has the token acts as the agent, and over a
    network the token would travel in the clear.
    """
    host, colon, port = text.rpartition(":")
    if host not in ("127.0.0.1", "localhost", "[::1]") or not colon:
        raise MalformedArgument(printable(text, 64), "127.0.0.1:PORT or [::1]:PORT")
    if not port.isascii() or not port.isdigit() or not 0 < int(port) < 2**16:
        raise MalformedArgument(printable(port, 64), "a port from 1 to 65535")
    return host.strip("[]"), int(port)


def _token(path: str) -> str:
    """Return the token from a file, which is created if it does not exist."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return _new_token(path)
    except OSError as error:
        why = f"a readable file: {error.strerror}"
        raise MalformedArgument(printable(path), why) from None
    with os.fdopen(fd) as file:
        facts = os.fstat(fd)
        token = file.read(1024).strip()
    if facts.st_uid != os.getuid() or facts.st_mode & 0o077:
        raise MalformedArgument(printable(path), "a file that only you can read")
    if len(token) < MIN_TOKEN or not token.isascii() or not token.isprintable():
        wanted = f"a file with a token of {MIN_TOKEN} or more characters"
        raise MalformedArgument(printable(path), wanted)
    return token


def _new_token(path: str) -> str:
    token = secrets.token_urlsafe(MIN_TOKEN)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        os.makedirs(os.path.dirname(path) or ".", mode=0o700, exist_ok=True)  # noqa: PTH103, PTH120  # pathlib is slow to load
        fd = os.open(path, flags, 0o600)
    except OSError as error:
        why = f"a writable file: {error.strerror}"
        raise MalformedArgument(printable(path), why) from None
    with os.fdopen(fd, "w") as file:
        file.write(f"{token}\n")
    return token
