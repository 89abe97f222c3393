"""Check an exported logbook offline, with nothing but this file and Python.

    python3 verify_logbook.py EXPORT [KEY]

KEY is the host's public key in hexadecimal, as you know it from elsewhere; without
it, an export only agrees with itself. docs/spec/logbook.md has the format. Exit
status: 0 it holds, 65 it does not, 66 it cannot be read.
"""

import base64
import hashlib
import json
import re
import sys
from pathlib import Path

Record = dict[str, object]
Point = tuple[int, int]
HEADER = ["export", "session", "genesis", "count", "host"]
ENTRY = ["index", "prev", "session", "incarnation", "epoch", "at", "kind"]
HEAD = ["head", "session", "incarnation", "hash", "host", "signature"]
KIND = re.compile(
    "opened|attached|detached|input|refused|declined|intended|settled|signed|turn|asked|"
    "answered|granted|revoked|fenced|frozen|thawed|resumed|recovered|began|finished|exec|"
    "changed|ending|exited|interrupted"
)
MAX_LINE, KEY, SIGNATURE = 128 * 1024, 32, 64
INPUTS, SALT, STEP = "holdfast inputs 1\n", 16, 48
P, ORDER = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D, ROOT = -121665 * pow(121666, -1, P) % P, pow(2, (P - 1) // 4, P)
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


def check_export(raw: bytes, key: str | None = None) -> str:
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
    said = f"{session}: {count} entries hold together, up to {found[-1][0]}"
    said += "\n" + _signed_inputs(lines, str(session))
    if host is None:
        return f"{said}\nNo host vouches for the end: a tail cut off would not show."
    index = _vouched(_record(tail, "the signed head"), header, found)
    return f"{said}\nThe host {host} vouches for all up to entry {index}."


def _signed_inputs(lines: list[bytes], session: str) -> str:
    """Check what operators signed; say how many inputs that is (section 13)."""
    ends: dict[str, tuple[int, bytes]] = {}
    known: dict[tuple[str, object], tuple[object, bytes]] = {}
    inputs: list[tuple[str, Record]] = []
    for index, line in enumerate(lines):
        where, entry = f"entry {index}", _record(line, f"entry {index}")
        if entry["kind"] == "input":
            inputs.append((where, entry))
        elif entry["kind"] == "signed":
            steps = _followed(where, entry, session, ends)
            first = ends[str(entry["client"])][0] - len(steps) + 1
            for sequence, step in enumerate(steps, first):
                known[str(entry["client"]), sequence] = entry["actor"], step
    signed = sum(_is_made(where, entry, known) for where, entry in inputs)
    return f"{signed} of {len(inputs)} inputs are signed by their operators."


def _followed(
    where: str, entry: Record, session: str, ends: dict[str, tuple[int, bytes]]
) -> list[bytes]:
    """Check a statement and where it begins; note where it ends."""
    actor, client = str(entry.get("actor")), str(entry.get("client"))
    raw = base64.b64decode(str(entry.get("steps")), validate=True)
    steps = [raw[at : at + STEP] for at in range(0, len(raw), STEP)]
    begin = hashlib.sha256(f"{INPUTS}{session}\n{client}\n".encode()).digest()
    count, link = ends.get(client, (0, begin))
    for step in steps:
        count += 1
        link = hashlib.sha256(link + count.to_bytes(8, "big") + step[SALT:]).digest()
    _demand(steps and len(steps[-1]) == STEP, where, "it is no statement")
    _demand(entry.get("last") == count, where, "a statement before it is missing")
    text = f"{INPUTS}{session}\n{actor}\n{client}\n{count}\n{link.hex()}\n".encode()
    key, by = (bytes.fromhex(str(entry.get(name))) for name in ("key", "signature"))
    own = base64.b32encode(hashlib.sha256(key).digest()[:20]).decode().lower()
    _demand(actor == f"a_{own}", where, "its key is not the first of its operator")
    _demand(is_signed(key, by, text), where, "its operator did not sign it")
    ends[client] = count, link
    return steps


def _is_made(
    where: str, entry: Record, known: dict[tuple[str, object], tuple[object, bytes]]
) -> bool:
    """Tell whether an input is signed; refuse one that its operator did not make."""
    found = known.get((str(entry.get("client")), entry.get("sequence")))
    if found is None:
        return False
    actor, step = found
    _demand(actor == entry.get("actor"), where, "another operator signed it")
    if "data" in entry:
        numbers = [int(str(entry[name])) for name in ("incarnation", "epoch")]
        framed = b"".join(number.to_bytes(8, "big") for number in numbers)
        data = base64.b64decode(str(entry["data"]), validate=True)
        kind = f"{entry.get('input')}\0".encode()
        made = hashlib.sha256(INPUTS.encode() + step[:SALT] + framed + kind + data)
        _demand(made.digest() == step[SALT:], where, "its operator signed another")
    return True


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
        raise ValueError(f"{where}: it vouches for entry {index}, which is not here")
    is_this = found[index + 1] in ((digest, life), (digest, None))
    _demand(is_this, where, f"entry {index} is not the one it vouches for")
    return index


def is_signed(key: bytes, signature: bytes, message: bytes) -> bool:
    """Verify Ed25519 as RFC 8032 has it; refuse keys of low order."""
    point, base = _decoded(key), _decoded(BASE_Y.to_bytes(KEY, "little"))
    factor = int.from_bytes(signature[KEY:], "little")
    if not (point and base and len(signature) == SIGNATURE and factor < ORDER):
        return False
    digest = hashlib.sha512(signature[:KEY] + key + message).digest()
    challenge = int.from_bytes(digest, "little") % ORDER
    x, y = _added(_times(factor, base), _times(challenge, (-point[0] % P, point[1])))
    is_equal = y | (x & 1) << 255 == int.from_bytes(signature[:KEY], "little")
    return is_equal and _times(8, point) != (0, 1)


def _decoded(raw: bytes) -> Point | None:
    y = int.from_bytes(raw, "little") & ~(1 << 255)
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    x = x if x * x % P == square else x * ROOT % P
    if len(raw) != KEY or y >= P or x * x % P != square:
        return None
    return (x if x & 1 == raw[-1] >> 7 else -x % P, y)


def _added(one: Point, two: Point) -> Point:
    (a, b), (c, d) = one, two
    over, under = (pow(1 + sign * D * a * b * c * d, -1, P) for sign in (1, -1))
    return (a * d + b * c) * over % P, (b * d + a * c) * under % P


def _times(factor: int, point: Point) -> Point:
    total = (0, 1)
    while factor:
        total = _added(total, point) if factor & 1 else total
        point, factor = _added(point, point), factor >> 1
    return total


if __name__ == "__main__":
    book, *key = sys.argv[1:3] or sys.exit(__doc__)
    try:
        print(check_export(Path(book).read_bytes(), *key))
    except (OSError, ValueError) as error:
        print(f"{book}: {error}", file=sys.stderr)
        sys.exit(65 if isinstance(error, ValueError) else 66)
