"""Performs the effects of Upgrade: nurseries, holders, the check, the answer."""

import os
import socket
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

from holdfast.keeper import upgrade
from holdfast.keeper.code import Code
from holdfast.keeper.keeper_state import KeeperState, refusal
from holdfast.keeper.vault import Facts
from holdfast.model import holder_orders as orders


class Upgrading:
    """The upgrade under way, if there is one."""

    def __init__(
        self,
        keeper_state: KeeperState,
        write_state: Callable[[], int],
        replace: Callable[[Code], None],
    ) -> None:
        self.asker: socket.socket | None = None
        self.moved = 0
        self._keeper_state = keeper_state
        self._write_state = write_state
        self._replace = replace
        self._machine: upgrade.Upgrade | None = None
        self._code = Code("", "")
        self._checking = 0
        self._events: deque[upgrade.Event] = deque()
        self._is_busy = False

    @property
    def is_on(self) -> bool:
        """Whether an upgrade is under way."""
        return self._machine is not None

    @property
    def side_of_births(self) -> upgrade.Side:
        """Which nursery makes sessions now."""
        return (
            upgrade.Side.OLD if self._machine is None else self._machine.side_of_births
        )

    def begin(self, link: socket.socket, asked: Code) -> Facts | None:
        """Begin an upgrade to other code."""
        if self._machine is not None:
            return _failed("", "another upgrade is under way")
        if not os.access(asked.python, os.X_OK):
            return _failed("", "there is no such interpreter")
        if not (Path(asked.root) / "holdfast").is_dir():
            return _failed("", "that folder does not contain the package")
        self.asker, self._code, self.moved = link, asked, 0
        deposits = self._keeper_state.vault.deposits
        asleep = [session for session, kept in deposits.items() if kept.is_dozing]
        awake = [session for session in deposits if session not in {*asleep}]
        self._machine = upgrade.Upgrade(awake, time.monotonic(), asleep)
        self._keeper_state.side_of = self._machine.side_of
        nursery = self._keeper_state.new_nursery(asked)
        self._keeper_state.next_nursery = nursery
        try:
            nursery.start()
        except OSError as error:
            self._keeper_state.next_nursery = None
            self.happened(upgrade.NurseryFailed(f"cannot be started: {error.strerror}"))
        return None

    def happened(self, event: upgrade.Event) -> None:
        """Tell the machine; what it answers may make more happen."""
        self._events.append(event)
        if self._is_busy:
            return
        self._is_busy = True
        try:
            while self._events:
                event = self._events.popleft()
                if self._machine is not None:
                    self._do(self._machine.handle(event, time.monotonic()))
        finally:
            self._is_busy = False

    def next_deadline(self) -> float | None:
        """Return when to call `tick`, or None."""
        return None if self._machine is None else self._machine.next_deadline()

    def tick(self, now: float) -> None:
        """Do what the clock demands."""
        if self._machine is not None:
            self._do(self._machine.tick(now))

    def children_ended(self, ended: dict[int, int]) -> None:
        """Note how the child that read our state ended."""
        status = ended.get(self._checking) if self._checking else None
        if status is not None:
            self._checking = 0
            self.happened(
                upgrade.StateUnread("the new code cannot read the keeper's state")
                if status
                else upgrade.StateRead()
            )

    def _do(  # noqa: C901  # one case for each effect
        self, effects: list[upgrade.Effect]
    ) -> None:
        for effect in effects:
            match effect:
                case upgrade.AskToLeave(session):
                    self._ask_to_leave(session)
                case upgrade.KillHolder(session):
                    if not self._keeper_state.kill_holder(session):
                        self.happened(upgrade.Left(session))
                case upgrade.KillSuccessor(session):
                    self._keeper_state.births.kill(session)
                case upgrade.AskProof(session):
                    self._keeper_state.tell_holder(session, orders.Prove())
                case upgrade.Tell(moved, total):
                    self.moved = moved
                    self._tell({"ok": True, "more": True, "moved": moved, "of": total})
                case upgrade.CheckState():
                    self._check_state()
                case upgrade.EndNursery(side):
                    self._end_nursery(side)
                case upgrade.ReplaceKeeper():
                    self._replace(self._code)
                    self._tell(_failed("", "the keeper cannot start the new code"))
                    self._over()
                case upgrade.Refuse(session, why):
                    self._tell(_failed(session, why))
                    self._over()

    def _ask_to_leave(self, session: str) -> None:
        if self._keeper_state.links_of(session):
            self._keeper_state.prepare_successor(session)
            self._keeper_state.tell_holder(session, orders.Leave())
            return
        self._keeper_state.kill_holder(session)
        self.happened(upgrade.Left(session))

    def _check_state(self) -> None:
        memory = self._write_state()
        try:
            words = ("--check", str(memory))
            pid = self._code.start("holdfast.keeper", *words, fd=memory)
        except OSError as error:
            self.happened(upgrade.StateUnread(f"the new code: {error.strerror}"))
            return
        finally:
            os.close(memory)
        self._checking = pid

    def _end_nursery(self, side: upgrade.Side) -> None:
        keeper_state = self._keeper_state
        ended = (
            keeper_state.nursery
            if side is upgrade.Side.OLD
            else keeper_state.next_nursery
        )
        if side is upgrade.Side.OLD:
            keeper_state.nursery = keeper_state.next_nursery
            if keeper_state.nursery is not None:
                keeper_state.watch_nursery(keeper_state.nursery)
        keeper_state.next_nursery = None
        if ended is not None:
            ended.end()

    def _tell(self, packet: Facts) -> None:
        if self.asker is not None:
            self._keeper_state.links.send(self.asker, packet)

    def _over(self) -> None:
        self._machine = self.asker = None
        self._checking = 0
        self._keeper_state.side_of = lambda _: upgrade.Side.OLD


def _failed(session: str, why: str) -> Facts:
    text = f"the upgrade was undone: {session}: {why}" if session else why
    return refusal("upgrade-failed", text, session=session, why=why)
