"""Write tests/wire/vectors/*.json: the bytes every implementation must agree on.

python -m tools.write_vectors            write them
python -m tools.write_vectors --check    exit 1 if one is not what would be written

    messages.json   a message of each kind, its fields, and its frame
    refused.json    frames that must not be read as a message, and the error's code
    streams.json    streams of bytes, and the frames or the error they come to
    versions.json   offers, and what is chosen

Bytes are written in hexadecimal; inside fields, as {"bytes": "…"}.
"""

import enum
import json
from collections.abc import Mapping
from pathlib import Path

import msgspec
from tools.generated import write

from holdfast.model.actors import ActorKind
from holdfast.model.errors import NotYourTurn, PeerError
from holdfast.model.ids import (
    ClientId,
    Epoch,
    Incarnation,
    Index,
    actor_id,
    client_id,
)
from holdfast.model.ids import session_id as new_session_id
from holdfast.model.inputs import InputId, InputKind
from holdfast.model.verdicts import Verdict
from holdfast.wire import blame, checkpoints, evidence, graphs, preflights, reaps
from holdfast.wire import messages as m
from holdfast.wire import presence as parties
from holdfast.wire.codec import Message, decode, encode, refusal
from holdfast.wire.commands import (
    CommandEnded,
    CommandReport,
    CommandRequest,
    CommandStarted,
    ShellCommand,
)
from holdfast.wire.frames import HEADER_SIZE, MAX_PAYLOAD, FrameKind, FrameReader
from holdfast.wire.intents import Intend, Notify
from holdfast.wire.screens import Screen, ScreenHidden, ScreenRequest, ScreenRun
from holdfast.wire.signatures import Sign, Signed
from holdfast.wire.trials import Tried, Try
from holdfast.wire.versions import choose

TARGET = Path(__file__).parent.parent / "tests" / "wire" / "vectors"

Json = str | int | bool | None | list["Json"] | dict[str, "Json"]

SESSION = new_session_id(bytes(range(10)))
CLIENT = client_id(bytes(range(10, 20)))
ANNA = actor_id(b"\x01" * 32)
BERT = actor_id(b"\x02" * 32)
NOBODY = type(ANNA)("")
DIGEST = bytes(range(32))
STAGED = m.Staged("alias", "x", (BERT,), 3, sure=True)
SIGNATURE = bytes(range(64))
CELLS = m.Cells(120, 40)
RUNS = ShellCommand(
    number=1,
    client=ClientId(""),
    line="",
    start=0,
    end=None,
    status=None,
    duration_ms=0,
    cwd="",
)
ENDED = ShellCommand(
    number=7,
    client=CLIENT,
    line="make test",
    start=4_294_967_296,
    end=4_294_967_300,
    status=2,
    duration_ms=1500,
    cwd="/src",
)

MESSAGES: tuple[tuple[str, Message], ...] = (
    ("hello", m.Hello((3, 2, 1), "holdfast 0.1.0", m.ClientKind.CLI)),
    ("welcome", m.Welcome(1, "holdfast 0.1.0")),
    ("ping", m.Ping(0)),
    ("pong with the greatest number", m.Pong(m.MAX_NUMBER)),
    ("goodbye", m.Goodbye("no-common-version", "we speak 1, you speak 2")),
    ("challenge", m.Challenge(DIGEST)),
    ("identify", m.Identify(ANNA, DIGEST)),
    (
        "attach for the first time",
        m.Attach(
            session=SESSION,
            client=CLIENT,
            mode=m.Mode.OPERATE,
            size=CELLS,
            incarnation=None,
            after=None,
            keyframe=True,
        ),
    ),
    (
        "attach again, to watch",
        m.Attach(
            session=SESSION,
            client=CLIENT,
            mode=m.Mode.OBSERVE,
            size=None,
            incarnation=Incarnation(3),
            after=4_294_967_296,
            keyframe=False,
        ),
    ),
    (
        "attached",
        m.Attached(
            session=SESSION,
            name="build",
            incarnation=Incarnation(2),
            epoch=Epoch(7),
            holder=ANNA,
            start=1000,
            end=70_000,
            state="at-prompt",
            size=CELLS,
            operators=(
                m.Operator(ANNA, ActorKind.HUMAN, "Änna 🙂", CLIENT),
                m.Operator(BERT, ActorKind.AGENT, "", CLIENT),
            ),
        ),
    ),
    ("detach", m.Detach()),
    ("output", m.Output(65_535, b"\x1b[1mhello\x1b[0m\r\n\xff\x00")),
    ("output at the start", m.Output(0, b"$")),
    ("gap", m.Gap(127, 128)),
    (
        "keyframe",
        m.Keyframe(offset=255, size=CELLS, more=False, data=b"\x1b[2J\x1b[H$ "),
    ),
    (
        "part of a keyframe",
        m.Keyframe(offset=256, size=m.Cells(1000, 1000), more=True, data=b"#" * 256),
    ),
    ("resized", m.Resized(65_536, m.Cells(1, 1))),
    ("screen request", ScreenRequest(cells=True)),
    (
        "screen",
        Screen(
            offset=65_536,
            size=CELLS,
            cursor_row=39,
            cursor_column=0,
            cursor_visible=False,
            title="vim",
            alternate=True,
            exact=False,
            text="~\n漢字 🙂",
            runs=(ScreenRun(0, "~", 5, 0x1FF8000, 33),),
            hidden=(ScreenHidden(1, 0, 2, "concealed"),),
            above=300,
            more=False,
        ),
    ),
    (
        "submit",
        m.Submit(
            client=CLIENT,
            sequence=1,
            kind=InputKind.KEYS,
            incarnation=Incarnation(1),
            epoch=Epoch(0),
            payload=b"ls -l\r",
            seen=None,
            waits=True,
        ),
    ),
    (
        "acknowledge",
        m.Acknowledge(CLIENT, 1, Index(3), m.Receipt(DIGEST, SIGNATURE)),
    ),
    ("acknowledge without a receipt", m.Acknowledge(CLIENT, 1, Index(3), None)),
    (
        "refuse an input",
        refusal(NotYourTurn(BERT, 8), FrameKind.SUBMIT, InputId(CLIENT, 1)),
    ),
    (
        "refuse with facts in order of their names",
        m.Refuse(
            refused=FrameKind.GIVE,
            client=type(CLIENT)(""),
            sequence=0,
            code="from-the-future",
            text="“no”",
            facts={"b": -1, "a": "x", "a_b": 2**32, "a1": -(2**31) - 1},
            retryable=True,
            next_step="",
        ),
    ),
    ("report", m.Report(CLIENT, 2, m.Ending.CUT, Index(4), 65_536)),
    ("inquire", m.Inquire(CLIENT, 3)),
    (
        "intend",
        Intend(
            act="run",
            intent="see what fails",
            effect="",
            parameters="{}",
            prompt="m-17",
            expects='{"files":["build"]}',
            idempotent=True,
            attempt=2,
        ),
    ),
    (
        "sign",
        Sign(
            client=CLIENT,
            last=2,
            steps=bytes(range(96)),
            key=bytes(32),
            rotations=b"",
            signature=bytes(range(64)),
        ),
    ),
    ("signed", Signed(CLIENT, 2)),
    ("notify", Notify("may I deploy?")),
    ("take", m.Take()),
    ("ask", m.Ask(30_000)),
    ("answer", m.Answer(BERT, granted=True)),
    ("give", m.Give(BERT)),
    ("drop", m.Drop()),
    ("seize", m.Seize(m.Halt.FREEZE)),
    (
        "turn passed",
        m.TurnPassed(
            former=BERT,
            holder=NOBODY,
            epoch=Epoch(9),
            reason="dropped",
            dropped_inputs=2,
            dropped_bytes=300,
        ),
    ),
    ("turn asked", m.TurnAsked(BERT, 29_999)),
    ("inherited", parties.Inherited(Epoch(9), b"rm -r", (BERT,), (), (STAGED,))),
    (
        "pending",
        m.Pending(
            ticket=5,
            actor=BERT,
            kind=InputKind.COMMAND,
            epoch=Epoch(7),
            digest=DIGEST,
            size=9,
            excerpt=b"rm -rf x\r",
            rule="no-deletes",
            program="",
            runs="alias x (rm)",
            uses=(STAGED,),
            preview=None,
        ),
    ),
    (
        "pending after a preview",
        m.Pending(
            ticket=6,
            actor=BERT,
            kind=InputKind.COMMAND,
            epoch=Epoch(7),
            digest=DIGEST,
            size=5,
            excerpt=b"make\r",
            rule="try-first",
            program="",
            runs="",
            uses=(),
            preview=m.Preview(
                ran=True,
                ended=True,
                exit=2,
                duration_ms=1_200,
                files=3,
                processes=1,
                ports=0,
                tried=1,
                text="exit 2 after 1.2 s",
                digest=DIGEST,
            ),
        ),
    ),
    ("approve", m.Approve(5, Epoch(7), DIGEST)),
    ("deny", m.Deny(5, DIGEST)),
    ("settled", m.Settled(5, Verdict.DENY, ANNA)),
    ("try", Try(BERT, InputKind.COMMAND, b"make\r", None)),
    ("try a policy", Try(BERT, InputKind.COMMAND, b"make\r", b"[default]\n")),
    (
        "tried",
        Tried(
            Verdict.ASK,
            "no-deletes",
            "it removes files",
            "/bin/rm",
            (),
            "e3b0c44298fc1c149afbf4c8996fb924",
        ),
    ),
    ("who", parties.Who()),
    (
        "presence",
        parties.Presence(
            present=(
                parties.Present(
                    actor=ANNA,
                    kind=ActorKind.HUMAN,
                    name="anna",
                    client=CLIENT,
                    program="cli",
                    mode=m.Mode.OPERATE,
                    for_ms=1_500,
                ),
            ),
            holder=ANNA,
            epoch=Epoch(7),
            waiting=(BERT,),
            frozen=False,
            pending=(),
            rights=("observe", "take"),
        ),
    ),
    ("grant", parties.Grant(BERT, ("observe", "input"), 60_000)),
    ("revoke", parties.Revoke(BERT)),
    ("detach-client", parties.DetachClient(CLIENT)),
    ("a command that runs, of nobody's sending", CommandStarted(RUNS)),
    ("a command that has ended", CommandEnded(ENDED)),
    ("a request for the last command", CommandRequest(ClientId(""))),
    ("a request for a client's command", CommandRequest(CLIENT)),
    ("a report of no command", CommandReport("unmarked", None)),
    ("a report of a command", CommandReport("prompt", ENDED)),
    ("blame request", blame.BlameRequest(what="alias", name="deploy", at_ms=0)),
    (
        "blame report",
        blame.BlameReport(
            standing="changed",
            how="added",
            digest=DIGEST[:16],
            behind=blame.Behind(
                command=3,
                first=0,
                trigger=BERT,
                authors=(BERT, ANNA),
                line="alias deploy='rm -rf build'",
                at_ms=1_800_000_000_000,
            ),
            used=None,
            silent=False,
            staged=b"",
            by=(),
            others=(),
            edited=False,
            hidden=0,
        ),
    ),
    (
        "blame report for a line",
        blame.BlameReport(
            standing="changed",
            how="",
            digest=b"",
            behind=None,
            used=None,
            silent=True,
            staged=b"rm -rf /",
            by=(blame.Stretch(7, BERT), blame.Stretch(1, ANNA)),
            others=(ANNA,),
            edited=True,
            hidden=2,
        ),
    ),
    ("graph request", graphs.GraphRequest(descriptors=True)),
    (
        "graph",
        graphs.Graph(
            processes=(
                graphs.Process(
                    pid=4242,
                    parent=1,
                    started_ticks=123_456_789,
                    command="python -m http.server",
                    state="sleeping",
                    actor=ANNA,
                    rss=12_345_678,
                    cpu_ms=90,
                    age_ms=61_000,
                    unlisted=None,
                ),
            ),
            listeners=(graphs.Listener(4242, "127.0.0.1", 8000, "tcp"),),
            connections=(
                graphs.Connection(
                    pid=4242,
                    protocol="tcp6",
                    address="::1",
                    port=8000,
                    peer="::1",
                    peer_port=50_123,
                ),
            ),
            descriptors=(
                graphs.Descriptor(
                    pid=4242,
                    number=3,
                    kind="file",
                    name="/srv/index.html",
                    offset=512,
                    access="read",
                    lock="none",
                ),
            ),
            more=False,
        ),
    ),
    ("preflight request", preflights.PreflightRequest()),
    (
        "preflight",
        preflights.Preflight(
            blockers=(
                preflights.Blocker(
                    kind="terminal",
                    what="/dev/tty",
                    why="CRIU cannot say whose terminal it is",
                    remedy="answer or leave what asks",
                    pid=104,
                    program="ssh",
                    descriptor=4,
                ),
            ),
            cuts=(
                preflights.Cut(
                    pid=105, program="curl", descriptor=5, peer="192.0.2.1:443"
                ),
            ),
            unlisted=0,
        ),
    ),
    (
        "checkpoint request",
        checkpoints.CheckpointRequest(
            stop=True, label="before the reboot", branch=False, key="c_1"
        ),
    ),
    (
        "checkpointed",
        checkpoints.Checkpointed(
            image="s_aaaaaaaaaaaaaaaa.3",
            number=3,
            size=5_800_000,
            still_ms=90,
            stopped=True,
            cuts=(
                preflights.Cut(
                    pid=105, program="curl", descriptor=5, peer="192.0.2.1:443"
                ),
            ),
        ),
    ),
    ("freeze", m.Freeze()),
    ("thaw", m.Thaw()),
    ("end", m.End(15, leave=False)),
    ("state", m.State("waiting-for-input", Incarnation(1))),
    ("exited", m.Exited(0)),
    ("exited by a signal", m.Exited(-9)),
    (
        "reap",
        reaps.Reap(stop=True, quiet_ms=900, idle_ms=28_800_000, why="idle-window"),
    ),
    ("state request", evidence.StateRequest()),
    (
        "evidence",
        evidence.Evidence(
            state="waiting-for-secret",
            program="",
            incarnation=Incarnation(1),
            sure=True,
            why=("the terminal reads whole lines and does not show them",),
            foreground=4242,
            echo=False,
            canonical=True,
            unread=0,
            sleepers=(
                evidence.Asleep(4242, "ssh", "sleeping", "reads the terminal (fd 4)"),
            ),
        ),
    ),
    ("event", m.Event("turn.passed", SESSION, {"epoch": 9, "holder": ANNA})),
)

OVER = b"\x82\xa4code\xa4over\xa4text"
"""A GOODBYE up to its text."""

_PING = FrameKind.PING
_REFUSED: tuple[tuple[str, FrameKind, bytes], ...] = (
    ("an empty payload", _PING, b""),
    ("a missing field", _PING, b"\x80"),
    ("an array in place of the map", _PING, b"\x91\x05"),
    ("a byte after the end", _PING, b"\x81\xa6number\x05\xc0"),
    ("a field that does not exist", _PING, b"\x82\xa6number\x05\xa1x\x05"),
    ("a field twice", _PING, b"\x82\xa6number\x05\xa6number\x05"),
    ("a number wider than it need be", _PING, b"\x81\xa6number\xcc\x05"),
    ("a positive number as a signed one", _PING, b"\x81\xa6number\xd0\x05"),
    ("a number as a float", _PING, b"\x81\xa6number\xcb" + bytes(8)),
    ("not a number", _PING, b"\x81\xa6number\xcb\x7f\xf8" + bytes(6)),
    ("a number as true", _PING, b"\x81\xa6number\xc3"),
    ("a number below zero", _PING, b"\x81\xa6number\xff"),
    ("a number of 2^53", _PING, b"\x81\xa6number\xcf\x00\x20" + bytes(6)),
    ("a number of 2^64 - 1", _PING, b"\x81\xa6number\xcf" + b"\xff" * 8),
    ("a field's name longer than it need be", _PING, b"\x81\xd9\x06number\x05"),
    ("a map's header longer than it need be", _PING, b"\xde\x00\x01\xa6number\x05"),
    ("a map that announces 2^32 - 1 fields", _PING, b"\xdf" + b"\xff" * 4),
    ("maps nested 10,000 deep", _PING, b"\x81\xa6number" + b"\x81" * 10_000),
    ("arrays nested 10,000 deep", _PING, b"\x91" * 10_000),
    ("an extension", _PING, b"\x81\xa6number\xd4\x01\x05"),
    ("a byte that msgpack never uses", _PING, b"\x81\xa6number\xc1"),
    ("fields in another order", FrameKind.GAP, b"\x82\xa3end\x02\xa5start\x01"),
    ("text that is not UTF-8", FrameKind.GOODBYE, OVER + b"\xa2\xc3\x28"),
    ("half a surrogate pair", FrameKind.GOODBYE, OVER + b"\xa3\xed\xa0\x80"),
    ("text as bytes", FrameKind.GOODBYE, OVER + b"\xc4\x01x"),
    ("text over its limit", FrameKind.GOODBYE, OVER + b"\xda\x04\x01" + b"x" * 1025),
    ("a word nobody knows", FrameKind.SEIZE, b"\x81\xa4halt\xa4stop"),
    (
        "an id with a newline",
        FrameKind.GIVE,
        b"\x81\xa2to\xd9\x23" + ANNA.encode() + b"\n",
    ),
    ("a word with a newline", FrameKind.GOODBYE, b"\x82\xa4code\xa2x\n\xa4text\xa0"),
    ("an output without an offset", FrameKind.OUTPUT, bytes(7)),
    ("an output of nothing", FrameKind.OUTPUT, bytes(8)),
    ("an output beyond 2^53", FrameKind.OUTPUT, b"\x00\x1f" + b"\xff" * 6 + b"x"),
    (
        "facts in another order",
        FrameKind.EVENT,
        b"\x83\xa4name\xa1x\xa7session\xb2"
        + SESSION.encode()
        + b"\xa6fields\x82\xa1b\x01\xa1a\x01",
    ),
)

_STREAMS: tuple[tuple[str, bytes], ...] = (
    ("nothing", b""),
    ("two frames", b"\x60\x00\x00\x00\x01\x80\x61\x00\x00\x00\x01\x80"),
    ("a frame without a payload", b"\x60\x00\x00\x00\x00"),
    ("a frame and part of a header", b"\x60\x00\x00\x00\x01\x80\x61\x00"),
    (
        "a frame and part of a payload",
        b"\x60\x00\x00\x00\x01\x80\x61\x00\x00\x00\x02\x80",
    ),
    ("a kind nobody knows", b"\xff\x00\x00\x00\x00"),
    ("kind zero", bytes(5)),
    ("the longest length", b"\x60\xff\xff\xff\xff"),
    ("one byte over the limit", b"\x60" + (MAX_PAYLOAD + 1).to_bytes(4, "big")),
    ("the limit, still to come", b"\x60" + MAX_PAYLOAD.to_bytes(4, "big")),
)

_OFFERS: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((1,), (1,)),
    ((3, 2, 1), (2, 1)),
    ((2, 1), (4, 3, 2)),
    ((5, 3, 1), (4, 3, 2, 1)),
    ((1,), (2,)),
    ((1,), (0, 65_535)),
)


def files() -> dict[str, str]:
    """Return every file that is written, by name."""
    vectors = {
        "messages.json": [_message(name, message) for name, message in MESSAGES],
        "refused.json": [_refused(*case) for case in _REFUSED],
        "streams.json": [_stream(*case) for case in _STREAMS],
        "versions.json": [_offer(*case) for case in _OFFERS],
    }
    return {
        name: json.dumps(cases, indent=1, ensure_ascii=False) + "\n"
        for name, cases in vectors.items()
    }


def plain(value: object) -> Json:
    """Return a field's value as JSON holds it."""
    match value:
        case bytes():
            return {"bytes": value.hex()}
        case msgspec.Struct():
            return {
                name: plain(part)
                for name, part in msgspec.structs.asdict(value).items()
            }
        case Mapping():
            return {str(name): plain(part) for name, part in value.items()}
        case tuple():
            return [plain(part) for part in value]
        case enum.StrEnum() | enum.IntEnum():
            return value.value
        case None | bool() | int() | str():
            return value
        case _:
            raise AssertionError(value)


def _message(name: str, message: Message) -> Json:
    frame = encode(message)
    kind = FrameKind(frame[0])
    return {
        "name": name,
        "kind": kind.name,
        "fields": plain(message),
        "frame": frame.hex(),
    }


def _refused(name: str, kind: FrameKind, payload: bytes) -> Json:
    stream = bytes([kind]) + len(payload).to_bytes(4, "big") + payload
    (frame,) = FrameReader().feed(stream)
    try:
        decode(frame)
    except PeerError as error:
        return {"name": name, "frame": stream.hex(), "code": error.code}
    raise AssertionError(name)


def _stream(name: str, stream: bytes) -> Json:
    reader = FrameReader()
    try:
        frames = reader.feed(stream)
    except PeerError as error:
        return {"name": name, "stream": stream.hex(), "code": error.code}
    read = sum(HEADER_SIZE + len(frame.payload) for frame in frames)
    return {
        "name": name,
        "stream": stream.hex(),
        "frames": [{"kind": f.kind.name, "payload": f.payload.hex()} for f in frames],
        "rest": len(stream) - read,
    }


def _offer(ours: tuple[int, ...], theirs: tuple[int, ...]) -> Json:
    case: dict[str, Json] = {"ours": list(ours), "theirs": list(theirs)}
    try:
        return case | {"chosen": choose(ours, theirs)}
    except PeerError as error:
        return case | {"code": error.code}


def made(target: Path) -> dict[Path, str]:
    """Return each file in the folder `target`, and its text."""
    return {target / name: text for name, text in files().items()}


if __name__ == "__main__":
    raise SystemExit(write(made, TARGET))
