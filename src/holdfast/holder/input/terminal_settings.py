"""The terminal's settings, read once for all decisions of one moment."""

from holdfast.core.provenance.line_discipline import LineDiscipline
from holdfast.linux import pty
from holdfast.model.moments import Moment


class TerminalSettings:
    """The settings of one session's terminal."""

    def __init__(self, master: int) -> None:
        self._master = master
        self._at: Moment | None = None
        self._raw = b""
        self._found: LineDiscipline | None = None

    def read(self, at: Moment) -> LineDiscipline:
        """Return how it treats what is typed; for the same moment, the same."""
        if at is not self._at or self._found is None:
            raw = pty.settings(self._master)
            if raw != self._raw or self._found is None:
                self._raw, self._found = raw, pty.discipline_of(raw)
            self._at = at
        return self._found
