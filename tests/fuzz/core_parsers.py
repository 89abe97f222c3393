"""What else takes bytes it cannot trust, beside the wire?"""

from collections.abc import Callable
from pathlib import Path

from tests.term.mark_bytes import to_bytes

from holdfast.core.book.logbook import (
    EntryKind,
    Logbook,
    genesis,
    read_entries,
    recover,
)
from holdfast.core.policy.policy import document, judge
from holdfast.core.policy.policy_file import examine, read_policy
from holdfast.core.session.stream import StreamWindow
from holdfast.core.shell.shell_state import changes, read_state
from holdfast.core.shell.state_messages import StateMessages
from holdfast.model.actors import Actor, ActorKind
from holdfast.model.config_file import read_config
from holdfast.model.geometry import Size
from holdfast.model.ids import (
    Epoch,
    Incarnation,
    SessionId,
    actor_id,
    parse_session_id,
)
from holdfast.model.inputs import InputKind
from holdfast.model.policy_questions import LocalTime, Question
from holdfast.model.text import checked_name, printable
from holdfast.term.marks import Began, Ended, Prompted, read_mark
from holdfast.term.plain import plain
from holdfast.term.queries import QueryFilter
from holdfast.term.replies import reply
from holdfast.wire.lines import decode_line, encode_line

SESSION = SessionId("s_" + "a" * 16)
BOT = Actor(actor_id(b"bot"), ActorKind.AGENT, "bot")
EXAMPLE = Path(__file__).parents[2] / "docs/examples/policy.toml"
POLICIES = [
    EXAMPLE.read_bytes(),
    b'[webhook]\nurl = "https://x/"\ntimeout = 1\n[plugins]\nuse = ["x"]\n',
]
CONFIGS = [
    b'prefix = "C-a"\nwindow = "2M"\n[keys]\nnext = "x"\n[colours]\nnotice = "red"\n'
]
POLICY = read_policy(POLICIES[0])
LINES = [
    b"cd /src && make test | tee log 2>&1; git push\r",
    b"X=1 sudo -u x sh -c 'rm -rf \"/\"' > /etc/x &\r",
    b"echo $(cat <<E) `x` ${y} \\ !! {a,b} *.py ~/z\r",
    b"\x1b[200~mkfs /dev/sda\x1b[201~\x7f\x7f\r",
]
ESCAPES = [
    b"plain text\r\n",
    b"\x1b[c\x1b[>c\x1b[6n\x1b[?6n\x1b[5n",
    b"\x1b]11;?\x1b\\\x1b]52;c;?\x07\x1bP+q544e\x1b\\",
    b"\x1b[1;2;3m\x1b[?2026h\x1b]0;title\x07\x05",
]
NONCE = b"0123456789abcdef" * 2
MARKS = [
    to_bytes(mark, NONCE)
    for mark in (Prompted(), Began("make; x\\\n", 9), Ended(2, "/a b"))
]
STATES = [
    b'mPATH=/a:/b\0ddeclare -x X="1"\0wTOKEN=9\0kll\0tls -l\0Oposix\0',
    b"Ff () \n{ \n}\ng () \n{ \n}\0Ttrap -- 'x' SIGINT\0",
    b"vX=scalar 1\0all=ls -l\0fdeploy=rm\0oxtrace\0l\0",
]
CONTROL = {chr(code) for code in (*range(0x20), *range(0x7F, 0xA0))} - {"\n", "\t"}


def _book() -> list[bytes]:
    book, lines = Logbook(genesis(SESSION)), []
    for number in range(4):
        entry = book.draft(
            EntryKind.DETACHED, {"actor": "a", "n": number}, Incarnation(1), Epoch(1), 5
        )
        book.commit(entry)
        lines.append(entry.line)
    return lines


BOOK = _book()


def _line(data: bytes) -> object:
    record = decode_line(data)
    assert encode_line(record) == data, "read, but not as it was written"
    return record


def _output(data: bytes) -> None:
    whole, cut = QueryFilter(), QueryFilter()
    once = whole.feed(data)
    half = len(data) // 2
    twice = cut.feed(data[:half]).visible + cut.feed(data[half:]).visible
    assert twice == once.visible, "the cut shows"
    for query in once.queries:
        reply(query, Size(80, 24))


def _mark(data: bytes) -> None:
    mark = read_mark(data, NONCE)
    if isinstance(mark, Ended):
        assert 0 <= mark.status <= 255
    found = QueryFilter().feed(data + MARKS[0]).queries
    assert read_mark(data, b"0" * len(NONCE)) is None, "it needs no nonce"
    for query in found:
        read_mark(query.raw, NONCE)


def _state(data: bytes) -> None:
    state = read_state(data)
    if state is not None:
        assert changes(state, state) == (), "it differs from itself"
    messages = StateMessages(NONCE)
    begin = b"holdfast-state 1 %s 7\0" % NONCE
    messages.feed(data + begin + data + b"end %s 2\0" % NONCE + begin)
    messages.feed(b"oposix\0end %s 1\0" % NONCE)
    found = messages.prompted(7)
    assert found is not None, "told before"


def _plain(data: bytes) -> None:
    assert not CONTROL & set(plain(data)), "a control character is left"


def _window(data: bytes) -> None:
    window = StreamWindow.open(memoryview(bytearray(data)))
    assert 0 <= window.start <= window.end
    window.append(b"more")


def _window_corpus() -> list[bytes]:
    memory = bytearray(256)
    StreamWindow.create(memoryview(memory)).append(b"x" * 300)
    return [bytes(memory)]


def _policy(data: bytes) -> None:
    policy, problems = examine(data)
    assert (policy is None) is bool(problems)
    read_policy(data)


def _input(data: bytes) -> None:
    for kind in (InputKind.KEYS, InputKind.COMMAND):
        asked = Question(BOT, kind, data, SESSION, "build", LocalTime(0, 0), staged=b"")
        judge(POLICY, asked)
        document(asked)


def _text(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    shown = printable(text)
    assert not any(ord(character) < 0x20 for character in shown)
    checked_name(text)


CORE_PARSERS: list[tuple[str, Callable[[bytes], object], list[bytes]]] = [
    ("wire.lines", _line, BOOK),
    (
        "core.book.logbook",
        lambda data: recover(data, SESSION),
        [b"\n".join(BOOK) + b"\n"],
    ),
    ("core.book.entries", lambda data: list(read_entries([data], SESSION)), BOOK),
    ("core.session.stream", _window, _window_corpus()),
    ("term.queries", _output, ESCAPES),
    ("term.marks", _mark, MARKS),
    ("term.plain", _plain, ESCAPES),
    ("core.shell.shell_state", _state, STATES),
    ("core.policy.policy_file", _policy, POLICIES),
    ("model.config_file", read_config, CONFIGS),
    ("core.shell.command_line", _input, LINES),
    ("model.ids", lambda data: parse_session_id(data.decode("latin-1")), [b"s_x"]),
    ("model.text", _text, [b"build-7", b"-rf", "naïve\u202e".encode()]),
]
