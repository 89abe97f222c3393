"""What a fake session does with everything about turns, rights and the gate."""

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.cli.support.kernel import Kernel

from holdfast.client.own_name import VARIABLE, login_name
from holdfast.crypto.local_proof import NONCE, TOKEN, is_local_proof
from holdfast.linux.stored import operators
from holdfast.model.actors import ActorKind
from holdfast.model.errors import (
    HoldfastError,
    NotAsked,
    NothingPending,
    NotProven,
    NotYourTurn,
)
from holdfast.model.ids import (
    ENTROPY,
    ActorId,
    ClientId,
    Epoch,
    Incarnation,
    actor_id,
    client_id,
)
from holdfast.model.inputs import InputKind, digest_of
from holdfast.model.verdicts import Verdict
from holdfast.wire.blame import BlameRequest
from holdfast.wire.codec import KINDS, Message, refusal
from holdfast.wire.commands import CommandReport, CommandRequest
from holdfast.wire.evidence import StateRequest
from holdfast.wire.graphs import GraphRequest
from holdfast.wire.intents import Notify
from holdfast.wire.messages import (
    Answer,
    Approve,
    Ask,
    Challenge,
    Deny,
    Drop,
    Event,
    Freeze,
    Give,
    Identify,
    Inquire,
    Mode,
    Operator,
    Pending,
    Pong,
    Seize,
    Settled,
    State,
    Take,
    Thaw,
)
from holdfast.wire.preflights import PreflightRequest
from holdfast.wire.presence import Grant, Inherited, Presence, Present, Revoke, Who
from holdfast.wire.trials import Tried, Try

if TYPE_CHECKING:
    from tests.cli.support.fakes import FakeSession

Say = Callable[[socket.socket, Message], None]

US = actor_id(b"us")
OTHER = actor_id(b"somebody else")

_KINDS = {message: kind for kind, message in KINDS.items()}


def be_known(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make `folder` our home, where we are known as US."""
    monkeypatch.setenv("HOLDFAST_RUNTIME_DIR", str(folder))
    monkeypatch.setenv("HOLDFAST_CONFIG_DIR", str(folder / "config"))
    monkeypatch.delenv("HOLDFAST_SESSION", raising=False)
    monkeypatch.setenv(VARIABLE, "")
    monkeypatch.setenv("TERM", "xterm")
    operators.enrol(login_name(), ActorKind.HUMAN, b"us", None, os.urandom(TOKEN))


def robo(name: str = "robo", actor: ActorId = OTHER) -> Operator:
    """Return somebody else, attached."""
    return Operator(actor, ActorKind.AGENT, name, client_id(os.urandom(ENTROPY)))


def waiting(
    payload: bytes = b"rm -rf build\r", ticket: int = 3, actor: ActorId = OTHER
) -> Pending:
    """Return an input that waits for approval."""
    return Pending(
        ticket=ticket,
        actor=actor,
        kind=InputKind.KEYS,
        epoch=Epoch(0),
        digest=digest_of(InputKind.KEYS, payload),
        size=len(payload),
        excerpt=payload[:4096],
        rule="remove-trees",
        program="",
        runs="",
        uses=(),
        preview=None,
    )


class Operating:
    """Who has the turn, who waits, what is frozen and what was asked for."""

    def __init__(self, session: "FakeSession") -> None:
        self._session = session
        self.early: list[Message] = []
        self.swept: Message | None = None
        self.challenges = True
        self.believes = True
        self.nonce = os.urandom(NONCE)
        self.here: dict[socket.socket, Operator] = {}
        self._actors: dict[socket.socket, ActorId] = {}
        self.identified: list[ActorId] = []
        self.requested: list[Message] = []
        self.refusal: HoldfastError | None = None
        self.is_deaf = False
        self.verdict = Verdict.ASK
        self.frozen = False
        self.waiting: list[ActorId] = []
        self.pending: list[Pending] = []
        self.inherited: Inherited | None = None
        self.kernel = Kernel()

    def challenge(self, link: socket.socket, say: Say) -> None:
        """Ask who somebody is, after a WELCOME."""
        if self.challenges:
            say(link, Challenge(self.nonce))

    def ends(self, signal: int, link: socket.socket, say: Say) -> int:
        """Tell what a session had left running, and return how it ends."""
        if self.swept is not None:
            say(link, self.swept)
        return signal

    def came(self, link: socket.socket, client: ClientId) -> Operator:
        """Take note that somebody attached."""
        actor = self._actors.get(link, US)
        self.here[link] = Operator(actor, ActorKind.HUMAN, "anna", client)
        return self.here[link]

    def take(self, link: socket.socket, message: Message, say: Say) -> None:
        """Do what is asked, and tell whoever asked what came of it."""
        try:
            if isinstance(message, Identify):
                self._actors[link] = self._identified(message)
                return
            for said in self._answers(self._actors.get(link, US), message):
                say(link, said)
        except HoldfastError as error:
            say(link, refusal(error, _KINDS[type(message)]))

    def _identified(self, claim: Identify) -> ActorId:
        known = operators.by_actor(claim.actor)
        is_right = known is not None and is_local_proof(
            known.token(), self._session.id, self.nonce, claim.proof
        )
        if not (is_right and self.believes):
            raise NotProven(claim.actor)
        self.identified.append(claim.actor)
        return claim.actor

    def _answers(self, actor: ActorId, message: Message) -> list[Message]:
        if isinstance(message, Who):
            return [] if self.is_deaf else [self.presence()]
        self.requested.append(message)
        if self.refusal is not None:
            raise self.refusal
        if isinstance(message, Seize) and self.inherited is not None:
            self._session.tell(self.inherited)
        if isinstance(message, Try):
            return [
                Tried(
                    self.verdict,
                    "remove-trees",
                    "a tree\x1b[2J is gone",
                    "",
                    (),
                    "d1",
                )
            ]
        if isinstance(
            message, StateRequest | GraphRequest | BlameRequest | PreflightRequest
        ):
            return self.kernel.answers(message)
        if isinstance(message, CommandRequest):
            return [CommandReport("unmarked", None)]
        if not self._turn(actor, message):
            self._other(message)
        return []

    def presence(self) -> Presence:
        """Return how things stand."""
        session = self._session
        return Presence(
            present=tuple(_present(one) for one in session.everybody()),
            holder=ActorId(session.holder),
            epoch=Epoch(session.epoch),
            waiting=tuple(self.waiting),
            frozen=self.frozen,
            pending=tuple(self.pending),
            rights=("observe", "seize"),
        )

    def _turn(  # noqa: C901  # one case for each request
        self, actor: ActorId, message: Message
    ) -> bool:
        session = self._session
        holder = session.holder
        match message:
            case Take():
                _demand(holder in ("", actor), holder, session.epoch)
                session.pass_to(actor, "taken")
            case Ask():
                if holder:
                    self.waiting.append(actor)
                else:
                    session.pass_to(actor, "taken")
            case Give(to):
                _demand(holder == actor, holder, session.epoch)
                session.pass_to(to, "given")
            case Answer(asker):
                if asker not in self.waiting:
                    raise NotAsked(asker)
                self.waiting.remove(asker)
                if message.granted:
                    session.pass_to(asker, "answered")
            case Drop():
                _demand(holder == actor, holder, session.epoch)
                session.pass_to("", "dropped")
            case Seize(halt):
                session.pass_to(actor, "seized")
                self._freeze(frozen=halt == "freeze")
            case _:
                return False
        return True

    def _other(self, message: Message) -> None:
        match message:
            case Approve(ticket) | Deny(ticket):
                found = [one for one in self.pending if one.ticket == ticket]
                if not found:
                    raise NothingPending(ticket)
                self.pending.remove(found[0])
                allowed = isinstance(message, Approve)
                verdict = Verdict.ALLOW if allowed else Verdict.DENY
                self._session.tell(Settled(ticket, verdict, US))
            case Freeze() | Thaw():
                self._freeze(frozen=isinstance(message, Freeze))
            case Grant() | Revoke() | Inquire() | Pong() | Notify():
                pass
            case _:
                raise AssertionError(message)

    def warns(self, text: str) -> None:
        """Tell everybody that a broken policy was passed over."""
        self._session.tell(Event("policy.kept", self._session.id, {"text": text}))

    def _freeze(self, *, frozen: bool) -> None:
        if frozen != self.frozen:
            self.frozen = frozen
            state = "frozen" if frozen else "running"
            self._session.tell(State(state, Incarnation(1)))


def _demand(condition: bool, holder: str, epoch: int) -> None:  # noqa: FBT001
    if not condition:
        raise NotYourTurn(holder, epoch)


def _present(one: Operator) -> Present:
    return Present(
        actor=one.actor,
        kind=one.kind,
        name=one.name,
        client=one.client,
        program="cli",
        mode=Mode.OPERATE,
        for_ms=65_000,
    )
