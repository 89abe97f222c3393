"""Has an input previewed before it waits for approval, if the policy says so.

A previewer does it (holder/previewer.py), in a process of its own. Everything but the
line of inputs goes on meanwhile. Whatever comes of it, the input waits for approval
then, with a report beside it, which says at least why there is no other. A seize, or
anything else that drops the input, ends the preview too.
"""

import errno
import json
import os
import socket
import time
from collections.abc import Callable

from holdfast.core.capsule.preview_line import Line, line_of
from holdfast.core.input import gate
from holdfast.core.input.intake_effects import Effect
from holdfast.holder.context import Context
from holdfast.holder.input.intake_driver import IntakeDriver
from holdfast.holder.moment import now
from holdfast.holder.policy.consultation import Consultation
from holdfast.linux import packets
from holdfast.model.errors import HoldfastError
from holdfast.model.inputs import Input
from holdfast.model.moments import Moment
from holdfast.model.preview_report import PreviewReport

LOOK = 0.2
"""Seconds between two looks whether the input still waits."""

MAX_REPORT = 2 * 1024 * 1024
"""Bytes of a report."""

WantProcess = Callable[[int], None]
"""Has a process made at the end of a link."""

DIED = "the process that tried it out has died"


class Previews:
    """The preview of one session's input that is judged, if there is one."""

    def __init__(
        self,
        context: Context,
        driver: IntakeDriver,
        consultation: Consultation,
    ) -> None:
        self._descriptors = context.descriptors
        self._poll = context.poll
        self._driver = driver
        self._consultation = consultation
        self.want_process: WantProcess = _nobody
        """Has a previewer made; set once there is a link to the keeper."""

        self._timer = context.timers.add(self._look)
        self._open: tuple[int, socket.socket] | None = None
        driver.performers[gate.Preview] = self._begin

    def _begin(self, asked: gate.Preview, at: Moment) -> list[Effect]:
        self._close()
        line = self._line(self._consultation.given)
        if not line.text:
            return self._told(asked.ticket, PreviewReport(line.why), at)
        try:
            self._start(asked.ticket, line.text)
        except OSError as error:
            why = error.strerror or "there is no process to preview it"
            return self._told(asked.ticket, PreviewReport(why), at)
        return []

    def _line(self, given: Input) -> Line:
        if not self._descriptors.capsule:
            return Line(why="it is not in a capsule")
        question = self._consultation.question
        return line_of(
            given.kind,
            given.payload,
            staged=None if question is None else question.staged,
            is_secret=self._consultation.is_hidden,
        )

    def _start(self, ticket: int, text: str) -> None:
        link, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        wanted: packets.Packet = {
            "do": "preview",
            "id": self._descriptors.session,
            "line": text,
        }
        try:
            self.want_process(theirs.fileno())
            packets.send(link, wanted)
        except OSError:
            link.close()
            raise
        finally:
            theirs.close()
        link.settimeout(0)
        self._open = (ticket, link)
        self._poll.watch(link, self._heard)
        self._timer.set(time.monotonic() + LOOK)

    def _heard(self) -> None:
        assert self._open is not None  # noqa: S101  # it is what was heard
        ticket, link = self._open
        try:
            heard = packets.receive(link)
        except BlockingIOError:
            return
        report = PreviewReport(DIED) if heard is None else _report(heard[1])
        self._close()
        at = now()
        self._driver.do(self._told(ticket, report, at), at)

    def _told(self, ticket: int, report: PreviewReport, at: Moment) -> list[Effect]:
        report = report._replace(made_ms=round(at.wall * 1000))
        self._consultation.report = report
        told = gate.Previewed(ticket, report.digest().hex())
        return self._driver.intake.resolve(told, at)

    def _look(self, at: float) -> None:
        """Hang up on a preview whose result no longer counts."""
        if self._open is None:
            return
        if self._driver.intake.gate.is_trying(self._open[0]):
            self._timer.set(at + LOOK)
        else:
            self._close()

    def _close(self) -> None:
        self._timer.set(None)
        if self._open is not None:
            link, self._open = self._open[1], None
            self._poll.unwatch(link)
            link.close()


def _nobody(_link: int) -> None:
    raise OSError(errno.ENOTCONN, "there is no keeper now")


def _report(fds: list[int]) -> PreviewReport:
    """Read what the previewer's command printed: a report, or an error."""
    try:
        raw = b"".join(os.pread(fd, MAX_REPORT, 0) for fd in fds[:1])
    finally:
        packets.close(fds)
    try:
        said = json.loads(raw.splitlines()[-1] if raw else b"")
        if isinstance(said, dict) and isinstance(error := said.get("error"), dict):
            return PreviewReport(str(error.get("text") or DIED))
        return PreviewReport.from_facts(said)
    except (ValueError, HoldfastError, RecursionError):
        return PreviewReport(DIED)
