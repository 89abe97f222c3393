from tests.scenarios.soak import leaks, soak
from tests.scenarios.support import machine


def test_forty_lives_leave_no_descriptor_process_file_or_memory() -> None:
    with machine() as here:
        before, after = soak(here, range(40))

    assert leaks(before, after) == []
