import pytest

from holdfast.core.capsule.criu_log import LONGEST, UNKNOWN, cause

RLIMIT = (
    "Error (criu/util.c:1534): rlimit: Can't setup RLIMIT_NOFILE for self:"
    " Operation not permitted\n"
)
TTY = (
    "(00.012) Error (criu/tty.c:2281): tty: ctty inheritance detected sid/pgrp 101\n"
    "(00.013) Error (criu/cr-dump.c:1975): Dumping FAILED.\n"
)
RESTORE = """\
   103: Error (criu/files-reg.c:2294): File tmp/mm has bad mode 040755 (expect 041777)
   100: Error (criu/cr-restore.c:1265): 101 exited, status=1
Error (criu/cr-restore.c:1269): 100 killed by signal 9: Killed
Error (criu/cr-restore.c:2331): Restoring FAILED.
"""
FILES = """\
pie: 103: Error (criu/pie/parasite.c:588): send_fds failed (-22)
Error (criu/parasite-syscall.c:280): Can't retrieve FDs from socket
Error (criu/cr-dump.c:1545): Dump files (pid: 103) failed with -1
Error (criu/cr-dump.c:1975): Dumping FAILED.
"""


@pytest.mark.parametrize(
    ("log", "told"),
    [
        (TTY, "tty: ctty inheritance detected sid/pgrp 101"),
        (RLIMIT + TTY, "tty: ctty inheritance detected sid/pgrp 101"),
        (RESTORE, "File tmp/mm has bad mode 040755 (expect 041777)"),
        (FILES, "Can't retrieve FDs from socket"),
        ("Error (criu/cr-dump.c:1975): Dumping FAILED.\n", "Dumping FAILED."),
        (RLIMIT, UNKNOWN),
        ("Warn (criu/x.c:1): never mind\n", UNKNOWN),
        ("", UNKNOWN),
    ],
)
def test_the_line_that_says_why_is_found(log: str, told: str) -> None:
    assert cause(log) == told


def test_what_a_program_wrote_into_the_log_is_not_obeyed() -> None:
    log = f"Error (criu/files.c:1): Can't open \x1b[2J{'x' * 1000}\n"
    found = cause(log)
    assert "\x1b" not in found
    assert len(found) <= LONGEST + 10
