"""Real processes: a machine of its own for each test, and a client that speaks."""

import contextlib
import os
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from tests.scenarios.leftovers import end_everything
from tests.scenarios.proving import proven

from holdfast.client import current_operator, policies
from holdfast.crypto.local_proof import local_proof
from holdfast.linux import packets, process_start
from holdfast.linux.stored import places, policy_files
from holdfast.linux.stored.operators import Enrolled
from holdfast.model.actors import ActorKind
from holdfast.model.ids import ENTROPY, NO_EPOCH, Incarnation, SessionId, client_id
from holdfast.model.inputs import InputKind
from holdfast.wire import messages as wire
from holdfast.wire import presence as parties
from holdfast.wire.codec import Message, decode, encode
from holdfast.wire.frames import FrameReader
from holdfast.wire.versions import SPOKEN

PATIENCE = 20.0
"""Seconds before a scenario gives up: never reached when all is well."""

OURS = ("keeper", "nursery", "trustee")
"""Processes of which there is one for all sessions, and always."""

LIFE = Incarnation(1)

Kind = TypeVar("Kind")


def eventually(what: str, found: Callable[[], Kind | None]) -> Kind:
    """Return what `found` finds as soon as it finds something."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            result = found()
            if result:
                return result
        time.sleep(0.005)
    raise AssertionError(f"it never came to this: {what}")


def apply_policy(text: str) -> None:
    """Have a policy hold from now on, by what `gate apply` does."""
    places.policy_file().write_text(text)
    policies.apply(current_operator.ourselves(), policy_files.standing())


class Machine:
    """Our processes for one user, and what the keeper says of them."""

    def __init__(self) -> None:
        self.clients: list[Client] = []

    def join(
        self,
        session: SessionId,
        name: str = "",
        kind: ActorKind = ActorKind.HUMAN,
        mode: wire.Mode = wire.Mode.OPERATE,
    ) -> "Client":
        """Attach to a session, as the login user or as somebody made for this."""
        operator = (
            current_operator.enrol(name, kind) if name else current_operator.ourselves()
        )
        self.clients.append(Client(session, operator, mode))
        return self.clients[-1]

    def ask(self, **packet: object) -> packets.Packet:
        """Ask the keeper something; a session, in our own name or the creator's."""
        with packets.connect(places.keeper_socket(), PATIENCE) as link:
            packets.send(link, proven(packet))
            heard = packets.receive(link)
        if heard is None:
            raise ConnectionResetError("the keeper hung up")
        return heard[0]

    def new(self, *command: str, creator: str = "") -> SessionId:
        """Start a session."""
        env = {"PS1": "$ ", **{one: os.environ[one] for one in ("PATH", "HOME")}}
        words, size = list(command), [80, 24]
        asked = {"command": words, "cwd": "/", "env": env, "size": size}
        answer = self.ask(do="create", creator=creator, **asked)
        assert answer["ok"], answer
        return SessionId(str(answer["id"]))

    def facts(self, session: SessionId) -> packets.Packet | None:
        """Return what the keeper keeps of a session."""
        sessions = self.ask(do="list")["sessions"]
        assert isinstance(sessions, list)
        return next((one for one in sessions if one["id"] == session), None)

    def pid(self, what: str, session: SessionId | None = None) -> int:
        """Return the pid of one of OURS, or of a session's holder or leader."""
        # While there is none it is 0, which nobody must be allowed to kill.
        return eventually(f"a {what}", lambda: self._pid(what, session))

    def _pid(self, what: str, session: SessionId | None) -> int:
        if what in OURS:
            found = self.ask(do="status")["pid" if what == "keeper" else what]
        else:
            assert session is not None
            facts = self.facts(session)
            assert facts is not None
            found = facts["holder" if what == "holder" else "pid"]
        assert isinstance(found, int)
        return found

    def kill(self, what: str, session: SessionId | None = None) -> None:
        """Kill one of our processes as nothing can be killed harder."""
        eventually("there is a keeper", lambda: self.ask(do="status"))
        if session is not None:
            self.wait_whole(session)
        os.kill(self.pid(what, session), signal.SIGKILL)

    def replace_holder(self, session: SessionId) -> None:
        """Kill a holder, and wait until the keeper has another one's deposit."""
        dead = self.pid("holder", session)
        self.kill("holder", session)
        eventually("another holder", lambda: self.pid("holder", session) != dead)

    def is_whole(self, session: SessionId) -> bool:
        """Tell whether the session has a holder that the keeper knows of, or dozes."""
        facts = self.facts(session)
        return facts is not None and bool(facts["held"] or facts["dozing"])

    def wait_whole(self, session: SessionId) -> None:
        """Wait until everything that was killed has been replaced."""
        eventually("all is whole", lambda: self.is_whole(session))


@contextlib.contextmanager
def machine(
    folder: str | None = None, begin: Callable[[], None] = process_start.ensure_keeper
) -> Iterator[Machine]:
    """Run a keeper of our own, and end everything it has started."""
    folder = tempfile.mkdtemp(prefix="hf") if folder is None else folder
    os.environ["HOLDFAST_RUNTIME_DIR"] = folder
    os.environ["HOLDFAST_CONFIG_DIR"] = f"{folder}/config"
    os.environ.pop("HOLDFAST_AS", None)  # What a verb with --as has left.
    try:
        begin()
        made = Machine()
        yield made
    finally:
        while _CLIENTS:
            _CLIENTS.pop().close()
        end_everything(folder)
        del os.environ["HOLDFAST_RUNTIME_DIR"], os.environ["HOLDFAST_CONFIG_DIR"]
        shutil.rmtree(folder, ignore_errors=True)


_CLIENTS: "list[Client]" = []
"""Those of the present machine: they are closed with it."""


class Client:
    """A client that attaches, types, and comes back after a cut."""

    def __init__(
        self,
        session: SessionId,
        operator: Enrolled | None = None,
        mode: wire.Mode = wire.Mode.OPERATE,
    ) -> None:
        self.session = session
        self.operator = operator or current_operator.ourselves()
        self.mode = mode
        self.client = client_id(os.urandom(ENTROPY))
        self.output = b""
        self.end: int | None = None
        self.gone = 0
        self.epoch = NO_EPOCH
        self.number = 0
        self._open: dict[int, wire.Submit] = {}
        self._link = socket.socket(socket.AF_UNIX)
        _CLIENTS.append(self)
        self.attach()

    def attach(self) -> wire.Attached:
        """Attach, going on where we were, and send again what has no answer."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                return self.attach_once()
            except (EOFError, OSError):  # Whoever was to answer has died.
                assert time.monotonic() < deadline, "no attach gets through"

    def attach_once(self) -> wire.Attached:
        """The same, or an error if whoever was to answer dies or does not know us."""
        self.close()
        self._link = eventually("connected", self._connect)
        self._reader = FrameReader()
        self._inbox: list[Message] = []
        self.identify()
        self.send(self._attach_message())
        attached = self.wait(wire.Attached)
        for submit in self._open.values():
            self.send(submit)
        return attached

    def _attach_message(self) -> wire.Attach:
        return wire.Attach(
            session=self.session,
            client=self.client,
            mode=self.mode,
            size=None,
            incarnation=None if self.end is None else LIFE,
            after=self.end,
            keyframe=False,
        )

    def identify(self) -> None:
        """Say hello and who we are, on a link that was just made."""
        self.send(wire.Hello(SPOKEN, "test", "cli"))
        nonce = self.wait(wire.Challenge).nonce
        proof = local_proof(self.operator.token(), self.session, nonce)
        self.send(wire.Identify(self.operator.actor.id, proof))

    def greet(self) -> wire.Refuse | wire.Attached:
        """Try to attach on a new link, once, and return the answer."""
        self.close()
        self._link = eventually("connected", self._connect)
        self._reader, self._inbox = FrameReader(), []
        self.identify()
        with contextlib.suppress(BrokenPipeError):  # Whoever is unproven is cut off.
            self.send(self._attach_message())
        answer = self.wait(wire.Refuse, wire.Attached)
        assert isinstance(answer, (wire.Refuse, wire.Attached))
        return answer

    def close(self) -> None:
        """Vanish."""
        self._link.close()

    def send(self, message: Message) -> None:
        """Send a message."""
        self._link.sendall(encode(message))

    def enter(self, text: bytes) -> wire.Acknowledge | wire.Refuse | wire.Report:
        """Type something and return what became of it, whoever dies meanwhile."""
        self.submit(text)
        return self.settle_through_cuts()

    def submit(self, payload: bytes, kind: InputKind = InputKind.KEYS) -> None:
        """Send an input, which goes again with every attach until it is settled."""
        submit = self._next(payload, kind, waits=True)
        self._open[self.number] = submit
        with contextlib.suppress(OSError):
            self.send(submit)

    def _next(
        self, payload: bytes, kind: InputKind, *, waits: bool, seen: int | None = None
    ) -> wire.Submit:
        self.number += 1
        return wire.Submit(
            client=self.client,
            sequence=self.number,
            kind=kind,
            incarnation=LIFE,
            epoch=self.epoch,
            payload=payload,
            seen=seen,
            waits=waits,
        )

    def open(self) -> list[wire.Submit]:
        """Return what has no answer yet."""
        return [*self._open.values()]

    def settle_through_cuts(self) -> wire.Acknowledge | wire.Refuse | wire.Report:
        """Return what became of the last input, whoever dies meanwhile."""
        answer = self.through_cuts(
            lambda: None,
            lambda: self.wait(wire.Acknowledge, wire.Refuse, wire.Report),
        )
        assert isinstance(answer, (wire.Acknowledge, wire.Refuse, wire.Report))
        del self._open[self.number]
        return answer

    def post(
        self,
        text: bytes,
        kind: InputKind = InputKind.KEYS,
        *,
        waits: bool = True,
        seen: int | None = None,
    ) -> int:
        """Send an input, and return its number; not what becomes of it."""
        self.send(self._next(text, kind, waits=waits, seen=seen))
        return self.number

    def settle(self) -> wire.Acknowledge | wire.Refuse | wire.Report:
        """Return the next answer to what was posted, perhaps not in its order.

        What was applied is answered when that is durable, a refusal at once.
        """
        answer = self.wait(wire.Acknowledge, wire.Refuse, wire.Report)
        assert isinstance(answer, (wire.Acknowledge, wire.Refuse, wire.Report))
        return answer

    def request(self, message: Message) -> wire.Refuse | None:
        """Ask for something that is not an input; None if it was done."""
        self.send(message)
        self.send(parties.Who())
        heard = self.wait(wire.Refuse, parties.Presence)
        if not isinstance(heard, wire.Refuse):
            return None
        self.wait(parties.Presence)
        return heard

    def who(self) -> parties.Presence:
        """Return who is here, and how things stand between them."""
        self.send(parties.Who())
        return self.wait(parties.Presence)

    def through_cuts(self, first: Callable[[], None], then: Callable[[], Kind]) -> Kind:
        """Do something, and attach again whenever the other side has died."""
        deadline = time.monotonic() + PATIENCE
        with contextlib.suppress(OSError):
            first()
        while time.monotonic() < deadline:
            try:
                return then()
            except (EOFError, OSError):
                self.attach()
        raise AssertionError("cut off for ever")

    def wait(self, *kinds: type[Kind]) -> Kind:
        """Return the next message of these kinds; output is kept on the way."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            for message in self._inbox:
                if isinstance(message, kinds):
                    self._inbox.remove(message)
                    return message
            self._receive(deadline - time.monotonic())
        raise AssertionError(f"none of {kinds} came")

    def wait_output(self, wanted: bytes = b"", size: int = 0) -> bytes:
        """Read, through any cut, until the output holds `wanted`, and `size` bytes."""
        deadline = time.monotonic() + PATIENCE
        while wanted not in self.output or len(self.output) < size:
            assert time.monotonic() < deadline, (
                f"no {wanted!r} in {self.output[-400:]!r}"
            )
            try:
                self._receive(0.5)
            except (EOFError, ConnectionError):
                self.attach()
        return self.output

    def _connect(self) -> socket.socket:
        link = socket.socket(socket.AF_UNIX)
        try:
            link.connect(str(places.session_socket(self.session)))
        except OSError:
            link.close()
            raise
        return link

    def _receive(self, timeout: float) -> None:
        self._link.settimeout(max(timeout, 0.01))
        try:
            data = self._link.recv(65536)
        except TimeoutError:
            return
        if not data:
            raise EOFError
        for frame in self._reader.feed(data):
            self._take(decode(frame))

    def _take(self, message: Message) -> None:
        match message:
            case wire.Output(offset, data):
                assert offset == self.end, f"{offset} after {self.end}"
                self.output += data
                self.end = offset + len(data)
            case wire.Gap(begin, end):
                assert begin == self.end, f"a gap from {begin} after {self.end}"
                self.gone += end - begin
                self.end = end
            case wire.Attached():
                self.epoch = message.epoch
                self.end = message.start if self.end is None else self.end
                self._inbox.append(message)
            case wire.TurnPassed():
                self.epoch = message.epoch
            case _:
                self._inbox.append(message)
