import pytest

from holdfast.linux.libc import checked, libc


def test_a_call_that_fails_raises_what_the_kernel_says() -> None:
    assert checked(7) == 7
    with pytest.raises(OSError, match="Bad file descriptor"):
        checked(libc.close(-1))
