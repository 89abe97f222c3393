"""A simulated terminal: what a program reads and prints, and the kernel's buffers.

The buffers in both directions are bounded. A program that does not
read fills the one, and then nothing more is accepted; a program whose output
nobody drains fills the other, and then it waits. Output is a known function of
its offset, so that a reader can tell whether it has the right bytes.
"""

PERIOD = 251
"""A prime, so that no buffer size hides a shift by a whole buffer."""

_PATTERN = bytes(range(PERIOD)) * 80


def output_at(offset: int, size: int) -> bytes:
    """Return the bytes a program prints at `offset`."""
    first = offset % PERIOD
    return _PATTERN[first : first + size]


class Terminal:
    """One pseudo-terminal with a program at its end."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.is_reading = True
        self.printed = 0
        self.drained = 0
        self._held = 0

    def write(self, size: int) -> int:
        """Accept at most `size` bytes of input, and return how many."""
        accepted = min(size, self.capacity - self._held)
        self._held += accepted
        return accepted

    def consume(self) -> None:
        """Let the program read what there is, if it reads."""
        if self.is_reading:
            self._held = 0

    def print(self, size: int) -> None:
        """Let the program print, as far as there is room."""
        self.printed += min(size, self.capacity - (self.printed - self.drained))

    @property
    def has_output(self) -> bool:
        """Whether output waits."""
        return self.printed > self.drained

    def drain(self) -> bytes:
        """Return all output that waits."""
        data = output_at(self.drained, self.printed - self.drained)
        self.drained = self.printed
        return data
