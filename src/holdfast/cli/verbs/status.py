"""`holdfast status`: show which of holdfast's processes run."""

import argparse
import json
import os

from holdfast.cli.process_trouble import given_up_told, replaced_told, stalled_told
from holdfast.cli.session_table import age
from holdfast.cli.verbs.upgrade import code_folder
from holdfast.client import host, keeper
from holdfast.linux.stored import places
from holdfast.model.errors import HoldfastError, NoKeeper
from holdfast.model.session_record import SessionRecord
from holdfast.model.session_requests import Status
from holdfast.model.text import printable
from holdfast.version import __version__

Facts = dict[str, object]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> int:
    """Ask the keeper and the host, if they run."""
    facts: Facts = {
        "version": __version__,
        "root": code_folder(),
        "runtime_dir": os.fspath(places.runtime_dir()),
        "keeper": None,
        "sessions": None,
        "host": _without_ok(host.request(Status())),
    }
    try:
        facts["keeper"] = _without_ok(keeper.request(Status(), start=False))
        facts["sessions"] = _by_state(keeper.sessions(start=False))
    except NoKeeper as error:
        facts["why"] = str(error)
    facts["policy"] = _policy()
    facts["warnings"] = _warnings(facts)
    if options.json:
        print(json.dumps(facts, indent=2))
    else:
        _print(facts)
    return 0


def _policy() -> Facts:
    """Return the policy in force, and any problem with it."""
    from holdfast.linux.stored import policy_files  # noqa: PLC0415  # slow to load

    try:
        found = policy_files.standing()
    except (HoldfastError, OSError) as error:
        return {"digest": None, "notices": [str(error)]}
    is_known = not found.tampered
    applied = found.applied
    return {
        "digest": applied.digest if is_known else None,
        "by": applied.by or None,
        "at_ms": applied.at_wall_ms or None,
        "waits": found.waits,
        "valid": not found.candidate.problems,
        "tampered": found.tampered or None,
        "notices": found.told(),
    }


def _without_ok(answer: Facts | None) -> Facts | None:
    if answer is None:
        return None
    return {name: value for name, value in answer.items() if name != "ok"}


def _by_state(known: list[SessionRecord]) -> dict[str, int]:
    states = [one.state or "running" for one in known]
    return {state: states.count(state) for state in sorted(set(states), reverse=True)}


def _warnings(facts: Facts) -> list[str]:
    found = []
    for name in ("keeper", "host"):
        answer = facts[name]
        if isinstance(answer, dict) and _differs(answer):
            found.append(
                f"the {name} runs {answer.get('version')} from"
                f" {answer.get('root') or 'another folder'}, and this is"
                f" {__version__} from {facts['root']}: run `holdfast upgrade`"
            )
    answer = facts["keeper"]
    if isinstance(answer, dict):
        nursery = answer.get("nursery_version") or __version__
        if nursery != __version__:
            found.append(f"the nursery runs {nursery}: run `holdfast upgrade`")
        found += given_up_told(answer)
    policy = facts["policy"]
    if isinstance(policy, dict):
        found += policy["notices"]
    return found


def _differs(answer: Facts) -> bool:
    version, root = answer.get("version"), answer.get("root")
    return version != __version__ or root not in (None, code_folder())


def _print(facts: Facts) -> None:
    _line("holdfast", f"{facts['version']}")
    _line("sockets in", f"{facts['runtime_dir']}")
    answer = facts["keeper"]
    if isinstance(answer, dict):
        _line("keeper", _process(answer))
        _line("nursery", _pid(answer.get("nursery"), "none at this moment"))
        _line("trustee", _pid(answer.get("trustee"), "none at this moment"))
        awake = "none while no session dozes"
        _line("dozer", _pid(answer.get("dozer"), awake))
        painter = _pid(answer.get("painter"), "none until a screen is needed")
        _line("painter", painter)
        unasked = "none until a policy needs one"
        _line("judge", _pid(answer.get("judge"), unasked))
        _print_hanging(answer)
    else:
        _line("keeper", "not running; the next `holdfast new` starts it")
    answer = facts["host"]
    if isinstance(answer, dict):
        _line("host", _process(answer))
        _print_key(answer)
        _print_links(answer)
    else:
        _line("host", "not running; `holdfast up --detach` starts it")
    states = facts["sessions"]
    if isinstance(states, dict):
        counts = [f"{count} {state}" for state, count in states.items()]
        _line("sessions", (", ".join(counts) or "none") + _dozing(facts["keeper"]))
    _print_policy(facts["policy"])
    warnings = facts["warnings"]
    for warning in warnings if isinstance(warnings, list) else ():
        _line("note", str(warning))


def _dozing(answer: object) -> str:
    """Say how many sessions doze, if any."""
    count = answer.get("dozing") if isinstance(answer, dict) else 0
    return f"; {count} dozing" if count else ""


def _print_hanging(answer: Facts) -> None:
    """Print which of holdfast's processes do not answer, and which were replaced."""
    for told in stalled_told(answer):
        _line("stalled", told)
    if replaced := replaced_told(answer):
        _line("replaced", replaced)


def _print_policy(policy: object) -> None:
    if not isinstance(policy, dict):
        return
    digest = policy["digest"]
    if digest is None:
        _line("policy", "not known")
    elif policy["by"] is None:
        _line("policy", "none applied: people may do everything, others nothing")
    else:
        who = _operator(str(policy["by"]))
        _line("policy", f"{str(digest)[:32]}, applied by {who}")


def _print_key(answer: Facts) -> None:
    """Print this host's key as others see it, to compare."""
    from holdfast.crypto import fingerprints  # noqa: PLC0415  # slow to load

    key = bytes.fromhex(str(answer.get("public_key") or ""))
    if key:
        _line("  id", f"{answer.get('host')}")
        _line("  key", fingerprints.short_fingerprint(key))
        _line("", fingerprints.spoken_fingerprint(key))


def _print_links(answer: Facts) -> None:
    links, here = answer.get("links"), answer.get("operators")
    for link in links if isinstance(links, list) else ():
        how = "up" if link.get("up") else f"down: {link.get('why')}"
        _line("relay", f"{link.get('relay')}, {how}")
    for one in here if isinstance(here, list) else ():
        where = one.get("session") or "no session"
        moved = f"{one.get('bytes_in')} bytes in, {one.get('bytes_out')} out"
        _line("elsewhere", f"{_operator(str(one.get('actor')))} in {where}, {moved}")
    traffic = answer.get("traffic")
    if isinstance(traffic, dict) and traffic.get("came"):
        moved = f"{traffic['bytes_in']} bytes in, {traffic['bytes_out']} out"
        _line("traffic", f"{traffic['came']} channels so far, {moved}")


def _operator(actor: str) -> str:
    """Return an operator's name here, or its id."""
    from holdfast.linux.stored import operators  # noqa: PLC0415  # only if somebody is here
    from holdfast.model.ids import ActorId  # noqa: PLC0415  # ditto

    found = operators.by_actor(ActorId(actor))
    return actor if found is None else found.actor.shown()


def _process(answer: Facts) -> str:
    uptime = answer.get("uptime")
    since = f", up {age(uptime)}" if isinstance(uptime, float) and uptime >= 1 else ""
    return f"pid {answer.get('pid')}, {answer.get('version')}{since}"


def _pid(value: object, otherwise: str) -> str:
    return f"pid {value}" if value else otherwise


def _line(name: str, text: str) -> None:
    print(f"{name:<12} {printable(text, 500)}")
