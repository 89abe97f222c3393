"""Check an exported logbook offline, with nothing but this file and Python.

    python3 verify_logbook.py [--strict] EXPORT [KEY]

KEY is the host's public key in hexadecimal, as you know it from elsewhere; without
it, an export only agrees with itself. With --strict an export is refused whose last
entry no host vouches for. docs/spec/logbook.md has the format. Inputs
that their operators did not sign are listed; for those the host alone answers. Exit
status: 0 it holds, 65 it does not, 66 it cannot be read.
"""

import base64
import functools
import hashlib
import json
import re
import sys
from pathlib import Path

Record = dict[str, object]
Who = tuple[str, str]
Point = tuple[int, int]
Extended = tuple[int, int, int, int]
HEADER = ["export", "session", "genesis", "count", "host"]
ENTRY = ["index", "prev", "session", "incarnation", "epoch", "at", "kind"]
HEAD = ["head", "session", "incarnation", "hash", "host", "signature"]
KIND = re.compile(
    "opened|attached|detached|input|refused|declined|intended|settled|signed|turn|asked|"
    "answered|granted|revoked|fenced|frozen|thawed|resumed|recovered|began|finished|exec|"
    "changed|ending|exited|interrupted|unbound|swept|imaged|limited|unfenced|stopped|forked|checkpoint|applied|"
    "tampered|enrolled|joined|forgotten|rotated|invited|accepted|withdrawn|lapsed|files|arrived|departed|observed|stepped"
)
MAX_LINE, KEY, SIGNATURE = 128 * 1024, 32, 64
INPUTS, SALT, STEP = "holdfast inputs 1\n", 16, 48
TURNS, TURN, MAX_LISTED = "rotations", 192, 50
P, ORDER = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D, ROOT = -121665 * pow(121666, -1, P) % P, pow(2, (P - 1) // 4, P)
BASE_X = 0x216936D3CD6E53FEC0A4E231FDD6DC5C692CC7609525A7B2C9562D608F25D51A
BASE_Y = 4 * pow(5, -1, P) % P


def _demand(is_so: object, where: str, why: str) -> None:
    if not is_so:
        raise ValueError(f"{where}: {why}")


def _record(line: bytes, where: str) -> Record:
    _demand(len(line) <= MAX_LINE, where, f"it is over {MAX_LINE} bytes")
    try:
        read = json.loads(line)
        again = json.dumps(read, ensure_ascii=False, separators=(",", ":")).encode()
    except (ValueError, RecursionError):
        read, again = {}, b""
    _demand(isinstance(read, dict) and again == line, where, "not in the one way")
    is_plain = {*map(type, read.values())} <= {str, int, bool, type(None)}
    _demand(is_plain, where, "not of plain values")
    return dict(read)


def _chain(lines: list[bytes], header: Record) -> list[tuple[object, object]]:
    """Check the entries; return hash and incarnation of each, the genesis first."""
    found: list[tuple[object, object]] = [(header["genesis"], None)]
    was = [0, 0]
    for index, line in enumerate(lines):
        where, entry = f"entry {index}", _record(line, f"entry {index}")
        _demand(list(entry)[: len(ENTRY)] == ENTRY, where, "it is not an entry")
        values = [entry[ENTRY[n]] for n in (3, 4, 5, 0)]
        numbers = [value for value in values if type(value) is int]
        _demand(numbers == values, where, "a number is none")
        _demand(entry["session"] == header["session"], where, "of another session")
        follows = (numbers[3], entry["prev"]) == (index, found[-1][0])
        _demand(follows, where, "it does not follow the entry before it")
        _demand(KIND.fullmatch(str(entry["kind"])), where, "there is no such kind")
        _demand(all(map(int.__ge__, numbers, was)), where, "a number goes down")
        was = numbers[:2]
        found.append((hashlib.sha256(line).hexdigest(), numbers[0]))
    return found


def check_export(raw: bytes, key: str | None = None, *, is_strict: bool = False) -> str:
    """Return what there is to say of an export; raise ValueError if it is wrong."""
    first, *lines = raw.split(b"\n")
    _demand(lines and lines.pop() == b"", "the export", "its last line is not whole")
    where, header = "the header", _record(first, "the header")
    _demand(list(header) == HEADER, where, "it is not that of an export")
    version, session, genesis, count, host = header.values()
    _demand(version == 1, where, "this version is not known here")
    begin = hashlib.sha256(f"holdfast logbook 1\n{session}".encode()).hexdigest()
    _demand(genesis == begin, where, "its genesis is not the session's")
    _demand(key in (None, host), where, "it names another host's key")
    tail = lines.pop() if host is not None and lines else b""
    found = _chain(lines, header)
    _demand(len(lines) == count, "the export", f"{len(lines)} entries, not {count}")
    said = f"{session}: {count} entries verified, up to {found[-1][0]}"
    signed = Signed(str(session))
    for index, line in enumerate(lines):
        signed.read(index, _record(line, f"entry {index}"))
    said += "\n" + signed.report()
    if host is None:
        _demand(not is_strict, "the export", "no host signed it")
        return f"{said}\nNo host signed the end: a cut tail would not be noticed."
    index = _vouched(_record(tail, "the signed head"), header, found)
    is_whole = index == len(lines) - 1 or not is_strict
    _demand(is_whole, f"entry {index}", "no host signed what follows it")
    return f"{said}\nSigned by host {host} up to entry {index}."


class Signed:
    """What operators signed of their inputs (section 13), as the book is read."""

    def __init__(self, session: str) -> None:
        self.session = session
        self.ends: dict[Who, tuple[int, bytes]] = {}
        self.steps: dict[object, bytes] = {}
        self.keys: dict[str, set[bytes]] = {}
        self.free: dict[object, object] = {}
        self.inputs: list[tuple[int, Record, bool]] = []
        self.void: list[int] = []

    def read(self, index: int, entry: Record) -> None:
        """Take one entry."""
        if entry["kind"] == "turn" and entry.get("from") is None:
            self.free[entry["epoch"]] = entry.get("to")
        elif entry["kind"] == "input" and entry.get("input") != "start":
            was_free = self.free.get(entry["epoch"]) == entry.get("actor")
            self.inputs.append((index, entry, was_free))
        elif entry["kind"] == "signed" and not self._counts(f"entry {index}", entry):
            self.void.append(index)

    def _counts(self, where: str, entry: Record) -> bool:
        """Tell whether a statement is genuine and follows; take it if so."""
        who = actor, client = str(entry.get("actor")), str(entry.get("client"))
        raw, turns = _decoded64(where, entry, "steps"), _decoded64(where, entry, TURNS)
        _demand(raw and len(raw) % STEP == 0, where, "it is no statement")
        key, by = (bytes.fromhex(str(entry.get(name))) for name in ("key", "signature"))
        begin = hashlib.sha256(f"{INPUTS}{self.session}\n{client}\n".encode()).digest()
        count, link = self.ends.get(who, (0, begin))
        steps = [raw[at : at + STEP] for at in range(0, len(raw), STEP)]
        taken: dict[object, bytes] = {}
        for step in steps:
            count += 1
            number = count.to_bytes(8, "big")
            link = hashlib.sha256(link + number + step[SALT:]).digest()
            taken[who, count] = step
        self._rotate(actor, turns)
        said = (self.session, actor, client, count, link.hex())
        text = INPUTS + "".join(f"{part}\n" for part in said)
        follows = entry.get("last") == count and self._is_key_of(actor, key)
        if not (follows and is_signed(key, by, text.encode())):
            return False
        self.ends[who] = count, link
        self.steps.update(taken)
        return True

    def _is_key_of(self, actor: str, key: bytes) -> bool:
        own = base64.b32encode(hashlib.sha256(key).digest()[:20]).decode().lower()
        return actor == f"a_{own}" or key in self.keys.get(actor, ())

    def _rotate(self, actor: str, turns: bytes) -> None:
        """Learn which keys took the place of an operator's first one."""
        for at in range(0, len(turns), TURN):
            one = turns[at : at + TURN]
            old, new, by_old, by_new = one[:32], one[32:64], one[64:128], one[128:]
            if not self._is_key_of(actor, old):
                continue
            text = b"holdfast rotation 1\n" + old + new
            if not (is_signed(old, by_old, text) and is_signed(new, by_new, text)):
                return
            self.keys.setdefault(actor, set()).add(new)

    def report(self) -> str:
        """Say how many inputs are signed, and which are not; refuse a forged one."""
        others = [one[0] for one in self.inputs if not self._is_made(*one)]
        count = len(self.inputs)
        said = f"{count - len(others)} of {count} inputs are signed by their operators."
        if others:
            said += f"\nOnly the host vouches for the inputs {_listed(others)}."
        if self.void:
            said += f"\nThe signatures {_listed(self.void)} are not valid."
        return said

    def _is_made(self, index: int, entry: Record, was_free: bool) -> bool:  # noqa: FBT001
        who = str(entry.get("actor")), str(entry.get("client"))
        step = self.steps.pop((who, entry.get("sequence")), None)
        if step is None or "data" not in entry:
            return step is not None
        if not any(step[:SALT]):
            return False
        data = _decoded64(f"entry {index}", entry, "data")
        epochs = [int(str(entry["epoch"])) - less for less in range(1 + was_free)]
        kind = f"{entry.get('input')}\0".encode()
        for epoch in epochs:
            frame = _framed(entry.get("life", entry["incarnation"])) + _framed(epoch)
            what = hashlib.sha256(INPUTS.encode() + frame + kind + data).digest()
            made = hashlib.sha256(INPUTS.encode() + step[:SALT] + what).digest()
            if made == step[SALT:]:
                return True
        raise ValueError(f"entry {index}: forged, its operator signed another input")


def _framed(number: object) -> bytes:
    return (int(str(number)) % 2**64).to_bytes(8, "big")


def _decoded64(where: str, entry: Record, name: str) -> bytes:
    try:
        return base64.b64decode(str(entry.get(name)), validate=True)
    except ValueError:
        raise ValueError(f"{where}: its {name} cannot be read") from None


def _listed(indices: list[int]) -> str:
    more = f" and {len(indices) - MAX_LISTED} more" if indices[MAX_LISTED:] else ""
    return "of entry " + ", ".join(map(str, indices[:MAX_LISTED])) + more


def _vouched(head: Record, header: Record, found: list[tuple[object, object]]) -> int:
    where = "the signed head"
    _demand(list(head) == HEAD, where, "it is none")
    index, session, life, digest, host, signature = head.values()
    _demand(session == header["session"], where, "it is of another session")
    _demand(host == header["host"], where, "it names another host's key")
    statement = f"holdfast head 1\n{session}\n{life}\n{index}\n{digest}\n".encode()
    is_hex = re.fullmatch("[0-9a-f]{64} [0-9a-f]{128}", f"{host} {signature}")
    raw = bytes.fromhex(f"{host} {signature}") if is_hex else b""
    _demand(is_signed(raw[:KEY], raw[KEY:], statement), where, "the signature is wrong")
    if type(index) is not int or not -1 <= index < len(found) - 1:
        raise ValueError(f"{where}: it signs entry {index}, which is not here")
    is_this = found[index + 1] in ((digest, life), (digest, None))
    _demand(is_this, where, f"entry {index} is not the one it signs")
    return index


def is_signed(key: bytes, signature: bytes, message: bytes) -> bool:
    """Verify Ed25519 as RFC 8032 has it; refuse keys of low order."""
    point = _decoded(key)
    factor = int.from_bytes(signature[KEY:], "little")
    if point is None or len(signature) != SIGNATURE or factor >= ORDER:
        return False
    digest = hashlib.sha512(signature[:KEY] + key + message).digest()
    challenge = int.from_bytes(digest, "little") % ORDER
    x, y = _plain(_sum(factor, BASE, challenge, _extended(-point[0] % P, point[1])))
    return y | (x & 1) << 255 == int.from_bytes(signature[:KEY], "little")


@functools.cache
def _decoded(raw: bytes) -> Point | None:
    """Return the point that a key is; None if it is none, or of low order."""
    y = int.from_bytes(raw, "little") & ~(1 << 255)
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    x = x if x * x % P == square else x * ROOT % P
    if len(raw) != KEY or y >= P or x * x % P != square:
        return None
    x = x if x & 1 == raw[-1] >> 7 else -x % P
    is_low = _plain(_sum(8, _extended(x, y), 0, NOTHING)) == (0, 1)
    return None if is_low else (x, y)


def _added(one: Extended, two: Extended) -> Extended:
    (a, b, c, d), (e, f, g, h) = one, two
    less, more = (b - a) * (f - e) % P, (b + a) * (f + e) % P
    both, twice = 2 * D * d * h % P, 2 * c * g % P
    x, y, z, t = more - less, more + less, twice - both, twice + both
    return x * z % P, t * y % P, z * t % P, x * y % P


def _sum(factor: int, one: Extended, other: int, two: Extended) -> Extended:
    """Return so many of one point and so many of another."""
    total, choice = NOTHING, (NOTHING, one, two, _added(one, two))
    for bit in range(max(factor, other).bit_length() - 1, -1, -1):
        which = (factor >> bit & 1) + 2 * (other >> bit & 1)
        total = _added(total, total)
        total = _added(total, choice[which]) if which else total
    return total


def _extended(x: int, y: int) -> Extended:
    return x, y, 1, x * y % P


def _plain(point: Extended) -> Point:
    x, y, z, _ = point
    back = pow(z, -1, P)
    return x * back % P, y * back % P


NOTHING = (0, 1, 1, 0)
BASE = _extended(BASE_X, BASE_Y)


if __name__ == "__main__":
    words = [word for word in sys.argv[1:4] if word != "--strict"]
    book, *key = words or sys.exit(__doc__)
    try:
        is_strict = "--strict" in sys.argv
        print(check_export(Path(book).read_bytes(), *key, is_strict=is_strict))
    except (OSError, ValueError) as error:
        print(f"{book}: {error}", file=sys.stderr)
        sys.exit(65 if isinstance(error, ValueError) else 66)
