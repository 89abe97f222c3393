from dataclasses import replace

import pytest

from holdfast.core.capsule.capsule_facts import CapsuleFacts, Opened, Process
from holdfast.core.capsule.criu_words import GHOST_LIMIT
from holdfast.core.capsule.preflight import Cut, Judgement, Kind, judge

SPACES = {"pid": "pid:[1]", "mnt": "mnt:[1]", "net": "net:[1]"}
INIT = Process(900, 100, "sleep", session=100, namespaces=SPACES)
SHELL = Process(902, 101, "bash", session=101, namespaces=SPACES)
CAPSULE = CapsuleFacts(
    root=900, processes=(INIT, SHELL), mounts={7: "/", 8: "/scratch"}
)

PLAIN = (
    Opened(0, "/dev/pts/0", 8, "character", (136, 0)),
    Opened(1, "/dev/null", 7, "character", (1, 3)),
    Opened(2, "/dev/ptmx", 7, "character", (5, 2)),
    Opened(3, "/dev/net/tun", 7, "character", (10, 200)),
    Opened(4, "/home/me/notes", 7),
    Opened(5, "/scratch/gone (deleted)", 8, allocated=GHOST_LIMIT),
    Opened(6, "/memfd:x (deleted)", 1),
    Opened(7, "pipe:[44]", 12),
    Opened(8, "socket:[50]", protocol="UNIX-STREAM", peer=51),
    Opened(9, "socket:[51]", protocol="UNIX-STREAM", peer=50),
    Opened(10, "socket:[52]", protocol="TCP"),
    Opened(11, "socket:[odd"),
    Opened(12, "anon_inode:[eventpoll]"),
    Opened(13, "anon_inode:inotify", watches=2),
    Opened(17, "/proc/101", 7),
    Opened(18, "/proc/1/status", 7),
    Opened(14, "anon_inode:[pidfd]", process=900),
    Opened(15, "anon_inode:[pidfd]", process=-1),
    Opened(16, "/home/unknown mount", 0),
)


def with_shell(facts: CapsuleFacts = CAPSULE, **changes: object) -> Judgement:
    shell = replace(SHELL, **changes)  # type: ignore[arg-type]  # any of its fields
    return judge(replace(facts, processes=(INIT, shell)))


def test_an_ordinary_session_can_be_dumped() -> None:
    assert with_shell(opened=PLAIN) == Judgement((), ())
    assert with_shell(opened=PLAIN).can


@pytest.mark.parametrize(
    ("opened", "kind", "what"),
    [
        (Opened(3, "/dev/tty", 7, "character", (5, 0)), Kind.TERMINAL, "/dev/tty"),
        (Opened(3, "/dev/fuse", 7, "character", (10, 229)), Kind.DEVICE, "/dev/fuse"),
        (Opened(3, "/dev/sda", 7, "block", (8, 0)), Kind.DEVICE, "/dev/sda"),
        (Opened(3, "/dev/odd", 7, "block", (1, 0)), Kind.DEVICE, "/dev/odd"),
        (Opened(3, "/etc/passwd", 66), Kind.OUTSIDE, "/etc/passwd"),
        (
            Opened(3, "/scratch/big (deleted)", 8, allocated=GHOST_LIMIT + 1),
            Kind.LARGE,
            "/scratch/big",
        ),
        (Opened(3, "anon_inode:[io_uring]"), Kind.EVENT, "a descriptor of io_uring"),
        (Opened(3, "anon_inode:bpf-map"), Kind.EVENT, "a descriptor of bpf-map"),
        (Opened(3, "anon_inode:[pidfd]", process=1), Kind.PIDFD, "a pidfd"),
        (Opened(3, "/proc/1", 7), Kind.PIDFD, "/proc/1"),
        (
            Opened(3, "socket:[9]", protocol="MPTCP"),
            Kind.SOCKET,
            "a socket of MPTCP",
        ),
        (
            Opened(3, "socket:[9]", protocol="NETLINK", has_high_groups=True),
            Kind.SOCKET,
            "a netlink socket that listens to later groups",
        ),
        (
            Opened(3, "socket:[9]", protocol="UNIX", peer=10),
            Kind.PEER,
            "a Unix socket to a program outside",
        ),
    ],
)
def test_a_descriptor_that_blocks_is_named_with_its_program(
    opened: Opened, kind: Kind, what: str
) -> None:
    (found,) = with_shell(opened=(*PLAIN, opened)).blockers
    assert (found.kind, found.what) == (kind, what)
    assert (found.pid, found.program, found.descriptor) == (101, "bash", 3)
    assert found.why
    assert found.remedy


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"tracer": 5}, Kind.TRACED),
        ({"session": 0}, Kind.SESSION),
        ({"namespaces": {**SPACES, "net": "net:[2]"}}, Kind.NAMESPACE),
        ({"mapped": ("/SYSV00000000 (deleted)",)}, Kind.SHARED),
        ({"volatile": ("/run/pool",)}, Kind.VOLATILE),
        ({"is_hidden": True, "tracer": 5}, Kind.HIDDEN),
    ],
)
def test_a_process_that_blocks_is_named(changes: dict[str, object], kind: Kind) -> None:
    (found,) = with_shell(CAPSULE, **changes).blockers
    assert (found.kind, found.pid, found.program) == (kind, 101, "bash")
    assert found.descriptor == -1
    assert found.why
    assert found.remedy


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"filters": 2}, Kind.FILTERED),
        ({"opened": (Opened(3, "anon_inode:inotify", watches=1),)}, Kind.WATCH),
        ({"mapped": ("/home/me/program (deleted)",)}, Kind.MAPPED),
    ],
)
def test_root_may_have_what_others_may_not(
    changes: dict[str, object], kind: Kind
) -> None:
    # P3
    (found,) = with_shell(replace(CAPSULE, is_rootless=True), **changes).blockers
    assert found.kind is kind
    assert with_shell(CAPSULE, **changes).can


def test_another_user_s_process_blocks_only_where_root_is_not_whole() -> None:
    weak = replace(CAPSULE, raises_limits=False)
    (found,) = with_shell(weak, user=33).blockers
    assert (found.kind, found.what) == (Kind.USER, "a process of user 33")
    assert with_shell(user=33).can
    assert with_shell(replace(weak, is_rootless=True), user=33).can


def test_a_namespace_that_nobody_could_read_does_not_block() -> None:
    assert with_shell(namespaces={}).can


def test_without_its_first_process_nothing_is_said_of_namespaces() -> None:
    assert judge(replace(CAPSULE, root=1)).can


@pytest.mark.parametrize(
    ("changes", "kind", "remedy"),
    [
        ({"is_frozen": True}, Kind.FROZEN, "thaw it first"),
        (
            {"is_gated": True, "is_rootless": True},
            Kind.GATED,
            "start the session without --exec-gate, or as root",
        ),
    ],
)
def test_what_blocks_the_whole_capsule_is_of_no_process(
    changes: dict[str, object], kind: Kind, remedy: str
) -> None:
    (found,) = judge(replace(CAPSULE, **changes)).blockers  # type: ignore[arg-type]
    assert (found.kind, found.remedy, found.pid) == (kind, remedy, 0)
    assert found.why


def test_a_process_brought_in_from_outside_blocks() -> None:
    stranger = Process(950, 140, "nsenter", session=140)
    (found,) = judge(replace(CAPSULE, strangers=(stranger,))).blockers
    assert (found.kind, found.pid, found.program) == (Kind.STRANGER, 140, "nsenter")


def test_a_connection_to_outside_is_cut_and_does_not_block() -> None:
    # P2
    opened = (Opened(4, "socket:[9]", protocol="TCP", remote="192.0.2.1:443"),)
    found = with_shell(opened=opened)
    assert found.can
    assert found.cuts == (Cut(101, "bash", 4, "192.0.2.1:443"),)


def test_in_a_network_of_its_own_no_connection_is_cut() -> None:
    opened = (Opened(4, "socket:[9]", protocol="TCP", remote="127.0.0.1:443"),)
    assert with_shell(replace(CAPSULE, has_own_net=True), opened=opened).cuts == ()


def test_every_blocker_is_told_and_not_only_the_first() -> None:
    opened = (Opened(3, "/dev/tty"), Opened(4, "anon_inode:[io_uring]"))
    frozen = replace(CAPSULE, is_frozen=True)
    kinds = [one.kind for one in with_shell(frozen, tracer=5, opened=opened).blockers]
    assert kinds == [Kind.FROZEN, Kind.TRACED, Kind.TERMINAL, Kind.EVENT]


def test_an_exec_gate_is_in_root_s_way_only_with_other_filters() -> None:
    gated = replace(CAPSULE, is_gated=True)
    assert with_shell(gated, filters=2, filter_count=1).can
    assert with_shell(CAPSULE, filters=2, filter_count=2).can
    (found,) = with_shell(gated, filters=2, filter_count=2).blockers
    assert (found.kind, found.what) == (Kind.FILTERED, "a process under seccomp")
    (found,) = with_shell(replace(CAPSULE, is_rootless=True), filters=2).blockers
    assert found.kind is Kind.FILTERED
