"""Sessions whose execs are judged, for scenarios."""

import os
import struct
from pathlib import Path

from tests.scenarios.support import Client, Machine, apply_policy

from holdfast.client import current_operator
from holdfast.core.book.logbook import Entry, EntryKind, recover
from holdfast.linux.stored import places
from holdfast.model.actors import ActorKind
from holdfast.model.ids import SessionId
from holdfast.wire import messages as wire

POLICY = """
[default]
agent = "allow"

[[rule]]
name = "keep-files"
verdict = "deny"
kind = "agent"
at = "exec"
first = ["rm", "unlink"]

[[rule]]
name = "ask-first"
verdict = "ask"
kind = "agent"
at = "exec"
first = "touch"
"""

_BASE = 0x400000
_ELF = struct.Struct("=16sHHIQQQIHHHHHH")
_SEGMENT = struct.Struct("=IIQQQQQQ")


def gated(here: Machine, *command: str, cwd: str = "/") -> SessionId:
    """Start a session with an exec gate."""
    answer = here.ask(
        do="create",
        command=list(command or ("bash", "--norc", "--noprofile")),
        cwd=cwd,
        env={"PATH": os.environ["PATH"], "PS1": "$ "},
        size=[200, 24],
        creator=current_operator.ourselves().actor.id,
        exec_gate=True,
    )
    assert answer["ok"], answer
    return SessionId(str(answer["id"]))


def write_policy(text: str = POLICY) -> None:
    """Have a policy hold from now on."""
    apply_policy(text)


def agent(here: Machine, session: SessionId) -> Client:
    """Attach an agent that nobody has seen before."""
    return here.join(session, f"bot-{os.urandom(4).hex()}", ActorKind.AGENT)


def pass_turn(giver: Client, taker: Client) -> None:
    """Let somebody else type."""
    assert giver.request(wire.Drop()) is None
    assert taker.request(wire.Take()) is None


def run(client: Client, line: str) -> str:
    """Type a line, wait for its end, and return what was printed."""
    client.output = b""
    said = client.enter(f"{line}; echo en''ded $?\r".encode())
    assert isinstance(said, wire.Acknowledge), said
    return client.wait_output(b"ended ").decode(errors="replace")


def approval(pending: wire.Pending) -> wire.Approve:
    """Return the approval of what waits."""
    return wire.Approve(pending.ticket, pending.epoch, pending.digest)


def execs(session: SessionId) -> list[Entry]:
    """Return what the logbook says of execs."""
    found = recover(places.session_log(session).read_bytes(), session).entries
    return [entry for entry in found if entry.kind is EntryKind.EXEC]


def bare_program(path: Path, dialect: str, *words: str) -> Path:
    """Write a program of a few instructions, without any library, that executes.

    It speaks one dialect of the kernel and exits with what that answers.
    """
    numbers = {"x86_64": 59, "x32": 520 | 0x4000_0000, "i386": 11}
    width = 8 if dialect == "x86_64" else 4
    size = 0x100
    at = _BASE + size
    texts, pointers = b"", []
    for word in words:
        pointers.append(at + len(texts))
        texts += word.encode() + b"\0"
    texts += bytes(-len(texts) % 8)
    argv = at + len(texts)
    table = b"".join(one.to_bytes(width, "little") for one in (*pointers, 0))
    first, second = (b"\xbb", b"\xb9") if dialect == "i386" else (b"\xbf", b"\xbe")
    call = b"\xcd\x80" if dialect == "i386" else b"\x0f\x05"
    negate = b"\x89\xc3\xf7\xdb" if dialect == "i386" else b"\x89\xc7\xf7\xdf"
    leave = 1 if dialect == "i386" else 60
    code = b"\xb8" + numbers[dialect].to_bytes(4, "little")
    code += first + pointers[0].to_bytes(4, "little")
    code += second + argv.to_bytes(4, "little") + b"\x31\xd2" + call
    code += negate + b"\xb8" + leave.to_bytes(4, "little") + call
    begin = _ELF.size + _SEGMENT.size
    body = code.ljust(size - begin, b"\x90") + texts + table
    ident = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    header = _ELF.pack(
        ident, 2, 62, 1, _BASE + begin, _ELF.size, 0, 0, _ELF.size, 56, 1, 0, 0, 0
    )
    whole = begin + len(body)
    segment = _SEGMENT.pack(1, 7, 0, _BASE, _BASE, whole, whole, 0x1000)
    path.write_bytes(header + segment + body)
    path.chmod(0o755)
    return path
