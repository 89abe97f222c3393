from holdfast.linux.oom_log import Killed, killed_in, last_killed

RECORD = (
    b"6,1,37078293413,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,"
    b"mems_allowed=0,oom_memcg=/a/holdfast-s_one,task_memcg=/a/holdfast-s_one,"
    b"task=python3,pid=12431,uid=0"
)


def test_what_was_killed_in_a_session_is_found() -> None:
    assert killed_in(RECORD, "s_one") == Killed("python3", 12431)


def test_what_was_killed_in_another_session_is_not() -> None:
    assert killed_in(RECORD, "s_two") is None
    assert killed_in(RECORD, "s_on") is None


def test_a_program_may_call_itself_anything() -> None:
    odd = RECORD.replace(b"task=python3", b"task=a,pid=1,uid=0 \xff")

    killed = killed_in(odd, "s_one")

    assert killed is not None
    assert killed.pid == 12431


def test_other_records_tell_nothing() -> None:
    assert killed_in(b"6,2,3,-;usb 1-1: new device", "s_one") is None
    assert killed_in(b"", "s_one") is None


def test_a_session_of_which_the_kernel_says_nothing_has_lost_nothing() -> None:
    assert last_killed("s_neverwas") is None
