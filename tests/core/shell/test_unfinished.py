import pytest

from holdfast.core.shell.unfinished import may_go_on


@pytest.mark.parametrize(
    "line", [b"", b"ls -la", b"cd /tmp; make", b"format x", b"a=b"]
)
def test_a_plain_line_is_finished(line: bytes) -> None:
    assert not may_go_on(line)


@pytest.mark.parametrize(
    "line",
    [
        b"rm x \\",
        b"echo '",
        b'echo "a',
        b"echo `",
        b"f() {",
        b"(ls",
        b"cat <<E",
        b"ls |",
        b"ls &&",
        b"if true",
        b"true; do",
        b"while read x",
        b"case x in",
        b"echo ${x",
        bytearray(b"for x in y"),
    ],
)
def test_what_needs_another_half_may_go_on(line: bytes) -> None:
    assert may_go_on(line)
