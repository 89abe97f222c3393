"""How the terminal is set, read once for all that is decided at one moment."""

from holdfast.core.provenance.line_discipline import LineDiscipline
from holdfast.linux import pty
from holdfast.model.moments import Moment


class TerminalSettings:
    """The settings of one session's terminal."""

    def __init__(self, master: int) -> None:
        self._master = master
        self._at: Moment | None = None
        self._found: LineDiscipline | None = None

    def read(self, at: Moment) -> LineDiscipline:
        """Return how it treats what is typed; for the same moment, the same."""
        if at is not self._at or self._found is None:
            self._at, self._found = at, pty.discipline(self._master)
        return self._found
