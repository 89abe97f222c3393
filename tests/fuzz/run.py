"""Throw bytes at every parser: a result or a refusal, quickly and in little memory.

python -m tests.fuzz.run --seconds 5            every parser, five seconds each
python -m tests.fuzz.run --parser wire.frames   that one only
python -m tests.fuzz.run --parser wire.frames --hex 0102    these bytes, once

A parser is anything that takes bytes. It passes if it returns or raises the
refusal it is registered with; anything else fails and is printed with the
command that repeats it. To put another parser under fire, add a line to PARSERS.
"""
# ruff: noqa: T201  # it talks to whoever runs it

import argparse
import json
import math
import random
import signal
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from types import FrameType

from tests.fuzz.channel_parsers import CHANNEL_PARSERS
from tests.fuzz.core_parsers import CORE_PARSERS
from tests.fuzz.host_parsers import HOST_PARSERS
from tests.fuzz.relay_parsers import RELAY_PARSERS

from holdfast.model.errors import HoldfastError, PeerError, leaves
from holdfast.model.ids import ClientId
from holdfast.wire.codec import decode, encode, error_from
from holdfast.wire.frames import Frame, FrameKind, FrameReader
from holdfast.wire.messages import MAX_FACTS, Hello, Refuse
from holdfast.wire.versions import SPOKEN, choose

TESTS = Path(__file__).parent.parent

MAX_SECONDS = 1.0
"""The longest one call may take; no honest input needs a hundredth of it."""

HANGS = 10.0
"""Seconds after which a call is stopped instead of waited for."""

SPARE_MEMORY = 4 * 1024 * 1024
GROWTH = 64
"""One call may hold SPARE_MEMORY, and GROWTH times the bytes it was given."""

MEASURED = 32
"""One call in so many has its memory measured, which makes it far slower."""

MAX_FAILURES = 5
"""A parser that has failed so often is not asked again."""

MAX_SIZE = 300 * 1024
"""Bytes in one case: a little more than the largest frame."""


@dataclass(frozen=True, slots=True)
class Parser:
    """Something that takes bytes it cannot trust."""

    name: str
    parse: Callable[[bytes], object]
    corpus: Sequence[bytes] = ()
    refusal: type[HoldfastError] = HoldfastError


@dataclass(frozen=True, slots=True)
class Failure:
    """Bytes that did what no bytes may do."""

    parser: str
    data: bytes
    what: str

    def __str__(self) -> str:
        command = f"{sys.executable} -m tests.fuzz.run --parser {self.parser} --hex"
        return f"FAILED {self.parser}: {self.what}\n  {command} {self.data.hex()!r}"


running: list[bytes | None] = [None]
"""The bytes that a parser works on now."""


class TookTooLong(BaseException):
    """A call was stopped; not an Exception, so that no parser swallows it."""


# ── the parsers ───────────────────────────────────────────────────────────────


def vectors(path: str, field: str) -> list[bytes]:
    """Return the bytes under `field` of every case in a file of vectors."""
    cases = json.loads((TESTS / path).read_text("utf-8"))
    return [bytes.fromhex(case[field]) for case in cases]


def read_stream(stream: bytes) -> None:
    """Read frames from a stream in one piece and in two, and compare."""
    whole = FrameReader(limit=4096).feed(stream)
    reader = FrameReader(limit=4096)
    cut = len(stream) // 2
    assert reader.feed(stream[:cut]) + reader.feed(stream[cut:]) == whole


def read_message(kind: FrameKind) -> Callable[[bytes], object]:
    """Return a parser of payloads of one kind, which writes again what it read."""

    def parse(payload: bytes) -> object:
        message = decode(Frame(kind, payload))
        assert encode(message)[5:] == payload, "read, but not as it was written"
        return message

    return parse


def read_messages(stream: bytes) -> list[object]:
    """Read every message of a stream, as a process would."""
    return [decode(frame) for frame in FrameReader().feed(stream)]


def negotiate(payload: bytes) -> int | None:
    """Read a HELLO and choose a version."""
    hello = decode(Frame(FrameKind.HELLO, payload))
    return choose(SPOKEN, hello.versions) if isinstance(hello, Hello) else None


def hear_refusal(payload: bytes) -> HoldfastError | None:
    """Read a REFUSE and make its error again."""
    refuse = decode(Frame(FrameKind.REFUSE, payload))
    return error_from(refuse) if isinstance(refuse, Refuse) else None


MESSAGES = vectors("wire/vectors/messages.json", "frame")
REFUSED = vectors("wire/vectors/refused.json", "frame")
STREAMS = vectors("wire/vectors/streams.json", "stream")


def payloads(kind: FrameKind) -> list[bytes]:
    """Return the payloads of every vector of one kind."""
    return [frame[5:] for frame in MESSAGES + REFUSED if frame[0] == kind]


def refusals() -> list[bytes]:
    """Return a REFUSE of every code, each of its facts a text."""
    whole = [
        Refuse(
            refused=0,
            client=ClientId(""),
            sequence=0,
            code=leaf.code,
            text="because",
            facts=dict.fromkeys(list(signature(leaf).parameters)[:MAX_FACTS], "x"),
            retryable=leaf.retryable,
            next_step="",
        )
        for leaf in leaves()
    ]
    return [encode(refuse)[5:] for refuse in whole]


PARSERS = [
    Parser("wire.frames", read_stream, STREAMS + MESSAGES, PeerError),
    Parser("wire.messages", read_messages, MESSAGES + REFUSED, PeerError),
    Parser("wire.versions", negotiate, payloads(FrameKind.HELLO), PeerError),
    Parser("wire.errors", hear_refusal, refusals(), PeerError),
    *(
        Parser(f"wire.{kind.name}", read_message(kind), payloads(kind), PeerError)
        for kind in FrameKind
    ),
    *(Parser(name, parse, corpus) for name, parse, corpus in CORE_PARSERS),
    *(Parser(name, parse, corpus) for name, parse, corpus in CHANNEL_PARSERS),
    *(Parser(name, parse, corpus) for name, parse, corpus in RELAY_PARSERS),
    *(Parser(name, parse, corpus) for name, parse, corpus in HOST_PARSERS),
]


# ── the cases ─────────────────────────────────────────────────────────────────

Chance = random.Random

LENGTHS = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF)


def cases(parser: Parser, chance: Chance) -> Iterator[bytes]:
    """Yield the corpus, and then bytes made from it and from nothing, for ever."""
    yield from parser.corpus
    while True:
        if not parser.corpus or chance.random() < 0.1:  # a tenth
            yield chance.randbytes(chance.choice((0, 1, 5, 40, 1000)))
            continue
        data = bytearray(chance.choice(parser.corpus))
        for _ in range(chance.choice((1, 1, 1, 2, 4, 16))):
            chance.choice(MUTATIONS)(data, parser.corpus, chance)
        yield bytes(data[:MAX_SIZE])


def flip_bit(data: bytearray, _: Sequence[bytes], chance: Chance) -> None:
    """Turn one bit around."""
    if data:
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def change_byte(data: bytearray, _: Sequence[bytes], chance: Chance) -> None:
    """Put any byte in the place of one."""
    if data:
        data[chance.randrange(len(data))] = chance.randrange(256)


def cut_out(data: bytearray, _: Sequence[bytes], chance: Chance) -> None:
    """Remove a piece."""
    start = chance.randrange(len(data) + 1)
    del data[start : start + chance.choice((1, 1, 2, 8, MAX_SIZE))]


def put_in(data: bytearray, _: Sequence[bytes], chance: Chance) -> None:
    """Insert any bytes, some of them very often."""
    start = chance.randrange(len(data) + 1)
    piece = chance.randbytes(chance.choice((1, 1, 4)))
    data[start:start] = piece * chance.choice((1, 1, 1, 1, 1, 1, 1, 5000))


def repeat_piece(data: bytearray, _: Sequence[bytes], chance: Chance) -> None:
    """Write a piece twice."""
    start = chance.randrange(len(data) + 1)
    piece = data[start : start + chance.randrange(1, 40)]
    data[start:start] = piece


def splice(data: bytearray, corpus: Sequence[bytes], chance: Chance) -> None:
    """Go on with the end of another case."""
    other = chance.choice(corpus)
    data[chance.randrange(len(data) + 1) :] = other[chance.randrange(len(other) + 1) :]


def change_length(data: bytearray, _: Sequence[bytes], chance: Chance) -> None:
    """Write a number that could be a length over 1, 2 or 4 bytes."""
    width = chance.choice((1, 2, 4))
    if len(data) >= width:
        start = chance.randrange(len(data) - width + 1)
        number = chance.choice(LENGTHS) & ((1 << 8 * width) - 1)
        data[start : start + width] = number.to_bytes(width, "big")


MUTATIONS = (
    flip_bit,
    change_byte,
    cut_out,
    put_in,
    repeat_piece,
    splice,
    change_length,
)


# ── the run ───────────────────────────────────────────────────────────────────


def failure_of(parser: Parser, data: bytes, *, measured: bool) -> Failure | None:
    """Give a parser some bytes, and return what it did wrong, if anything."""
    if measured:
        tracemalloc.start()
    started_at = time.thread_time()
    what = ""
    running[0] = data
    try:
        parser.parse(data)
    except parser.refusal:
        pass
    except (Exception, TookTooLong) as error:  # noqa: BLE001  # whatever it is, it is one too many
        what = f"{type(error).__name__}: {str(error)[:200]}"
    running[0] = None
    seconds = time.thread_time() - started_at
    if measured:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        if peak > SPARE_MEMORY + GROWTH * len(data):
            what = what or f"it held {peak} bytes for {len(data)}"
    if seconds > MAX_SECONDS:
        what = what or f"it took {seconds:.1f} s"
    return Failure(parser.name, data, what) if what else None


def fuzz(
    parser: Parser, seed: int, *, calls: int | None = None, seconds: float = math.inf
) -> tuple[int, list[Failure]]:
    """Try a parser until the calls or the seconds are used up.

    Returns how often it was called, and what failed. The same seed makes the
    same cases.
    """
    ends_at = time.perf_counter() + seconds
    failures: list[Failure] = []
    count = 0
    for data in cases(parser, Chance(f"{seed} {parser.name}")):
        if count == calls or time.perf_counter() > ends_at:
            break
        failure = failure_of(parser, data, measured=count % MEASURED == 0)
        count += 1
        if failure is not None:
            failures.append(failure)
        if len(failures) == MAX_FAILURES:
            break
    return count, failures


def stop_what_hangs(seconds: float = HANGS) -> None:
    """Interrupt a call that goes on for `seconds`, looking twice as often.

    The timer is not set anew for every call: that would cost more than most
    calls do. It looks whether the call that runs is the one of last time.
    """
    seen: list[object] = [None]

    def look(_: int, __: FrameType | None) -> None:
        if seen[0] is not None and seen[0] is running[0]:
            raise TookTooLong
        seen[0] = running[0]

    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, seconds / 2, seconds / 2)


def main(arguments: Sequence[str] | None = None) -> int:
    """Fuzz what the arguments name, print what failed, return the exit status."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--seconds", type=float, default=5.0, help="for each parser")
    reader.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    reader.add_argument("--parser", help="only the one of this name")
    reader.add_argument("--hex", help="try these bytes, once")
    wanted = reader.parse_args(arguments)
    chosen = [one for one in PARSERS if wanted.parser in (None, one.name)]
    if not chosen:
        reader.error(f"no parser {wanted.parser!r}")
    stop_what_hangs()
    if wanted.hex is not None:
        data = bytes.fromhex(wanted.hex)
        return report([tried_once(parser, data) for parser in chosen])
    print(f"seed {wanted.seed}")
    return report([tried(parser, wanted.seed, wanted.seconds) for parser in chosen])


def tried_once(parser: Parser, data: bytes) -> list[Failure]:
    """Give a parser these bytes and no others."""
    failure = failure_of(parser, data, measured=True)
    return [] if failure is None else [failure]


def tried(parser: Parser, seed: int, seconds: float) -> list[Failure]:
    """Fuzz a parser, saying so."""
    count, failures = fuzz(parser, seed, seconds=seconds)
    print(f"{parser.name:24} {count:9} calls, {len(failures)} failed", flush=True)
    return failures


def report(outcomes: list[list[Failure]]) -> int:
    """Print every failure and the sum, and return the exit status."""
    for failures in outcomes:
        print(*failures, sep="\n", end="\n" if failures else "")
    failed = sum(1 for failures in outcomes if failures)
    print(f"{len(outcomes) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
