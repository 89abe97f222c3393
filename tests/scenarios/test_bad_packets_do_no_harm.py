"""Whatever is sent to the keeper's socket: it answers or hangs up, and lives on."""

import contextlib
import json
import os
import random
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios import witness
from tests.scenarios.proving import proven
from tests.scenarios.support import Machine, eventually, machine

from holdfast.linux import packets
from holdfast.linux.stored import places
from holdfast.model.ids import SessionId

GARBAGE = (
    b"",
    b"\0",
    b"{",
    b"[]",
    b"null",
    b'"list"',
    b"\xff\xfe",
    b'{"do": "list"} trailing',
    b"[" * 60_000,
    b'{"do":' * 9_000,
    b'{"do": 1' + b"0" * 5_000 + b"}",
    b'{"do": NaN}',
    b"x" * packets.MAX_PACKET,
    b"x" * (packets.MAX_PACKET + 4096),
)

NONSENSE: tuple[object, ...] = (
    None,
    True,
    0,
    -1,
    2**70,
    1.5,
    float("inf"),
    "",
    "\0",
    "../../x",
    "\ud800",
    "a" * 10_000,
    [],
    [[]],
    [None],
    [-1, 2**40],
    {},
    {"": ""},
    {"a": None},
)

VERBS = (
    "create",
    "list",
    "rename",
    "keep",
    "forget",
    "status",
    "deposit",
    "facts",
    "failed",
    "no-such-thing",
)

MEMBERS = (
    "do",
    "id",
    "name",
    "keep",
    "command",
    "cwd",
    "env",
    "size",
    "state",
    "exit",
    "facts",
    "token",
    "ended_ms",
)


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        try:
            yield made
        finally:
            witness.end_marked()


@pytest.fixture
def session(here: Machine) -> SessionId:
    return here.new("cat")


def link() -> socket.socket:
    return packets.connect(places.keeper_socket(), 5.0)


def exchange(raw: bytes, fds: list[int]) -> bytes | None:
    with link() as made, contextlib.suppress(ConnectionError):
        socket.send_fds(made, [raw], fds)
        return made.recv(1 << 20)
    return None


def is_well(here: Machine, session: SessionId, keeper: int) -> None:
    assert here.pid("keeper") == keeper
    client = here.join(session)
    client.enter(b"still here\r")
    client.wait_output(b"still here")
    client.close()


def test_garbage_ends_its_link_and_nothing_else(
    here: Machine, session: SessionId
) -> None:
    keeper = here.pid("keeper")

    for raw in GARBAGE:
        exchange(raw, [])

    is_well(here, session, keeper)


def test_a_member_of_the_wrong_type_is_refused(
    here: Machine, session: SessionId
) -> None:
    keeper, before = here.pid("keeper"), here.facts(session)
    chance = random.Random(7)  # noqa: S311  # repeatable

    for _ in range(400):
        packet: dict[str, object] = {"do": chance.choice(VERBS)}
        for member in chance.sample(MEMBERS, chance.randrange(5)):
            packet[member] = chance.choice(NONSENSE)
        if packet.get("do") == "create" and "command" not in packet:
            packet["command"] = ["true"]
        answer = exchange(json.dumps(packet).encode(), [])
        assert answer is None or b'"ok"' in answer, packet

    after = here.facts(session)
    assert before is not None
    assert after is not None
    assert after["name"] == before["name"]
    is_well(here, session, keeper)
    forget_all_but(here, session)
    witness.all_is_tidy(here)


def forget_all_but(here: Machine, session: SessionId) -> None:
    listed = here.ask(do="list")["sessions"]
    assert isinstance(listed, list)
    for one in listed:
        if one["id"] != session:
            witness.end(here, SessionId(one["id"]))


@pytest.mark.parametrize("verb", VERBS)
def test_t23_descriptors_where_none_belong_are_closed(
    here: Machine, session: SessionId, verb: str
) -> None:
    keeper = here.pid("keeper")
    settled = eventually("it is at rest", lambda: len(witness.descriptors(keeper)))
    folder = os.open("/", os.O_RDONLY)
    packet = {"do": verb, "id": session, "facts": {}, "command": ["false\0"]}
    raw = json.dumps({**packet, "name": "../x"}).encode()

    for count in (0, 1, 4, 8, 253):
        exchange(raw if verb != "forget" else raw[:-1], [folder] * count)
        exchange(b"garbage", [folder] * count)

    os.close(folder)
    eventually("none is left", lambda: len(witness.descriptors(keeper)) <= settled)
    assert here.pid("keeper") == keeper


def test_a_deposit_of_other_things_than_a_session_is_refused(here: Machine) -> None:
    keeper = here.pid("keeper")
    folder = os.open("/", os.O_RDONLY)
    facts = {"name": "x", "pid": 1, "holder": 1, "state": "running"}
    facts |= {"command": ["x"], "size": [80, 24]}
    deposit = {"do": "deposit", "id": "s_aaaaaaaaaaaaaaaa", "facts": facts}

    for packet in (deposit, {**deposit, "id": "../keeper"}, {**deposit, "facts": []}):
        answer = exchange(json.dumps(packet).encode(), [folder] * 4)
        assert answer is not None
        assert json.loads(answer)["ok"] is False

    os.close(folder)
    assert here.ask(do="list")["sessions"] == []
    assert here.pid("keeper") == keeper


def test_forgetting_what_is_no_session_removes_nothing(here: Machine) -> None:
    before = set(places.runtime_dir().iterdir())

    for name in ("../keeper", "../keeper.sock", "", ".", "\0", "s_" + "a" * 300):
        assert here.ask(do="forget", id=name)["ok"] is False

    assert set(places.runtime_dir().iterdir()) >= before


def test_a_reader_that_never_reads_holds_nobody_up(
    here: Machine, session: SessionId
) -> None:
    keeper = here.pid("keeper")
    with link() as lazy:
        lazy.settimeout(0)
        for _ in range(3000):
            with contextlib.suppress(BlockingIOError, ConnectionError):
                lazy.send(b'{"do": "list"}')

        is_well(here, session, keeper)


def test_a_create_too_large_to_pass_on_is_said_and_nothing_else_happens(
    here: Machine, session: SessionId
) -> None:
    keeper, nursery = here.pid("keeper"), here.pid("nursery")
    smallest: dict[str, object] = {
        "do": "create",
        "command": [""],
        "cwd": "/",
        "env": {"PATH": "/bin"},
    }
    frame = len(json.dumps(proven(smallest)))

    for size in range(packets.MAX_PACKET - 3000, packets.MAX_PACKET - frame, 150):
        answer = here.ask(
            do="create", command=["x" * size], cwd="/", env={"PATH": "/bin"}
        )
        assert answer["code"] in ("cannot-start", "request-too-large"), answer
    env = {"A": "\u00e9" * 20_000}  # Two bytes each now, and six when passed on.
    packet = {"do": "create", "command": ["true"], "cwd": "/", "env": env}
    wide = exchange(json.dumps(packet, ensure_ascii=False).encode(), [])

    assert wide is not None
    assert json.loads(wide)["code"] == "request-too-large"
    assert here.pid("nursery") == nursery
    is_well(here, session, keeper)


def test_many_long_commands_are_listed_all_the_same(here: Machine) -> None:
    made = {here.new("sh", "-c", "sleep 600", "x" * 50_000) for _ in range(6)}
    listed: set[str] = set()

    with link() as asking:
        packets.send(asking, {"do": "list"})
        more = True
        while more:
            page = json.loads(asking.recv(1 << 20))
            listed |= {one["id"] for one in page["sessions"]}
            more = page["more"]

    assert listed == made


def test_two_that_ask_for_one_name_at_once_get_one_session(here: Machine) -> None:
    assert here.ask(do="list")["sessions"] == []
    env = {"PATH": os.environ["PATH"]}
    asked = {"do": "create", "command": ["sleep", "600"], "cwd": "/", "env": env}
    links = [link() for _ in range(4)]
    for made, name in zip(links, ("twin", "Twin", "TWIN", "twin"), strict=True):
        packets.send(made, proven({**asked, "name": name}))

    answers = [json.loads(made.recv(65536)) for made in links]
    for made in links:
        made.close()

    assert sorted(bool(answer["ok"]) for answer in answers) == [False] * 3 + [True]
    assert {answer.get("code") for answer in answers if not answer["ok"]} == {
        "name-taken"
    }


def test_a_name_cannot_be_taken_over_by_renaming(here: Machine) -> None:
    one, other = here.new("sleep", "600"), here.new("sleep", "600")
    assert here.ask(do="rename", id=one, name="web")["ok"]

    for name in (
        "web",
        "WEB",
        "\uff57\uff45\uff42",
        "",
        "-x",
        "a\nb",
        "s_abc",
        None,
        7,
    ):
        assert here.ask(do="rename", id=other, name=name)["ok"] is False, name

    assert here.ask(do="rename", id=one, name="Web")["ok"]


def test_no_word_of_a_packet_reaches_the_log_as_it_came(here: Machine) -> None:
    here.ask(do="\x1b]0;hostile\x07")

    log = Path(places.runtime_dir() / "keeper.log").read_bytes()
    assert b"\x1b" not in log
