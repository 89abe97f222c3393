"""`holdfast doctor`: check what this machine supports."""

import argparse
import json
import os
import textwrap
from dataclasses import asdict

from holdfast.cli.process_trouble import given_up_told, replaced_told, stalled_told
from holdfast.cli.settings_notice import settings_told
from holdfast.client import keeper
from holdfast.core.session.abilities import Ability, Grade, can_work, judge
from holdfast.linux.probes import probe
from holdfast.model.errors import HoldfastError, NoKeeper
from holdfast.model.process_status import HostStatus
from holdfast.model.text import printable

EXIT_UNAVAILABLE = 69

COLOURS = {Grade.OK: "32", Grade.LIMITED: "33", Grade.MISSING: "31"}
PATIENCE = 2.0
"""Seconds for the keeper to answer."""

ADVICE = "`holdfast status` and keeper.log in the runtime folder say more"

MIN_WIDTH = 40
"""Columns kept for the reasons, however narrow the terminal."""

WIDE = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> int:
    """Look, judge and print."""
    abilities = [*judge(probe()), _policy(), _settings(), _host(), _processes()]
    works = can_work(abilities)
    if options.json:
        facts = [
            {name.removeprefix("is_"): value for name, value in asdict(one).items()}
            for one in abilities
        ]
        print(json.dumps({"works": works, "abilities": facts}, indent=2))
    else:
        _print(abilities, works=works)
    return 0 if works else EXIT_UNAVAILABLE


def _settings() -> Ability:
    """Check the settings: report the first mistake in them."""
    told = settings_told()[1]
    if told:
        return Ability(
            "settings", Grade.LIMITED, told[0], "Run `holdfast config check`"
        )
    return Ability("settings", Grade.OK, "no mistakes in config.toml, or no such file")


def _policy() -> Ability:
    """Check the policy: report a draft not yet applied, or problems in it."""
    from holdfast.linux.stored import policy_files  # noqa: PLC0415  # slow to load

    try:
        found = policy_files.standing()
    except (HoldfastError, OSError) as error:
        return Ability("policy", Grade.LIMITED, str(error))
    if told := found.told():
        advice = "Run `holdfast gate apply` when it is ready"
        return Ability("policy", Grade.LIMITED, "; ".join(told), advice)
    if not found.applied.by:
        why = "none applied: people may do everything, others nothing"
        return Ability("policy", Grade.OK, why)
    return Ability("policy", Grade.OK, f"{found.applied.digest[:32]} is in force")


def _host() -> Ability:
    """Check the host, and what would stop `holdfast up`; asking starts none."""
    from holdfast.client import host  # noqa: PLC0415  # slow to load
    from holdfast.linux.stored import places, relays  # noqa: PLC0415  # ditto
    from holdfast.wire.invites import check_relay_url  # noqa: PLC0415  # ditto

    name = "host"
    try:
        places.config_dir()
        places.log_dir()
        for url in relays.written_down():
            check_relay_url(url)
        found = host.status()
    except HoldfastError as error:
        return Ability(
            name, Grade.LIMITED, f"`up` would fail: {error}", error.next_step
        )
    except OSError as error:
        return Ability(name, Grade.LIMITED, f"`up` would fail: {error.strerror}")
    if found is None:
        return Ability(name, Grade.OK, "none runs; `holdfast up --detach` starts it")
    return _running(name, found)


def _running(name: str, found: HostStatus) -> Ability:
    if found.fenced_count:
        told = f"{found.fenced_count} of {found.lease_count} leases have run out"
        return Ability(name, Grade.LIMITED, told, "`holdfast leases` says why.")
    if not found.links:
        return Ability(name, Grade.OK, f"pid {found.pid} runs, and has no relay")
    away = [link for link in found.links if not link.up]
    if not away:
        told = ", ".join(link.relay for link in found.links)
        return Ability(name, Grade.OK, f"pid {found.pid} is connected to {told}")
    told = "; ".join(f"{link.relay}: {link.why}" for link in away)
    return Ability(name, Grade.LIMITED, f"not connected to {told}")


def _processes() -> Ability:
    """Check holdfast's own processes; asking starts none."""
    name = "processes"
    try:
        status = keeper.status(patience=PATIENCE)
    except NoKeeper as error:
        if isinstance(error.__context__, TimeoutError):
            why = f"the keeper did not answer within {PATIENCE:g} s"
            return Ability(name, Grade.LIMITED, why, ADVICE)
        why = "no keeper runs; the next `holdfast new` starts it"
        return Ability(name, Grade.OK, why)
    except HoldfastError as error:
        return Ability(name, Grade.LIMITED, str(error))
    replaced = replaced_told(status)
    if wrong := [*stalled_told(status), *given_up_told(status)]:
        told = [*wrong, *([replaced] if replaced else [])]
        return Ability(name, Grade.LIMITED, "; ".join(told), ADVICE)
    return Ability(name, Grade.OK, f"all answer; {replaced or 'none has hung'}")


def _print(abilities: list[Ability], *, works: bool) -> None:
    is_terminal = os.isatty(1)
    has_colour = is_terminal and not os.environ.get("NO_COLOR")
    columns = os.get_terminal_size(1).columns if is_terminal else WIDE
    names = max(len(one.name) for one in abilities)
    lead = names + len("missing") + 4
    for one in abilities:
        grade = f"{one.grade.value:<7}"
        if has_colour:
            grade = f"\x1b[{COLOURS[one.grade]}m{grade}\x1b[0m"
        text = printable(one.why, 500)
        if one.advice:
            text += f". {printable(one.advice, 500)}"
        lines = textwrap.wrap(text, max(MIN_WIDTH, columns - lead))
        print(f"{one.name:<{names}}  {grade}  {lines[0]}")
        for line in lines[1:]:
            print(" " * lead + line)
    print()
    print("Sessions can work here." if works else "Sessions cannot work here.")
