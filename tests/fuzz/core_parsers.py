"""What else takes bytes it cannot trust, beside the wire?"""

from collections.abc import Callable
from pathlib import Path

from tests.core.capsule.criu_images import FILTERS, core
from tests.core.capsule.elf_files import elf, note
from tests.core.capsule.image_samples import KEY as HOST
from tests.core.capsule.image_samples import WHOLE as IMAGE
from tests.term.mark_bytes import to_bytes

from holdfast.core.book.logbook import (
    EntryKind,
    Logbook,
    genesis,
    read_entries,
    recover,
)
from holdfast.core.capsule.build_id import MAX_ID, build_id
from holdfast.core.capsule.gate_in_image import gate_filters, without_gate
from holdfast.core.capsule.manifest import read_manifest, sign_manifest
from holdfast.core.policy.policy import document, judge
from holdfast.core.policy.policy_file import examine, read_policy
from holdfast.core.recording.cast_reader import read_event, read_header
from holdfast.core.recording.cast_writer import CastWriter
from holdfast.core.recording.masks import Masks
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


def _manifest(data: bytes) -> None:
    """Read it as it came, and as if our host had signed whatever it says."""
    title = b"holdfast image 1"
    body = data.split(b"\n", 3)[-1]
    signature = HOST.sign(title + b"\n" + body).hex().encode()
    ours = b"\n".join((title, HOST.public.hex().encode(), signature, body))
    assert sign_manifest(read_manifest(ours, HOST.public), HOST) == ours
    assert sign_manifest(read_manifest(data, HOST.public), HOST) == data


def _build_id(data: bytes) -> None:
    assert len(bytes.fromhex(build_id(data))) <= MAX_ID


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


def _core_image(data: bytes) -> None:
    gate_filters(FILTERS, b"gate")
    without_gate(data, [True])


def _recording(data: bytes) -> None:
    first, *lines = data.decode("utf-8", "replace").split("\n")
    read_header(first)
    for number, line in enumerate(lines, 2):
        event = read_event(line, number)
        assert event is None or event.interval >= 0


def _printed(data: bytes) -> None:
    writer = CastWriter(Masks())
    lines = writer.printed(data, 1.0) + writer.ended(None, 2.0)
    events = [read_event(line, 1) for line in lines]
    shown = "".join(one.data for one in events if one is not None)
    assert len(shown) == len(data.decode("utf-8", "replace"))


def _text(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    shown = printable(text)
    assert not any(ord(character) < 0x20 for character in shown)
    checked_name(text)


RECORDINGS = [
    b'{"version": 3, "term": {"cols": 80, "rows": 24}}\n# x\n[0.5, "o", "a\\u001b"]\n',
    b'{"version": 3, "term": {"cols": 1, "rows": 1}}\n[1, "r", "9x3"]\n[0, "x", "0"]\n',
]

CORE_IMAGES = [core(2, 0), core(None), core(2, 1, b"\x4a\x04rest")]

CORE_PARSERS: list[tuple[str, Callable[[bytes], object], list[bytes]]] = [
    ("wire.lines", _line, BOOK),
    (
        "core.book.logbook",
        lambda data: recover(data, SESSION),
        [b"\n".join(BOOK) + b"\n"],
    ),
    ("core.book.entries", lambda data: list(read_entries([data], SESSION)), BOOK),
    ("core.session.stream", _window, _window_corpus()),
    ("core.capsule.manifest", _manifest, [sign_manifest(IMAGE, HOST)]),
    ("core.capsule.gate_in_image", _core_image, CORE_IMAGES),
    ("core.capsule.build_id", _build_id, [elf(note(b"x" * 20))]),
    ("term.queries", _output, ESCAPES),
    ("term.marks", _mark, MARKS),
    ("term.plain", _plain, ESCAPES),
    ("core.shell.shell_state", _state, STATES),
    ("core.policy.policy_file", _policy, POLICIES),
    ("model.config_file", read_config, CONFIGS),
    ("core.shell.command_line", _input, LINES),
    ("core.recording.cast_reader", _recording, RECORDINGS),
    ("core.recording.cast_writer", _printed, [*ESCAPES, b"token=abc\n\xc3\xbc"]),
    ("model.ids", lambda data: parse_session_id(data.decode("latin-1")), [b"s_x"]),
    ("model.text", _text, [b"build-7", b"-rf", "naïve\u202e".encode()]),
]
