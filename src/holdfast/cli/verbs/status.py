"""`holdfast status`: show which of holdfast's processes run."""

import argparse
import json
import os
from typing import NamedTuple

from holdfast.cli.process_trouble import given_up_told, replaced_told, stalled_told
from holdfast.cli.session_table import age
from holdfast.cli.verbs.upgrade import code_folder
from holdfast.client import host, keeper
from holdfast.linux.stored import places
from holdfast.model.errors import HoldfastError, NoKeeper
from holdfast.model.process_status import HostStatus, KeeperStatus
from holdfast.model.session_record import SessionRecord, as_facts
from holdfast.model.text import printable
from holdfast.version import __version__


class PolicyReport(NamedTuple):
    """The policy of this host: which is in force, and what people should know."""

    digest: str | None = None
    by: str | None = None
    at_ms: int | None = None
    waits: bool = False
    valid: bool = True
    tampered: str | None = None
    notices: tuple[str, ...] = ()


class Report(NamedTuple):
    """Everything that is shown."""

    version: str
    root: str
    runtime_dir: str
    keeper: KeeperStatus | None
    sessions: dict[str, int] | None
    host: HostStatus | None
    policy: PolicyReport
    warnings: tuple[str, ...]
    why: str
    """Why there is no answer of a keeper."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--pids", action="store_true")


def run(options: argparse.Namespace) -> int:
    """Ask the keeper and the host, if they run."""
    if options.pids:
        print(*keeper.status().everybody(), sep="\n")
        return 0
    report = _report()
    if options.json:
        facts = as_facts(report)
        if not report.why:
            del facts["why"]
        print(json.dumps(facts, indent=2))
    else:
        _print(report)
    return 0


def _report() -> Report:
    running, sessions, why = None, None, ""
    here, policy = host.status(), _policy()
    try:
        running = keeper.status()
        sessions = _by_state(keeper.sessions(start=False))
    except NoKeeper as error:
        why = str(error)
    notes = [*_warnings(running, here), *policy.notices]
    runtime_dir = os.fspath(places.runtime_dir())
    return Report(
        __version__,
        code_folder(),
        runtime_dir,
        running,
        sessions,
        here,
        policy,
        tuple(notes),
        why,
    )


def _policy() -> PolicyReport:
    from holdfast.linux.stored import policy_files  # noqa: PLC0415  # slow to load

    try:
        found = policy_files.standing()
    except (HoldfastError, OSError) as error:
        return PolicyReport(notices=(str(error),))
    applied = found.applied
    return PolicyReport(
        None if found.tampered else applied.digest,
        applied.by or None,
        applied.at_wall_ms or None,
        found.waits,
        not found.candidate.problems,
        found.tampered or None,
        tuple(found.told()),
    )


def _by_state(known: list[SessionRecord]) -> dict[str, int]:
    states = [one.state or "running" for one in known]
    return {state: states.count(state) for state in sorted(set(states), reverse=True)}


def _warnings(running: KeeperStatus | None, here: HostStatus | None) -> list[str]:
    found = [
        f"the {name} runs {one.version} from {one.root or 'another folder'}, and this"
        f" is {__version__} from {code_folder()}: run `holdfast upgrade`"
        for name, one in (("keeper", running), ("host", here))
        if one is not None
        and (one.version, one.root or code_folder()) != (__version__, code_folder())
    ]
    if running is not None:
        nursery = running.nursery_version or __version__
        if nursery != __version__:
            found.append(f"the nursery runs {nursery}: run `holdfast upgrade`")
        found += given_up_told(running)
    return found


def _print(report: Report) -> None:
    _line("holdfast", report.version)
    _line("sockets in", report.runtime_dir)
    dozing = ""
    if report.keeper is not None:
        _print_keeper(report.keeper)
        dozing = f"; {report.keeper.dozing} dozing" if report.keeper.dozing else ""
    else:
        _line("keeper", "not running; the next `holdfast new` starts it")
    if report.host is not None:
        _print_host(report.host)
    else:
        _line("host", "not running; `holdfast up --detach` starts it")
    if report.sessions is not None:
        counts = [f"{count} {state}" for state, count in report.sessions.items()]
        _line("sessions", (", ".join(counts) or "none") + dozing)
    _print_policy(report.policy)
    for warning in report.warnings:
        _line("note", warning)


def _print_keeper(running: KeeperStatus) -> None:
    """Print what a keeper has started, what does not answer, and what was replaced."""
    _line("keeper", _process(running))
    for name, pid, otherwise in (
        ("nursery", running.nursery, "none at this moment"),
        ("trustee", running.trustee, "none at this moment"),
        ("dozer", running.dozer, "none while no session sleeps"),
        ("painter", running.painter, "none until a screen is needed"),
        ("judge", running.judge, "none until a policy needs one"),
    ):
        _line(name, f"pid {pid}" if pid else otherwise)
    for told in stalled_told(running):
        _line("stalled", told)
    if replaced := replaced_told(running):
        _line("replaced", replaced)


def _print_policy(policy: PolicyReport) -> None:
    if policy.digest is None:
        _line("policy", "not known")
    elif policy.by is None:
        _line("policy", "none applied: people may do everything, others nothing")
    else:
        _line("policy", f"{policy.digest[:32]}, applied by {_operator(policy.by)}")


def _print_host(here: HostStatus) -> None:
    """Print the host with its key, as others see it, and who came through relays."""
    from holdfast.crypto import fingerprints  # noqa: PLC0415  # slow to load

    _line("host", _process(here))
    if key := bytes.fromhex(here.public_key):
        _line("  id", here.host)
        _line("  key", fingerprints.short_fingerprint(key))
        _line("", fingerprints.spoken_fingerprint(key))
    for link in here.links:
        how = "up" if link.up else f"down: {link.why}"
        _line("relay", f"{link.relay}, {how}")
    if here.lease_count:
        fenced = f", {here.fenced_count} run out" if here.fenced_count else ""
        _line("leases", f"{here.lease_count}{fenced}; `holdfast leases` lists them")
    for one in here.operators:
        moved = f"{one.bytes_in} bytes in, {one.bytes_out} out"
        where = one.session or "no session"
        _line("elsewhere", f"{_operator(one.actor)} in {where}, {moved}")
    traffic = here.traffic
    if traffic.came:
        moved = f"{traffic.bytes_in} bytes in, {traffic.bytes_out} out"
        _line("traffic", f"{traffic.came} channels so far, {moved}")


def _operator(actor: str) -> str:
    """Return an operator's name here, or its id."""
    from holdfast.linux.stored import operators  # noqa: PLC0415  # only if operators are here
    from holdfast.model.ids import ActorId  # noqa: PLC0415  # ditto

    found = operators.by_actor(ActorId(actor))
    return actor if found is None else found.actor.shown()


def _process(one: KeeperStatus | HostStatus) -> str:
    since = f", up {age(one.uptime)}" if one.uptime >= 1 else ""
    return f"pid {one.pid}, {one.version}{since}"


def _line(name: str, text: str) -> None:
    print(f"{name:<12} {printable(text, 500)}")
