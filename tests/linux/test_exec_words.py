import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.linux.gated import Gated, gated
from tests.linux.kernels import can_hold_execs

from holdfast.linux import exec_gate, exec_words
from holdfast.linux.exec_arguments import MAX_WORDS
from holdfast.linux.exec_words import Wanted, process_of, read_wanted

pytestmark = pytest.mark.skipif(
    not can_hold_execs(), reason="this kernel cannot hold an exec"
)

PYTHON = sys.executable


def wanted(one: Gated, path: str) -> Wanted:
    """Let everything happen but what ends like this, and return that."""
    while True:
        notice = one.next()
        found = read_wanted(notice)
        if found.path is not None and found.path.endswith(path):
            return found
        one.gate.let(notice.id)


def python(text: str, cwd: Path) -> "Gated":
    return Gated(PYTHON, "-c", f"import os\n{text}", cwd=str(cwd))


def test_a_program_and_its_words_are_read(tmp_path: Path) -> None:
    with gated("sh", "-c", "/bin/mkdir 'a b' ''", cwd=str(tmp_path)) as one:
        found = wanted(one, "mkdir")

    assert found.path == "/bin/mkdir"
    assert found.real == os.path.realpath("/bin/mkdir")
    assert found.words == ("/bin/mkdir", "a b", "")
    assert found.cwd == str(tmp_path)


def test_a_relative_path_is_made_absolute_and_its_links_are_followed(
    tmp_path: Path,
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "again").symlink_to("folder")
    (tmp_path / "folder" / "one").symlink_to("two")
    (tmp_path / "folder" / "two").symlink_to("/bin/true")
    with gated("sh", "-c", "again/one; true", cwd=str(tmp_path)) as one:
        found = wanted(one, "again/one")

    assert found.path == f"{tmp_path}/again/one"
    assert found.real == os.path.realpath("/bin/true")


def test_a_link_that_leads_in_a_circle_has_no_file_behind_it(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")
    with gated("sh", "-c", "./one; true", cwd=str(tmp_path)) as one:
        found = wanted(one, "one")

    assert found.real is None


def test_a_program_that_is_not_there_is_missing(tmp_path: Path) -> None:
    with gated("env", "no/such/program", cwd=str(tmp_path)) as one:
        assert wanted(one, "program").is_missing


@pytest.mark.parametrize(
    ("call", "path"),
    [
        ("os.execve(os.open('/bin/true', os.O_RDONLY), ['x'], {})", "true"),
        ("os.execve('/bin/true', ['x'], {})", "/bin/true"),
    ],
)
def test_a_program_may_be_given_as_a_descriptor(
    tmp_path: Path, call: str, path: str
) -> None:
    one = python(call, tmp_path)
    try:
        found = wanted(one, path)
    finally:
        one.close()

    assert found.real == os.path.realpath("/bin/true")
    assert found.words == ("x",)


def test_words_that_are_no_text_are_unknown(tmp_path: Path) -> None:
    one = python("os.execv('/bin/true', ['true', b'\\xff'])", tmp_path)
    try:
        found = wanted(one, "true")
    finally:
        one.close()

    assert found.words == ("true", None)


def test_more_words_than_are_read_are_unknown(tmp_path: Path) -> None:
    one = python("os.execv('/bin/true', ['x'] * 5000)", tmp_path)
    try:
        found = wanted(one, "true")
    finally:
        one.close()

    assert found.words == ("x",) * MAX_WORDS + (None,)


def test_long_words_use_up_the_room(tmp_path: Path) -> None:
    one = python("os.execv('/bin/true', ['x' * 4000] * 100)", tmp_path)
    try:
        found = wanted(one, "true")
    finally:
        one.close()

    assert found.words[0] == "x" * 4000
    assert found.words[-1] is None
    assert len(found.words) < 30


def test_a_word_longer_than_is_read_is_unknown(tmp_path: Path) -> None:
    one = python("os.execv('/bin/true', ['true', 'x' * 100_000, 'y'])", tmp_path)
    try:
        found = wanted(one, "true")
    finally:
        one.close()

    assert found.words == ("true", None, "y")


def test_a_process_with_files_of_its_own_is_elsewhere(tmp_path: Path) -> None:
    can = subprocess.run(["unshare", "-rm", "true"], check=False, capture_output=True)  # noqa: S607  # found by PATH
    if can.returncode:
        pytest.skip("no namespaces can be made here")

    with gated("unshare", "-rm", "sh", "-c", "/bin/true; :", cwd=str(tmp_path)) as one:
        found = wanted(one, "/true")

    assert found.is_elsewhere
    assert found.real is None


def test_a_thread_is_told_from_its_process() -> None:
    assert process_of(os.getpid()) == os.getpid()
    with subprocess.Popen(
        [PYTHON, "-c", "import threading as t; t.Thread(target=input).start()"],
        stdin=subprocess.PIPE,
    ) as child:
        folder = Path(f"/proc/{child.pid}/task")
        while len(threads := [int(one.name) for one in folder.iterdir()]) < 2:
            pass

        assert {process_of(one) for one in threads} == {child.pid}
        child.kill()


def test_whoever_is_gone_has_nothing_to_read() -> None:
    gone = exec_gate.Notice(1, 2**22 - 1, "execve", False, (0,) * 6)  # noqa: FBT003  # as it is made

    assert read_wanted(gone) == Wanted(None, None, (None,), None)
    assert exec_words.process_of(gone.thread) == gone.thread
