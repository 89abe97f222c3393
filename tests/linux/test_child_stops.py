import os
import select
from collections.abc import Callable

from holdfast.linux import child_stops


def in_a_process_of_its_own(do: Callable[[int], None]) -> int:
    """Do something with the descriptor where there are no other threads."""
    pid = os.fork()
    if pid == 0:
        try:
            do(child_stops.watch())
        except AssertionError:
            os._exit(1)
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def is_ready(fd: int, wait: float = 0) -> bool:
    return bool(select.select([fd], [], [], wait)[0])


def test_the_end_of_a_child_is_heard_once() -> None:
    def two_children(stops: int) -> None:
        assert not is_ready(stops)
        for _ in range(2):
            child = os.fork()
            if child == 0:
                os._exit(0)

            assert is_ready(stops, 10)
            child_stops.heard(stops)

            assert not is_ready(stops)
            os.waitpid(child, 0)

    assert in_a_process_of_its_own(two_children) == 0


def test_nothing_to_hear_is_no_error() -> None:
    assert in_a_process_of_its_own(child_stops.heard) == 0
