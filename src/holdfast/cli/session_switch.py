"""Switches an attached terminal from one session to another.

Knows which sessions there are and what is open over the screen. It says where to go;
`cli.attached` goes there.
"""

import os
from collections.abc import Iterator
from typing import NamedTuple

from holdfast.cli.far_sessions import FarSessions
from holdfast.cli.panels import HelpPanel, Named, Panel, RenamePanel, SwitchPanel
from holdfast.cli.prefix import Go
from holdfast.cli.previews import Previews
from holdfast.cli.session_table import command_told, origin_told, state_told
from holdfast.cli.terminal import Terminal
from holdfast.client import keeper
from holdfast.core.client.session_choice import Candidate, Chosen, Closed, SessionChoice
from holdfast.core.client.session_history import SessionHistory
from holdfast.model.errors import HoldfastError, Unavailable
from holdfast.model.session_record import SessionRecord, record_of
from holdfast.model.session_requests import Created, Creation, Rename
from holdfast.model.text import checked_name, printable
from holdfast.term.key_reader import ESCAPE_WAIT, KeyReader, Mouse, Paste, Pressed

STARTING = "starting"
"""The state of a session whose command waits for approval."""


class Way(NamedTuple):
    """What one terminal knows of where it has been, and where it could go."""

    tour: SessionHistory
    far: FarSessions


def way_by(tour: SessionHistory, terminal: Terminal) -> Way:
    """Return the way of a terminal, which knows of no host yet."""
    return Way(tour, FarSessions(terminal.nudge))


class SessionSwitch:
    """One terminal's way through the sessions."""

    def __init__(
        self, terminal: Terminal, session: SessionRecord, way: Way, *, observes: bool
    ) -> None:
        """Begin at a session; the tour of `way` is told elsewhere where we are."""
        self.session = session
        """The one that is shown."""

        self.said = ""
        """What is to be said of the last key, if it led nowhere."""

        self._tour, self._far = way
        self._terminal = terminal
        self._observes = observes
        self._panel: Panel | None = None
        self._keys = KeyReader()
        self._escape_at: float | None = None
        self._here: list[SessionRecord] = []
        self._listed: list[SessionRecord] = []
        self._heard = 0
        self._previews: Previews | None = None

    # ── what is open ──────────────────────────────────────────────────────

    @property
    def is_open(self) -> bool:
        """Whether keys are ours, and not the session's."""
        return self._panel is not None

    @property
    def deadline(self) -> float | None:
        """When to call `ticked`, at the latest."""
        return self._escape_at

    def close(self) -> None:
        """Show the session again."""
        self._panel = self._escape_at = None
        if self._previews is not None:
            self._previews.close()
            self._previews = None
        self._terminal.uncover()

    def redraw(self) -> None:
        """Draw what is open, if anything is."""
        if self._panel is not None:
            size = self._terminal.size()
            shown = self._panel.drawn(size.columns, size.rows, self._terminal.look)
            self._terminal.draw(shown)

    def typed(self, keys: bytes, now: float) -> SessionRecord | None:
        """Take what was typed while something is open; return where to go."""
        found = self._press(self._keys.read(keys))
        is_unsure = self.is_open and self._keys.waits
        self._escape_at = now + ESCAPE_WAIT if is_unsure else None
        return found

    def ticked(self, now: float) -> SessionRecord | None:
        """Note that time has passed, or that an answer has come."""
        if self._escape_at is not None and now >= self._escape_at:
            self._escape_at = None
            return self._press(self._keys.waited())
        if isinstance(self._panel, SwitchPanel) and self._heard != self._far.count:
            self._panel.choice.offer(self._candidates())
        self.redraw()
        return None

    def _press(self, pressed: list[Pressed]) -> SessionRecord | None:
        for key in _panel_keys(pressed):
            if self._panel is None:
                return None  # Typed at what was open, and not at the session.
            match self._panel.pressed(key):
                case Chosen(chosen):
                    self.close()
                    known = {str(one.id): one for one in self._listed}
                    return self._to(known.get(chosen))
                case Named(name):
                    self._rename(name)
                case Closed():
                    self.close()
                case None:
                    pass
        self.redraw()
        return None

    # ── the keys after the prefix ─────────────────────────────────────────

    def pressed(self, go: Go) -> SessionRecord | None:
        """Take a key after the prefix; return where to go, if it leads anywhere."""
        self.said = ""
        try:
            match go:
                case Go.HELP:
                    self._open(HelpPanel(self._terminal.settings))
                case Go.RENAME:
                    self._open(RenamePanel(self.session.name))
                case Go.SWITCH:
                    self._switch()
                case Go.NEW:
                    return self._new()
                case Go.NEXT | Go.PREVIOUS | Go.LAST:
                    return self._step(go)
        except HoldfastError as error:
            self.said = str(error)
        return None

    def _open(self, panel: Panel) -> None:
        self._panel, self._keys = panel, KeyReader()
        self._terminal.cover()
        self.redraw()

    def _step(self, go: Go) -> SessionRecord | None:
        known = {str(one.id): one for one in self._there()}
        if go is Go.LAST:
            found = self._tour.last([*known])
        else:
            found = self._tour.step([*known], 1 if go is Go.NEXT else -1)
        if found is None:
            self.said = "there is no other session"
            return None
        return self._to(known[found])

    def _to(self, session: SessionRecord | None) -> SessionRecord | None:
        return None if session is None or session.id == self.session.id else session

    def _there(self) -> list[SessionRecord]:
        """Return the sessions that can be shown: here, where this one is, and known."""
        found = _sessions("")
        if self.session.host:
            found += _sessions(self.session.host)
        return _shown([*found, *self._far.listed(found)])

    # ── the list ──────────────────────────────────────────────────────────

    def _switch(self) -> None:
        """Offer what is here and what was heard of; hosts are asked meanwhile."""
        self._here = _sessions("", look=True)
        if self.session.host:
            self._here.append(self.session)
        self._far.ask()
        offered = self._candidates()
        ids = [one.id for one in offered]
        first = self._tour.last(ids) or self._tour.step(ids, 1) or self.session.id
        self._previews = Previews(self._terminal.nudge)
        choice = SessionChoice(offered, first)
        self._open(SwitchPanel(choice, self._previews.of, self._far.told))

    def _candidates(self) -> list[Candidate]:
        """Return all that is known now."""
        self._heard = self._far.count
        own = {self.session.id} if self.session.host else set[str]()
        far = self._far.listed([one for one in self._here if one.id not in own])
        told = {one.id for one in far}
        here = [one for one in self._here if one.id not in told]
        self._listed = _shown([*here, *far])
        return [self._candidate(one) for one in self._listed]

    def _candidate(self, one: SessionRecord) -> Candidate:
        state = state_told(
            one.state, one.exit, keep=False, dozing=one.dozing, doing=one.doing
        )
        state += origin_told(one.recovered_ms)
        what = command_told(one.command)
        return Candidate(one.id, one.label, state, what, one.id == self.session.id)

    # ── another name, another session ─────────────────────────────────────

    def _rename(self, name: str) -> None:
        """Give the session another name, or say why it cannot be had."""
        try:
            asked = Rename(self.session.id, checked_name(name))
            keeper.request(asked, host=self.session.host)
        except HoldfastError as error:
            self._panel = RenamePanel(name, str(error))
            return
        self.session = self.session._replace(name=name)
        self.close()

    def _new(self) -> SessionRecord | None:
        """Start a session here, as `holdfast new` does without a word."""
        from holdfast.cli import new_request  # noqa: PLC0415  # rarely needed
        from holdfast.client.proven_requests import proven_by_us  # noqa: PLC0415  # ditto

        if self._observes:
            self.said = "you are only watching"
            return None
        options = new_request.NewOptions([])
        asked = record_of(Creation, new_request.asked(options))
        made = record_of(Created, keeper.request(proven_by_us(asked)))
        if made.state == STARTING:
            how = f"`holdfast approve {made.id}` starts it"
            self.said = f"{printable(made.name, 64)} waits for approval; {how}"
            return None
        return keeper.find(made.id)


def _panel_keys(pressed: list[Pressed]) -> Iterator[str]:
    """Return the keys for what is open over the screen; it knows no others."""
    for one in pressed:
        match one:
            case Mouse():
                pass
            case Paste(text):
                yield from filter(str.isprintable, text)
            case _:
                # Escape, and a key so soon after it that it looks like Alt.
                yield "Escape" if one.startswith("M-") else one


def _sessions(host: str, *, look: bool = False) -> list[SessionRecord]:
    """Return the sessions of a host; none if it does not answer."""
    try:
        return keeper.sessions(host=host, look=look)
    except Unavailable:
        return []


def _shown(found: list[SessionRecord]) -> list[SessionRecord]:
    """Return those that can be shown: that run, and are not what we are in."""
    inside = os.environ.get("HOLDFAST_SESSION")
    return [one for one in found if one.exit is None and one.id != inside]
