import pytest
from tests.cli.support.kernel import graph, process

from holdfast.cli.operator_names import Names
from holdfast.cli.tree import address, facts, picture, size
from holdfast.wire.graphs import Connection, Descriptor, Listener


def test_a_picture_shows_who_is_whose_child() -> None:
    found = graph(
        process(2, 1, "top"),
        process(3, 2, "left"),
        process(5, 3, "leaf"),
        process(4, 2, "right"),
        process(9, 1, "daemon"),
    )

    drawn = [line.partition("  sleeping")[0] for line in picture(found, Names())]

    assert drawn == ["2 top", "├─ 3 left", "│  └─ 5 leaf", "└─ 4 right", "9 daemon"]


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("/bin/bash --rcfile /x/holdfast/shell/integration.bash -i", "/bin/bash -i"),
        ("fish --init-command source '/x/integration.fish'", "fish"),
        ("bash --rcfile mine.bash", "bash --rcfile mine.bash"),
    ],
)
def test_a_shell_is_shown_as_it_was_asked_for(command: str, shown: str) -> None:
    (line,) = picture(graph(process(2, 1, command)), Names())

    assert line.startswith(f"2 {shown}  sleeping")


def test_what_a_process_holds_stands_below_it() -> None:
    listener = Listener(2, "::", 80, "tcp6")
    link = Connection(
        pid=2, protocol="tcp", address="::1", port=5, peer="::2", peer_port=6
    )
    lock = Descriptor(
        pid=2,
        number=3,
        kind="file",
        name="/x\n",
        offset=9,
        access="both",
        lock="write",
    )
    found = graph(
        process(2, unlisted=4),
        process(3, 2, unlisted=None),
        listeners=(listener,),
        connections=(link,),
        descriptors=(lock,),
    )

    drawn = picture(found, Names())

    assert drawn[0].endswith("listens on tcp6 [::]:80")
    assert drawn[1:4] == [
        "│ · tcp ::1:5 → ::2:6",
        "│ · fd 3 both /x\\x0a at 9, write lock",
        "│ · and 4 more descriptors",
    ]
    assert drawn[5] == "     · its open files cannot be read"


def test_a_chain_deeper_than_python_can_call_is_drawn() -> None:
    deep = [process(number, number - 1) for number in range(2, 3000)]

    assert len(picture(graph(*deep), Names())) == len(deep)


def test_processes_that_claim_each_other_as_parents_are_not_drawn_for_ever() -> None:
    assert picture(graph(process(2, 3), process(3, 2)), Names()) == []


def test_sizes_and_addresses_are_short() -> None:
    assert [size(count) for count in (5, 2048, 3 << 20, 5 << 30)] == [
        "5B",
        "2K",
        "3M",
        "5G",
    ]
    assert address(Listener(1, "/run/\x1bx", 0, "unix")) == "unix /run/\\x1bx"


def test_facts_hold_every_list() -> None:
    assert [*facts(graph(process(2)))] == [
        "processes",
        "listeners",
        "connections",
        "descriptors",
    ]
