"""Follow a session elsewhere through every cut, and count what was shown.

    python -m tests.scenarios.follower ADDRESS LAST

Prints `line N` numbers one by one as they come, and exits with 0 when LAST has
come and each before it exactly once and in order.
"""

import contextlib
import re
import sys
import time

from tests.scenarios.attached_link import attach, messages

from holdfast.client import keeper
from holdfast.client.driver import attachment_to
from holdfast.model.errors import HoldfastError, SessionUnreachable, Unavailable
from holdfast.wire.messages import Mode

PATIENCE = 180.0
_LINE = re.compile(rb"line (\d+)\.")


def main(address: str, last: int) -> int:
    """Follow it to its end."""
    deadline = time.monotonic() + PATIENCE
    attachment = attachment_to(_found(address, deadline), Mode.OBSERVE)
    shown = bytearray()
    printed = 0
    wanted = f"line {last}.".encode()
    while wanted not in shown and time.monotonic() < deadline:
        with contextlib.suppress(SessionUnreachable):
            link, _ = attach(attachment, patience=0.5)
            with link:
                for message in messages(link, deadline):
                    shown += attachment.heard(message)
                    numbers = _LINE.findall(shown)
                    for number in numbers[printed:]:
                        print(number.decode(), flush=True)  # noqa: T201  # its job
                    printed = len(numbers)
                    if wanted in shown:
                        break
    numbers = [int(one) for one in _LINE.findall(shown)]
    return 0 if numbers == list(range(1, last + 1)) else 1


def _found(address: str, deadline: float) -> str:
    while True:
        try:
            return keeper.find(address).id
        except Unavailable:
            if time.monotonic() >= deadline:
                raise


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1], int(sys.argv[2])))
    except HoldfastError as error:
        print(f"follower: {error}", file=sys.stderr)  # noqa: T201  # its job
        sys.exit(2)
