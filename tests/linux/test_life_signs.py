import os
import socket
from pathlib import Path

from holdfast.core.session.recovery import LeaderMark
from holdfast.linux import life_signs

SESSION = "s_" + "c" * 16


def test_a_socket_counts_while_a_process_has_it_even_without_its_path(
    tmp_path: Path,
) -> None:
    path = tmp_path / f"{SESSION}.sock"
    assert SESSION not in life_signs.held_sessions()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(os.fspath(path))
    listener.listen()
    path.unlink()

    assert SESSION in life_signs.held_sessions()

    listener.close()
    assert SESSION not in life_signs.held_sessions()


def test_a_leader_is_known_by_number_start_and_boot() -> None:
    mark = life_signs.leader_mark(os.getpid())

    assert life_signs.is_running(mark)
    assert mark.boot
    assert not life_signs.is_running(mark._replace(started=mark.started + 1))
    assert not life_signs.is_running(mark._replace(boot="another"))
    assert not life_signs.is_running(LeaderMark(0, 0, life_signs.boot_id()))


def test_a_leader_that_ended_is_not_running_even_if_nobody_collects_it() -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    mark = life_signs.leader_mark(pid)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)

    assert not life_signs.is_running(mark)
    os.waitpid(pid, 0)
    assert not life_signs.is_running(mark)
