import math

from holdfast.core.input.attendance import Attendance

GRACE = 30.0


def test_i1_what_has_its_client_is_never_tick() -> None:
    attendance = Attendance()
    attendance.look(None, GRACE, 0)

    assert attendance.tick(1e9) is None
    assert attendance.alone_until == math.inf


def test_i1_a_client_that_comes_back_in_time_keeps_its_request() -> None:
    attendance = Attendance()
    attendance.look(7, GRACE, 0)
    attendance.look(None, GRACE, 29)

    assert attendance.tick(31) is None


def test_i1_a_client_that_leaves_again_has_the_whole_grace_again() -> None:
    attendance = Attendance()
    attendance.look(7, GRACE, 0)
    attendance.look(None, GRACE, 29)
    attendance.look(7, GRACE, 29)

    assert attendance.tick(58) is None
    assert attendance.tick(59) == 7


def test_i2_what_is_alone_for_the_grace_is_tick() -> None:
    attendance = Attendance()
    attendance.look(7, GRACE, 5)
    attendance.look(7, GRACE, 20)

    assert attendance.alone_until == 35
    assert attendance.tick(34.9) is None
    assert attendance.tick(35) == 7


def test_i2_it_is_given_up_once() -> None:
    attendance = Attendance()
    attendance.look(7, GRACE, 5)
    attendance.tick(35)
    attendance.look(7, GRACE, 36)

    assert attendance.tick(1e9) is None
    assert attendance.alone_until == math.inf


def test_i3_the_next_request_begins_anew() -> None:
    attendance = Attendance()
    attendance.look(7, GRACE, 0)
    attendance.look(8, GRACE, 29)

    assert attendance.tick(58) is None
    assert attendance.tick(59) == 8
