"""Nothing that an agent can write, move or remove puts a policy in force."""

import contextlib
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.scenarios.support import Client, Machine, apply_policy, eventually, machine

from holdfast.cli.main import main
from holdfast.client import current_operator, policies
from holdfast.core.book.logbook import EntryKind, read_entries
from holdfast.linux.stored import host_book, places, policy_files
from holdfast.model.actors import ActorKind
from holdfast.model.errors import LogbookFailed
from holdfast.model.ids import SessionId
from holdfast.model.inputs import InputKind
from holdfast.wire import messages as wire

STRICT = """
[[rule]]
name = "write-files"
verdict = "allow"
kind = "agent"
first = ["sort", "cat", "cp", "mv", "rm", "ln", "tee", "sh", "true", "holdfast"]

[undecidable]
agent = "deny"

[[rule]]
name = "no-such-thing"
verdict = "deny"
kind = "agent"
first = "forbidden"
"""
LOOSE = '[default]\nagent = "allow"\nhuman = "allow"\n'


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


@pytest.fixture
def session(here: Machine) -> SessionId:
    apply_policy(STRICT)
    return here.new("bash", "--norc", "--noprofile")


@pytest.fixture
def bot(here: Machine, session: SessionId) -> Client:
    return here.join(session, "bot", ActorKind.AGENT)


def does(bot: Client, line: str) -> None:
    """Have the agent run a line that its policy allows."""
    bot.submit(line.encode() + b"\r", InputKind.COMMAND)
    said = bot.settle_through_cuts()
    assert isinstance(said, wire.Acknowledge), said


def is_held(bot: Client) -> wire.Refuse:
    """Return why the agent may not do what only the policy it wants would allow."""
    bot.submit(b"forbidden\r", InputKind.COMMAND)
    said = bot.settle_through_cuts()
    assert isinstance(said, wire.Refuse), said
    return said


def folder() -> Path:
    return Path(host_book.host_folder())


def record() -> Path:
    return folder() / "policy"


def loose(tmp_path: Path) -> Path:
    """Return a file that an agent would like to be the policy."""
    path = tmp_path / "loose.toml"
    path.write_text(LOOSE)
    return path


Attack = Callable[[Path], str]

ATTACKS: dict[str, Attack] = {
    "sort": lambda want: f"sort --output={places.policy_file()} {want}",
    "cat": lambda want: f"cat {want} > {places.policy_file()}",
    "link": lambda want: f"ln -sf {want} {places.policy_file()}",
    "record": lambda want: f"cp {want} {record()}",
    "record linked": lambda want: f"ln -sf {want} {record()}",
    "record sealed by hand": lambda want: (
        f"head -1 {record()} > {want}.2; cat {want} >> {want}.2; cp {want}.2 {record()}"
    ),
    "record removed": lambda _: f"rm {record()}",
    "next record": lambda want: f"cp {want} {record()}.next",
    "book removed": lambda _: f"rm {folder()}/book.log",
    "book cut": lambda _: (
        f"head -1 {folder()}/book.log > {folder()}/x;"
        f" mv {folder()}/x {folder()}/book.log"
    ),
    "all removed": lambda _: f"rm -r {folder()}",
    "folder moved": lambda want: (
        f"mv {folder()} {folder()}.old; mkdir -m 700 {folder()};"
        f" cp {want} {folder()}/policy"
    ),
    "settings moved": lambda want: (
        f"mv {places.config_dir()} {want}.old;"
        f" mkdir -m 700 {places.config_dir()};"
        f" cp -r {want}.old/. {places.config_dir()}; rm -r {folder()};"
        f" cp {want} {places.policy_file()}"
    ),
    "another key": lambda want: (
        f"cat {want} /dev/zero | head -c 32 > {places.config_dir()}/host.key"
    ),
}


@pytest.mark.parametrize("how", ATTACKS)
def test_what_an_agent_writes_loosens_nothing(
    here: Machine, session: SessionId, bot: Client, tmp_path: Path, how: str
) -> None:
    assert is_held(bot).facts["rule"] == "no-such-thing"

    line, done = ATTACKS[how](loose(tmp_path)), tmp_path / "done"
    script = tmp_path / "attack"
    script.write_text(f"{line}\necho done > {done}\n")
    does(bot, f"sh {script}")
    eventually("it was tried", done.exists)

    is_held(bot)
    # Nor for a holder that takes over, nor in a session that is made afterwards.
    here.replace_holder(session)
    if how == "another key":  # By which nobody is known any more.
        with pytest.raises((EOFError, OSError)):
            bot.attach_once()
        return
    is_held(bot)
    with contextlib.suppress(AssertionError):  # Its token may have gone with it all.
        other = here.new("bash", "--norc", "--noprofile")
        is_held(here.join(other, "bot", ActorKind.AGENT))


def test_a_meddled_policy_is_told_and_mended_by_whoever_may(
    here: Machine, session: SessionId, bot: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    anna = here.join(session)
    record().write_bytes(b"x")

    assert is_held(bot).facts["rule"] == "policy-tampered"
    told = anna.wait(wire.Event)
    assert "tampered with" in str(told.fields["text"])
    for verb in ("status", "doctor"):
        main([verb])
        assert "tampered with" in " ".join(capsys.readouterr().out.split())
    eventually("it is on record", lambda: "tampered" in kinds())

    assert main(["gate", "apply", "--yes"]) == 0
    assert is_held(bot).facts["rule"] == "no-such-thing"
    assert main(["log", "--host", "--verify"]) == 0


def kinds() -> list[str]:
    """Return what the host's logbook tells of, every line checked."""
    lines = Path(host_book.book_path()).read_bytes().splitlines()
    with host_book.writing() as book:
        return [entry.kind.value for entry in read_entries(lines, book.id)]


def test_an_older_policy_is_not_put_back(here: Machine) -> None:
    apply_policy(LOOSE)
    kept = {path: path.read_bytes() for path in folder().iterdir() if path.is_file()}
    apply_policy(STRICT)
    session = here.new("bash", "--norc", "--noprofile")
    bot = here.join(session, "bot", ActorKind.AGENT)
    is_held(bot)

    for path, content in kept.items():
        path.write_bytes(content)

    is_held(bot)
    here.replace_holder(session)
    is_held(bot)


@pytest.mark.usefixtures("session")
def test_an_agent_may_not_apply_and_that_is_on_record() -> None:
    places.policy_file().write_text(LOOSE)

    assert main(["--as", "bot", "gate", "apply", "--yes"]) == 77

    assert kinds()[-1] == "declined"
    assert policy_files.standing().waits


def test_what_an_agent_types_into_a_persons_shell_is_the_agents(
    here: Machine,
) -> None:
    apply_policy(LOOSE)
    places.policy_file().write_text(LOOSE + "# more\n")
    session = shell(here)
    bot = here.join(session, "bot", ActorKind.AGENT)
    anna = here.join(session)
    apply = f"{sys.executable} -m holdfast gate apply --yes; echo left $?\r"

    bot.enter(apply.encode())
    bot.wait_output(b"left 77")
    assert policy_files.standing().waits
    assert kinds()[-1] == "declined"

    assert bot.request(wire.Drop()) is None
    assert anna.request(wire.Take()) is None
    # Whoever enters a line while the one before it may still run shares the blame.
    anna.enter(b"sleep 1; echo so''me time\r")
    anna.wait_output(b"some time")
    anna.enter(apply.encode())
    anna.wait_output(b"left 0")
    assert not policy_files.standing().waits


def shell(here: Machine) -> SessionId:
    """Start a shell that says who ran what."""
    answer = here.ask(
        do="create",
        command=["bash"],
        cwd="/",
        env=dict(os.environ),
        size=[200, 24],
        creator=current_operator.ourselves().actor.id,
        integration=True,
    )
    assert answer["ok"], answer
    return SessionId(str(answer["id"]))


APPLY = """
import sys, time
from holdfast.client import current_operator, policies
from holdfast.linux.stored import policy_files
seen = policy_files.standing()
print("ready", flush=True)
sys.stdin.readline()
policies.apply(current_operator.ourselves(), seen)
"""


def applying() -> "subprocess.Popen[bytes]":
    """Start a process that is about to apply what is written now."""
    words = [sys.executable, "-c", APPLY]
    pipe = subprocess.PIPE
    return subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe)


def test_of_two_who_apply_at_once_one_does_and_the_other_is_told() -> None:
    with machine():
        apply_policy(STRICT)
        places.policy_file().write_text(LOOSE)
        both = [applying(), applying()]
        for one in both:
            assert one.stdout is not None
            one.stdout.readline()
        said = [one.communicate(b"\n")[1] for one in both]

        assert sorted(one.returncode for one in both) == [0, 1]
        assert b"another policy was applied" in b"".join(said)
        assert kinds().count("applied") == 2
        assert not policy_files.standing().told()


def test_a_kill_amid_an_apply_leaves_the_one_or_the_other(here: Machine) -> None:
    session = here.new("bash", "--norc", "--noprofile")
    bot = here.join(session, "bot", ActorKind.AGENT)
    seen = set()
    for number in range(20):
        apply_policy(STRICT)
        places.policy_file().write_text(LOOSE)
        looked, us = policy_files.standing(), current_operator.ourselves()
        pid = os.fork()
        if pid == 0:
            policies.apply(us, looked)
            os._exit(0)
        time.sleep(number * 0.001)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        found = policy_files.standing()
        assert not found.tampered
        named = found.applied.text.decode()
        assert named in (STRICT, LOOSE)
        seen.add(named)
        bot.submit(b"forbidden\r", InputKind.COMMAND)
        said = bot.settle_through_cuts()
        assert isinstance(said, wire.Refuse) is (named == STRICT), (number, said)
    assert seen


@pytest.mark.usefixtures("here")
def test_a_full_disk_amid_an_apply_leaves_what_was_in_force() -> None:
    apply_policy(STRICT)
    before = policy_files.standing().applied
    places.policy_file().write_text(LOOSE)
    held = resource.getrlimit(resource.RLIMIT_FSIZE)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    sizes = [0, 100, 300, Path(host_book.book_path()).stat().st_size + 50]
    for size in sizes:
        seen, us = policy_files.standing(), current_operator.ourselves()
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, held[1]))
        try:
            with pytest.raises(LogbookFailed):
                policies.apply(us, seen)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, held)
        assert policy_files.standing().applied == before
        assert not policy_files.standing().tampered
    assert main(["gate", "apply", "--yes"]) == 0
    assert EntryKind.APPLIED.value in kinds()


def test_each_input_names_the_policy_that_judged_it(here: Machine) -> None:
    digests = []
    session = here.new("cat")
    anna = here.join(session)
    for text in (STRICT, LOOSE):
        apply_policy(text)
        digests.append(policy_files.standing().applied.digest[:32])
        assert isinstance(anna.enter(b"x"), wire.Acknowledge)

    lines = places.session_log(session).read_bytes().splitlines()
    named = [
        entry.fields["policy"]
        for entry in read_entries(lines, session)
        if entry.fields.get("input") == InputKind.KEYS
    ]
    assert named == digests
