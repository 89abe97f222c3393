"""Hosts elsewhere, asked from several threads at once."""

import subprocess
import sys

ASKED_AT_ONCE = """
import threading
from holdfast.client import remote
from holdfast.client.hosts import KnownHost

together = threading.Barrier(8)

def expect(number):
    host = KnownHost(f"h{number}", bytes([number]) * 32, b"s" * 32, ())
    together.wait()
    remote.expect(host)

threads = [threading.Thread(target=expect, args=(number,)) for number in range(8)]
for one in threads:
    one.start()
for one in threads:
    one.join()
print(sum(one.name == "links" for one in threading.enumerate()))
"""


def test_one_loop_keeps_the_channels_of_all_threads() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ASKED_AT_ONCE],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout == "1\n"
