"""The policy in force, and whether it is the one that was applied.

Theory of operation
-------------------
What an editor writes is a candidate. `gate apply` puts it in force: the host's
logbook says so first, then the *record* takes the place of the one before. It is
one file, so that text and proof cannot come apart:

    first line   digest, plug-ins, who, when, which entry of the book, the ladder if
                 a step was ever made (core.autonomy.ladder), a seal
    the rest     the policy, as it was applied

The seal is a code over all of it under a key that only the host has. A program that
can write files and lacks that key cannot make a record; and one that was made before
is not the one that the book's last line names.

    book names   record is        then
    none         not there        nothing was ever applied: the defaults hold
    a digest     that one         it is in force
    a digest     another, none    the draft, if it is that one: an apply was cut off;
                                  otherwise tampered with
    cannot be read                tampered with

Invariants, checked by tests/core/policy/test_applied_policy.py:

I1  A policy is in force only if its seal is right and the book names it.
I2  Nothing that can be done to the three files without the key puts one in force
    that was not applied; taking any of them away leaves none in force.
I3  Once a policy was seen in force, none that was applied before it counts.
"""

import hashlib
import hmac
from dataclasses import dataclass, replace

from holdfast.core.autonomy.ladder import MAX_LADDER, ladder_from
from holdfast.core.book.host_book import NO_POLICY, policy_after
from holdfast.core.book.logbook import Entry
from holdfast.core.policy.policy import Policy
from holdfast.core.policy.policy_file import MAX_FILE, MAX_TEXT, read_policy
from holdfast.model.actors import ActorKind
from holdfast.model.errors import MalformedMessage, PolicyTampered
from holdfast.model.text import printable
from holdfast.model.verdicts import Verdict
from holdfast.wire.lines import Value, decode_line, encode_line

MAX_RECORD = MAX_FILE + 2 * MAX_LADDER + 4096
"""Bytes of a record: the largest policy, and its first line with the largest ladder."""

SHORT = 32
"""Hexadecimal digits of a digest in an input's entry: 16 bytes."""

TAMPERED = "policy-tampered"
"""The rule that denies agents everything on a host whose policy was tampered with."""

_SHUT = """[[rule]]
name = "{}"
verdict = "deny"
kind = ["agent", "service", "device"]
why = "{}"
"""
_QUOTED = str.maketrans({'"': "'", "\\": "/"})

_MEMBERS = {"policy": str, "plugins": str, "by": str, "at": int, "entry": int}


@dataclass(frozen=True, slots=True)
class Applied:
    """A policy that an operator put in force."""

    text: bytes
    plugins: str = ""
    """The digest of the plug-ins' folder, if the policy names plug-ins."""

    by: str = ""
    """Who applied it."""

    at_wall_ms: int = 0
    entry: int = -1
    """Where the host's logbook says so."""

    ladder: str = ""
    """The rungs that operators stand on, as they are written down."""

    @property
    def digest(self) -> str:
        """What it is known by: SHA-256 of the text, of the plug-ins and the ladder."""
        return digest_of(self.text, self.plugins, self.ladder)

    @property
    def file_digest(self) -> str:
        """What it would be known by if no step had ever been made."""
        return digest_of(self.text, self.plugins)

    def policy(self) -> Policy:
        """Read the policy, with the rungs that hold.

        Raises:
            UsageError: This version cannot read it.
            PeerError: This version cannot read the ladder.

        """
        rungs = ladder_from(self.ladder).rungs
        read = read_policy(self.text)
        return replace(read, rungs=rungs) if rungs else read

    def to_bytes(self, key: bytes) -> bytes:
        """Write the record down."""
        head: dict[str, Value] = {
            "policy": self.digest,
            "plugins": self.plugins,
            "by": self.by,
            "at": self.at_wall_ms,
            "entry": self.entry,
            **({"ladder": self.ladder} if self.ladder else {}),
        }
        sealed = encode_line({**head, "seal": _seal(encode_line(head), self.text, key)})
        return sealed + b"\n" + self.text


NOTHING = Applied(b"")
"""What holds where nothing was ever applied: an empty policy."""


def digest_of(text: bytes, plugins: str = "", ladder: str = "") -> str:
    """Return what a policy is known by."""
    # No policy has a zero: where the ladder begins cannot be mistaken.
    steps = b"\0" + ladder.encode() if ladder else b""
    return hashlib.sha256(text + plugins.encode() + steps).hexdigest()


def read_record(raw: bytes, key: bytes) -> Applied:
    """Read a record.

    Raises:
        PeerError: This host did not make it.

    """
    first, _, text = raw.partition(b"\n")
    try:
        record = decode_line(first)
    except MalformedMessage:
        raise PolicyTampered("its record was changed") from None
    seal = record.pop("seal", None)
    members = {**_MEMBERS, **({"ladder": str} if "ladder" in record else {})}
    is_whole = list(record) == list(members) and all(
        type(record[name]) is kind for name, kind in members.items()
    )
    wanted = _seal(encode_line(record), text, key)
    if not is_whole or not isinstance(seal, str) or not seal.isascii():
        raise PolicyTampered("its record was changed")
    if not hmac.compare_digest(wanted, seal):
        raise PolicyTampered("its record was changed")
    return Applied(
        text,
        str(record["plugins"]),
        str(record["by"]),
        int(record["at"] or 0),
        int(record["entry"] or 0),
        str(record.get("ladder", "")),
    )


def in_force(
    record: bytes | None,
    cut_off: bytes | None,
    last: Entry | None,
    key: bytes,
    floor: int = 0,
) -> Applied:
    """Return what holds, by the record, a draft of one, and the book's last entry.

    `floor` is when the newest policy was applied that was seen in force here.

    Raises:
        PeerError: It was tampered with.

    """
    named = NO_POLICY if last is None else policy_after(last)
    if named == NO_POLICY:
        if record is not None or floor:
            raise PolicyTampered("the host's logbook knows of no applied policy")
        return NOTHING
    found = _named(named, (record, cut_off), key)
    if found.at_wall_ms < floor:
        raise PolicyTampered("a policy that was in force before was put back")
    return found


def _named(digest: str, records: tuple[bytes | None, ...], key: bytes) -> Applied:
    """Return the one of these records that has the digest."""
    trouble = PolicyTampered("its record was removed")
    for raw in reversed(records):
        if raw is not None:
            trouble = PolicyTampered("it is not the one that the host's logbook names")
            try:
                found = read_record(raw, key)
            except PolicyTampered as error:
                trouble = error
                continue
            if found.digest == digest:
                return found
    raise trouble


def closed(policy: Policy, why: str) -> Policy:
    """Return a policy that denies everything to all operators but humans.

    It is for a host whose policy was tampered with: `policy` is the last
    one that is known to have been applied, by which people are still judged.
    """
    said = printable(why).translate(_QUOTED)[:MAX_TEXT]
    shut = read_policy(_SHUT.format(TAMPERED, said).encode())
    rules = tuple(rule for rule in policy.rules if rule.name != TAMPERED)
    default = dict.fromkeys(policy.default, Verdict.DENY) | {
        ActorKind.HUMAN: policy.default[ActorKind.HUMAN]
    }
    return replace(policy, rules=(*shut.rules, *rules), default=default)


def _seal(head: bytes, text: bytes, key: bytes) -> str:
    return hmac.digest(key, head + b"\n" + text, "sha256").hex()
