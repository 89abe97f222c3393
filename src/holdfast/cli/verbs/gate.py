"""`holdfast gate`: inspect the gate, and answer its requests."""

import argparse
import json
import os
from pathlib import Path

from holdfast.cli.approvals import (
    add_answer_arguments,
    answer,
    print_pending,
)
from holdfast.cli.operator_names import Names, actor_from
from holdfast.cli.presence_text import runs_told, uses_facts
from holdfast.cli.turn_requests import live_session
from holdfast.client.calls import try_input
from holdfast.client.current_operator import ourselves
from holdfast.client.session_location import actor_at
from holdfast.model.errors import MalformedArgument, OnlyHere, UsageError
from holdfast.model.inputs import InputKind
from holdfast.model.text import printable, same_name
from holdfast.model.verdicts import Verdict
from holdfast.wire.trials import MAX_CANDIDATE

EXIT_BROKEN = 65
"""The policy file is invalid; the number is EX_DATAERR of sysexits(3)."""

EXIT_VERDICT = {
    Verdict.ALLOW: 0,
    Verdict.ASK: 75,
    Verdict.PREVIEW: 75,
    Verdict.DENY: 77,
}
"""Exit status of `gate test`: that of the input itself, unless it is approved."""

EXAMPLE = Path(__file__).parents[1] / "example_policy.toml"

WORDS = {
    "pending": (0, 1),
    "approve": (1, 2),
    "deny": (1, 2),
    "test": (2, None),
    "check": (0, 1),
    "apply": (0, 1),
    "init": (0, 0),
    "example": (0, 0),
}
"""The least and most arguments that each action takes."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    add_answer_arguments(parser)
    parser.add_argument("--as-operator", metavar="X")
    parser.add_argument("--candidate", metavar="FILE")
    parser.add_argument(
        "--kind",
        metavar="K",
        choices=[kind.value for kind in InputKind if kind is not InputKind.START],
        default=InputKind.COMMAND.value,
    )
    parser.add_argument("what", metavar="WHAT", choices=WORDS)
    parser.add_argument("words", metavar="WORD", nargs="*")


def run(options: argparse.Namespace) -> int:
    """Do the action."""
    words: list[str] = options.words
    least, most = WORDS[options.what]
    if len(words) < least or (most is not None and len(words) > most):
        given = " ".join([options.what, *words])
        raise MalformedArgument(printable(given, 64), "the arguments that `gate` takes")
    match options.what:
        case "pending":
            return print_pending(words[0] if words else None, as_json=options.json)
        case "approve" | "deny":
            options.ticket = words[1] if len(words) > 1 else None
            approve = options.what == "approve"
            return answer(options, name=words[0], approve=approve)
        case "test":
            return _test(options, words[0], " ".join(words[1:]))
        case _:
            return _on_policy(options, words)


def _on_policy(options: argparse.Namespace, words: list[str]) -> int:
    """Do an action about the policy rather than about an input."""
    match options.what:
        case "check":
            return _check(words[0] if words else None, as_json=options.json)
        case "apply":
            if words:
                raise _elsewhere(words[0])
            from holdfast.cli.verbs import gate_apply  # noqa: PLC0415  # slow to load

            return gate_apply.run(options)
        case "init":
            return _init(as_json=options.json)
        case _:
            print(EXAMPLE.read_text(), end="")
            return 0


def _init(*, as_json: bool) -> int:
    """Write a policy to start from, where none is; nothing of it is in force yet."""
    from holdfast.linux.stored import places  # noqa: PLC0415  # slow to load

    path = places.policy_file()
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except FileExistsError:
        raise MalformedArgument(
            "gate init", f"needed: {path} exists, and is left as it is"
        ) from None
    except OSError as error:
        raise MalformedArgument(
            str(path), f"a file that can be written: {error.strerror}"
        ) from None
    with os.fdopen(fd, "wb") as file:
        file.write(EXAMPLE.read_bytes())
    if as_json:
        print(json.dumps({"file": str(path), "in_force": False}))
    else:
        print(f"wrote {printable(str(path), 500)}")
        print("Edit it if you like; `holdfast gate apply` puts it in force.")
    return 0


def _elsewhere(word: str) -> UsageError:
    """Return why a policy is not applied on the host that was named."""
    from holdfast.client import hosts  # noqa: PLC0415  # rarely needed

    name = word.partition("/")[0]
    if any(same_name(one.name, name) for one in hosts.known()):
        error = OnlyHere(f"applying the policy of {name}")
        error.add_note("A policy is applied on the machine where it is in force.")
        return error
    return MalformedArgument(
        printable(word, 64), "called as `gate apply`, which takes no arguments"
    )


def _test(options: argparse.Namespace, name: str, text: str) -> int:
    session = live_session(name)
    asked = options.as_operator
    names = Names(actor_at(session.id, ourselves().actor.id))
    who = names.us if asked is None else actor_from(asked, session.id)
    kind = InputKind(options.kind)
    candidate = None
    if options.candidate is not None:
        path, candidate = _candidate(options.candidate)
        if _problems(path, candidate):
            return EXIT_BROKEN
    tried = try_input(session.id, who, kind, os.fsencode(text), candidate)
    notices = [] if candidate is not None or session.host else _notices()
    if options.json:
        facts = {
            "session": session.id,
            "session_name": session.name,
            "actor": who,
            "actor_name": names.shown(who),
            "kind": kind.value,
            "verdict": tried.verdict.value,
            "rule": tried.rule,
            "why": names.told(tried.why),
            "runs": tried.runs,
            "uses": uses_facts(tried.uses),
            "policy": tried.policy,
            "in_force": candidate is None,
            "notices": notices,
        }
        print(json.dumps(facts))
        return EXIT_VERDICT[tried.verdict]
    why = f": {printable(names.told(tried.why), 1000)}" if tried.why else ""
    rule = f" by {printable(tried.rule, 200)}" if tried.rule else ""
    where = f"for {names.shown(who)} in {session.label}"
    print(f"{tried.verdict.value}{rule}, {where}{why}")
    for line in runs_told(tried.runs, tried.uses, names):
        print(line)
    for notice in notices:
        print(f"note: {printable(notice, 1000)}")
    how = "in force" if candidate is None else "not in force: `gate apply` applies it"
    print(f"policy {printable(tried.policy, 64)}, {how}")
    return EXIT_VERDICT[tried.verdict]


def _notices() -> list[str]:
    from holdfast.client.policies import troubles  # noqa: PLC0415  # slow to load

    return troubles()


def _candidate(given: str) -> tuple[Path, bytes]:
    """Return the candidate file, and its text."""
    path = Path(given)
    text = _read(path, is_named=True) or b""
    if len(text) > MAX_CANDIDATE:
        wanted = f"a policy of at most {MAX_CANDIDATE} bytes"
        raise MalformedArgument(printable(str(path), 200), wanted)
    return path, text


def _problems(path: Path, text: bytes) -> bool:
    """Print the problems of a policy; return whether there are any."""
    from holdfast.core.policy.policy_file import examine  # noqa: PLC0415  # slow to load

    _, problems = examine(text)
    for one in problems:
        print(f"{printable(str(path), 500)}: {printable(str(one), 500)}")
    return bool(problems)


def _check(given: str | None, *, as_json: bool) -> int:
    from holdfast.core.policy.policy_file import examine  # noqa: PLC0415  # slow to load
    from holdfast.linux.stored import places  # noqa: PLC0415  # ditto

    path = places.policy_file() if given is None else Path(given)
    raw = _read(path, is_named=given is not None)
    policy, problems = examine(raw or b"")
    if as_json:
        facts = {
            "file": str(path) if raw is not None else None,
            "rules": None if policy is None else len(policy.rules),
            "problems": [
                {"line": one.line, "where": one.where, "what": one.what}
                for one in problems
            ],
        }
        print(json.dumps(facts, indent=2))
    elif raw is None:
        print("There is no policy: people may do everything, others nothing.")
    else:
        for one in problems:
            print(f"{printable(str(path), 500)}: {printable(str(one), 500)}")
        if policy is not None:
            count = len(policy.rules)
            rules = "1 rule" if count == 1 else f"{count} rules"
            print(f"{printable(str(path), 500)}: {rules}, no problems")
    return EXIT_BROKEN if problems else 0


def _read(path: Path, *, is_named: bool) -> bytes | None:
    from holdfast.core.policy.policy_file import MAX_FILE  # noqa: PLC0415  # slow to load

    try:
        with path.open("rb") as file:
            return file.read(MAX_FILE + 1)
    except FileNotFoundError:
        if not is_named:
            return None
        wanted = "a file: it does not exist"
    except OSError as error:
        wanted = f"a readable file: {error.strerror}"
    raise MalformedArgument(printable(str(path), 200), wanted)
