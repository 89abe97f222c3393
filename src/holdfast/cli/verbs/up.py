"""`holdfast up`: run the host, which connects this machine's sessions to relays."""

import argparse
import json
import os
import sys

from holdfast.cli.arguments import program_from
from holdfast.client import host
from holdfast.linux import systemd
from holdfast.linux.stored import places
from holdfast.model.process_status import HostStatus
from holdfast.model.session_record import as_facts
from holdfast.model.session_requests import Look
from holdfast.model.text import printable

NO_SYSTEMD = (
    "This machine has no systemd that manages your processes, and none is needed:"
    " sessions run in a kernel session of their own (setsid), which neither closing"
    " the terminal nor logging out ends. `holdfast up --detach` starts the host."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--detach", action="store_true")
    how.add_argument("--install", action="store_true")
    how.add_argument("--unit", action="store_true")
    parser.add_argument("--exec", metavar="PATH")
    parser.add_argument("--relay", metavar="URL", action="append", default=[])
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> int:
    """Run it, start it, or have systemd run it."""
    program = program_from(options.exec)
    if options.unit:
        print(systemd.unit_text(program), end="")
        return 0
    places.runtime_dir()
    if options.relay:
        _note_relays(options.relay)
    if options.install:
        return _install(program, as_json=options.json)
    _warn()
    if options.detach:
        return _detach(as_json=options.json)
    from holdfast.host.loop import serve  # noqa: PLC0415  # only who becomes the host

    if serve():
        return 0
    return _say(host.status(), as_json=options.json, started=False)


def _note_relays(urls: list[str]) -> None:
    from holdfast.linux.stored import relays  # noqa: PLC0415  # only who names one
    from holdfast.wire.invites import check_relay_url  # noqa: PLC0415  # ditto

    for url in urls:
        check_relay_url(url)
        relays.add(url.rstrip("/"))
    host.request(Look())  # A running host connects at once.


def _detach(*, as_json: bool) -> int:
    found = host.status()
    if found is not None:
        return _say(found, as_json=as_json, started=False)
    return _say(host.start(), as_json=as_json, started=True)


def _say(found: HostStatus | None, *, as_json: bool, started: bool) -> int:
    if as_json:
        facts = {} if found is None else {"ok": True, **as_facts(found)}
        print(json.dumps({"host": facts, "started": started}))
        return 0
    pid = "unknown" if found is None else found.pid
    if started:
        print(f"the host is running (pid {pid}); `holdfast down` stops it")
    else:
        print(f"a host is already running (pid {pid})")
    return 0


def _install(program: str | None, *, as_json: bool) -> int:
    if not systemd.is_running():
        if as_json:
            print(json.dumps({"installed": False, "why": NO_SYSTEMD}))
        else:
            print(NO_SYSTEMD)
        return 0
    host.end()
    failed = systemd.install(program)
    path = os.fspath(systemd.unit_path())
    if as_json:
        print(json.dumps({"installed": not failed, "unit": path, "failed": failed}))
    elif not failed:
        print(f"{printable(path)} is enabled and running, and lingering is on")
    for step in failed:
        print(f"holdfast: this failed: {step}", file=sys.stderr)
    return 75 if failed else 0


def _warn() -> None:
    if systemd.removes_runtime_dir() and not systemd.lingers():
        print(
            "holdfast: at your last log-out the folder with the sockets is removed, and"
            " nobody can reach\n          your sessions; `holdfast up --install` or"
            " `loginctl enable-linger` prevents that",
            file=sys.stderr,
        )
