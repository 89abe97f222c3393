import signal
import subprocess
import sys
from pathlib import Path

import pytest


def run(program: str, folder: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    prelude = "from holdfast.painter.process_limits import *\n"
    return subprocess.run(
        [sys.executable, "-I", "-c", prelude + program],
        cwd=folder,
        capture_output=True,
        check=False,
    )


def test_a_request_that_takes_too_much_cpu_ends_the_process() -> None:
    ended = run("with cpu_limit(0.1):\n  while True: pass")

    assert ended.returncode == -signal.SIGPROF


def test_time_between_requests_is_not_counted() -> None:
    program = "for _ in range(8):\n  with cpu_limit(0.4): sum(range(1_000_000))"

    assert run(program).returncode == 0


@pytest.mark.parametrize(
    ("attempt", "error"),
    [
        ("bytearray(2 * MAX_MEMORY)", b"MemoryError"),
        ("open('written', 'wb', 0).write(b'x')", b"File too large"),
        ("[open('/dev/null') for _ in range(1200)]", b"Too many open files"),
    ],
)
def test_what_a_painter_does_not_need_it_does_not_get(
    attempt: str, error: bytes, tmp_path: Path
) -> None:
    ended = run("confine()\n" + attempt, tmp_path)

    assert error in ended.stderr


def test_no_core_is_dumped() -> None:
    ended = run("confine()\nprint(resource.getrlimit(resource.RLIMIT_CORE))")

    assert ended.stdout.strip() == b"(0, 0)"
