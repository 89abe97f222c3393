"""A person who types over a real link at a real input handler."""

from functools import partial

from tests.holder.input_world import Client, World

from holdfast.core.book.logbook import EntryKind
from holdfast.core.session.stream import StreamWindow
from holdfast.holder.output.display import Display
from holdfast.holder.record.note_memory import AREA
from holdfast.linux import shared_memory
from holdfast.model.ids import FIRST_INCARNATION
from holdfast.model.inputs import InputKind
from holdfast.wire import messages as wire
from holdfast.wire.codec import Message, encode


class Typist:
    """Somebody who types over a real link, and sees what is printed."""

    def __init__(self, here: World) -> None:
        raw = shared_memory.view(here.descriptors.memory)
        self.here = here
        self.window = StreamWindow.open(raw[AREA:])
        self.display = Display(here.context, self.window, here.session)
        self.client: Client = here.join()
        self.link = self.client.connection
        self.link.watch(self.window, self.window.end)
        here.context.poll.unwatch(self.link.link)
        here.context.poll.watch(self.link.link, partial(self.link.receive, self.heard))
        self.sequence = 0
        self.others: list[Message] = []
        # The first takes the turn, the second teaches, the third is pressed.
        for key in (b"x", b"a", b"b"):
            self.types(key)
            self.settles()

    def heard(self, connection: object, message: Message) -> None:
        if isinstance(message, wire.Submit):
            assert connection is self.link
            self.here.session.input_handler.submit(self.link, message)
        else:
            self.others.append(message)

    def send(self, raw: bytes) -> None:
        self.client.far_end.sendall(raw)

    def types(self, key: bytes, *, waits: bool = False) -> None:
        """Send a key, and have the holder take what is there."""
        self.sequence += 1
        client, viewer = self.link.client, self.link.viewer
        assert client is not None
        assert viewer is not None
        submit = wire.Submit(
            client=client,
            sequence=self.sequence,
            kind=InputKind.KEYS,
            incarnation=FIRST_INCARNATION,
            epoch=self.here.intake.turn.epoch,
            payload=key,
            seen=viewer.cursor,
            waits=waits,
        )
        self.send(encode(submit))
        assert self.here.context.poll.turn(5)

    def settles(self) -> None:
        """Have everything done that is left to do."""
        self.here.context.poll.interrupt()
        while self.here.context.poll.turn(0.01):
            pass
        self.here.context.poll.interrupt()
        self.here.session.settle()
        self.here.turn(later=0.5)

    def prepares(self) -> bool:
        """Prepare for the next key; tell whether there is something to prepare."""
        key = self.here.session.input_handler.next_key
        assert key.is_due
        key.prepare()
        return self.is_expected

    @property
    def is_expected(self) -> bool:
        return self.here.context.poll.expected is not None

    @property
    def is_put_off(self) -> bool:
        """Whether a key is on its way that has not passed the input handler."""
        return self.here.context.poll.late is not None

    def inputs(self) -> list[tuple[object, object]]:
        """Return number and bytes of what the book says was typed."""
        return [
            (one.fields["sequence"], one.fields.get("data"))
            for one in self.here.entries()
            if one.kind is EntryKind.INPUT
        ]
