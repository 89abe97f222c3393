import functools
import itertools
from dataclasses import dataclass, field

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.term.queries import Filtered, Query, QueryFilter, QueryKind

LIMIT = 24

pieces = st.sampled_from(
    [
        *(b"\x1b", b"\x1b[", b"\x1b]", b"\x1bP", b"\x1b\\", b"\xc2", b"\x9b", b"\x9c"),
        *(
            b"\x9d",
            b"\x90",
            b"\xc2\x9b",
            b"\xc2\x9d",
            b"\xc2\x90",
            b"\xc2\x9c",
            b"\xa7",
        ),
        *(b"\x05", b"\x07", b"\x18", b"\x1a", b"\r", b"\0", b"\x7f", b"\x80", b"\\"),
        *(b"[", b"]", b"P", b"X", b"Z", b"c", b"n", b"q", b"$", b"+", b"?", b";", b">"),
        *(b"0", b"5", b"6", b"11;", b"4;1;", b"52;c;", b"18t", b"$p", b"$q", b"1m"),
        *(b"\x1b[c", b"\x1b[6n", b"\x1b]11;?\x07", b"\x1bP$qm\x1b\\", b"\xc2\x9bc"),
        *(b"1337;", b"Re", b"port", b"99;", b"p=", b"7704;", b"@", b"kitty-cmd"),
        *(b"\x1b]2;t", b"\x1b[31m", b"text", b" ", b"0" * LIMIT, b"\0" * LIMIT),
    ]
)
outputs = st.lists(pieces, max_size=14).map(b"".join)


def run(chunks: list[bytes]) -> Filtered:
    queries = QueryFilter(LIMIT)
    answers = [queries.feed(chunk) for chunk in chunks]
    answers.append(queries.finish())
    return Filtered(
        b"".join(answer.visible for answer in answers),
        tuple(query for answer in answers for query in answer.queries),
    )


def put_back(filtered: Filtered) -> bytes:
    whole, done = b"", 0
    for query in filtered.queries:
        whole += filtered.visible[done : query.at] + query.raw
        done = query.at + len(query.left)
        assert filtered.visible[query.at : done] == query.left
    return whole + filtered.visible[done:]


@dataclass
class Terminal:
    """A terminal's parser, one byte at a time and nothing clever."""

    state: str = "ground"
    sequence: bytes = b""
    is_halved: bool = False
    done: list[tuple[str, bytes]] = field(default_factory=list)

    def print(self, output: bytes) -> "Terminal":
        for number in output:
            self.byte(bytes([number]))
        return self

    def byte(self, byte: bytes) -> None:
        if self.is_halved and b"\x80" <= byte <= b"\x9f":
            self.is_halved = False
            self.c1(byte)
            return
        if self.is_halved:
            self.is_halved = False
            self.seven(b"\xc2")
        if byte == b"\xc2":
            self.is_halved = True
        else:
            self.seven(byte)

    def c1(self, byte: bytes) -> None:
        if self.state in ("osc", "dcs") and byte == b"\x9c":
            self.done.append((self.state, self.sequence))
        self.start({b"\x9b": "csi", b"\x9d": "osc", b"\x90": "dcs"}.get(byte, "ground"))
        if byte in (b"\x98", b"\x9e", b"\x9f"):
            self.start("ignored")

    def start(self, state: str) -> None:
        self.state, self.sequence = state, b""

    def seven(self, byte: bytes) -> None:
        if byte in (b"\x18", b"\x1a"):
            self.start("ground")
        elif byte == b"\x1b" or (byte == b"\x07" and self.state == "osc"):
            if self.state in ("osc", "dcs"):
                self.done.append((self.state, self.sequence))
            self.start("escape" if byte == b"\x1b" else "ground")
        elif byte < b"\x20" or byte == b"\x7f":
            if byte == b"\x05" and self.state not in ("osc", "dcs", "ignored"):
                self.done.append(("control", byte))
        else:
            getattr(self, self.state)(byte)

    def ground(self, byte: bytes) -> None:
        self.done.append(("text", byte))

    def escape(self, byte: bytes) -> None:
        if b" " <= byte <= b"/":
            self.sequence += byte
        elif not self.sequence and byte in b"[]PX^_":
            states = {b"[": "csi", b"]": "osc", b"P": "dcs"}
            self.start(states.get(byte, "ignored"))
        else:
            if (self.sequence, byte) != (b"", b"\\"):
                self.done.append(("escape", self.sequence + byte))
            self.start("ground")

    def csi(self, byte: bytes) -> None:
        self.sequence += byte
        if b"@" <= byte <= b"~":
            self.done.append(("csi", self.sequence))
        if byte >= b"@":
            self.start("ground")

    def osc(self, byte: bytes) -> None:
        self.sequence += byte

    dcs = osc

    def ignored(self, byte: bytes) -> None:
        pass


@functools.cache
def is_query(act: tuple[str, bytes]) -> bool:
    introducer = {"csi": b"\x1b[", "osc": b"\x1b]", "dcs": b"\x1bP", "escape": b"\x1b"}
    kind, sequence = act
    end = b"\x1b\\" if kind in ("osc", "dcs") else b""
    if kind == "text":
        return False
    whole = introducer.get(kind, b"") + sequence + end
    return bool(QueryFilter().feed(whole).queries)


@given(outputs, st.data())
def test_i1_any_cut_of_the_output_gives_the_same(
    output: bytes, data: st.DataObject
) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(output)), max_size=6).map(sorted))
    borders = [0, *cuts, len(output)]
    chunks = [output[a:b] for a, b in itertools.pairwise(borders)]

    assert run(chunks) == run([output])


@given(outputs)
def test_i1_byte_by_byte_is_a_cut_too(output: bytes) -> None:
    assert run([bytes([number]) for number in output]) == run([output])


TRICKY = [
    *(b"\x1b[c", b"\xc2\x9bc", b"\x05", b"\x1b]11;?\x07", b"\x1b]11;?\x1b\\"),
    *(
        b"\x1b",
        b"\x1b[3",
        b"\xc2",
        b"\xc2\xa7",
        b"\x9b",
        b"[c",
        b"text",
        b"\x07",
        b"\x18",
    ),
    *(
        b"\x1b]2;t",
        b"\x1b\x07]2;t",
        b"\x1bPx",
        b"\x1bP$q\x07",
        b"\x1b\\",
        b"\x1b[\x051t",
    ),
    *(b"\x1b]11;?" + b"0" * (LIMIT - over) + b"\x07" for over in (3, 4, 5)),
    *(b"\x1b[" + b"0" * (LIMIT - over) + b"c" for over in (0, 1)),
    *(b"\x1b[" + b"0" * (LIMIT - over) + b"m" for over in (0, 1, 2)),
    *(b"\x1b[?" + b"0" * (LIMIT - over) + b"h" for over in (0, 1, 2)),
]


@pytest.mark.parametrize("first", TRICKY, ids=ascii)
def test_i1_i2_i3_hold_for_every_cut_of_tricky_output(first: bytes) -> None:
    for second, third in itertools.product(TRICKY, (b"", b"\x1b[c")):
        output = first + second + third
        whole = run([output])
        shown = Terminal().print(whole.visible).done

        assert put_back(whole) == output
        assert not any(map(is_query, shown)), output
        for cut in {*range(1, len(output), 4), len(first), len(output) - 1}:
            assert run([output[:cut], output[cut:]]) == whole, (output, cut)


@given(outputs | st.binary(max_size=200))
def test_i2_what_was_taken_out_fits_back_in(output: bytes) -> None:
    assert put_back(run([output])) == output


@given(outputs)
@example(b"\x1b\x1b[c[c")
@example(b"\xc2\x9d52;c;?;q\xc2\x9d")
def test_i3_nothing_visible_is_a_query(output: bytes) -> None:
    visible = run([output]).visible

    assert run([visible]).queries == ()


@given(outputs)
@example(b"\x1b]2;t\x1b[c?\x07")
def test_i3_a_terminal_does_what_it_would_have_done_but_answers_nothing(
    output: bytes,
) -> None:
    filtered = run([output])

    shown = Terminal().print(filtered.visible).done
    assert not any(is_query(act) for act in shown)
    if QueryKind.UNFINISHED not in {query.kind for query in filtered.queries}:
        meant = Terminal().print(output).done
        assert shown == [act for act in meant if not is_query(act)]


@given(st.binary(max_size=300))
def test_any_bytes_are_filtered_without_an_error(output: bytes) -> None:
    filtered = QueryFilter().feed(output)

    assert len(filtered.visible) <= len(output) + 2 * len(filtered.queries)


@pytest.mark.parametrize("kind", QueryKind)
def test_a_query_is_a_value(kind: QueryKind) -> None:
    assert Query(kind, 1, b"x") == Query(kind, 1, b"x")
