"""Inputs that are tried out before they are asked about, at a real handler."""

import json
import socket
import time
import tty
from collections.abc import Callable, Iterator

import pytest
from tests.holder.input_world import SESSION, Client, World, world
from tests.scenarios.support import apply_policy

from holdfast.core.input import gate
from holdfast.holder.policy.previews import DIED, LOOK
from holdfast.linux import packets, shared_memory
from holdfast.model.actors import ActorKind
from holdfast.model.preview_report import FileChange, PreviewReport
from holdfast.wire import messages as wire
from holdfast.wire.codec import Message

RULES = '[default]\nagent = "preview"\n'
PATIENCE = 20.0
LINE = b"make clean\r"
FOUND = PreviewReport(
    ended=True, exit=3, files=(FileChange("deleted", "/w/out", 7),), output="gone\n"
)


class Tried:
    """A handler with a capsule, an agent, a person, and the previewers it wants."""

    def __init__(self, made: World) -> None:
        self.world = made
        self.previews = made.session.policy.previews
        self.nobody = self.previews.want_process
        self.previews.want_process = self._make
        self.links: list[socket.socket] = []
        self.anna = made.join()
        self.bot = made.join("bot", ActorKind.AGENT)
        made.descriptors.capsule = (made.descriptors.pidfd, made.descriptors.pidfd)

    def _make(self, link: int) -> None:
        made = socket.fromfd(link, socket.AF_UNIX, socket.SOCK_SEQPACKET)
        made.settimeout(PATIENCE)
        self.links.append(made)

    def asked(self) -> packets.Packet:
        """Return what the previewer that was made last is to do."""
        heard = packets.receive(self.links[-1])
        assert heard is not None
        return heard[0]

    def says(self, printed: bytes) -> None:
        """Have that previewer tell what its command printed, and end."""
        memory = shared_memory.holding(printed)
        packets.send(self.links[-1], {"say": "previewed"}, [memory])
        packets.close([memory])
        self.links[-1].close()

    def is_hung_up_on(self) -> bool:
        """Tell whether nobody waits for that previewer any more."""
        self.links[-1].settimeout(0)
        try:
            return packets.receive(self.links[-1]) is None
        except BlockingIOError:
            return False

    def until(self, happened: Callable[[], bool]) -> None:
        """Do what the loop does, until something has happened."""
        give_up_at = time.monotonic() + PATIENCE
        while not happened():
            assert time.monotonic() < give_up_at
            self.world.context.poll.turn(0.01)

    def shown(self) -> wire.Pending:
        """Wait until the person is shown what waits for approval."""
        found: list[Message] = []

        def is_shown() -> bool:
            found.extend(self.anna.told())
            return bool(_pending(found))

        self.until(is_shown)
        return _pending(found)[0]

    def text(self) -> str:
        """Return what the person is told of the preview, then."""
        preview = self.shown().preview
        assert preview is not None
        return preview.text


def _pending(said: list[Message]) -> list[wire.Pending]:
    return [one for one in said if isinstance(one, wire.Pending)]


@pytest.fixture
def here(own_folders: None) -> Iterator[Tried]:
    del own_folders
    with world() as made:
        apply_policy(RULES)
        tty.setraw(made.slave)
        tried = Tried(made)
        yield tried
        made.descriptors.capsule = ()
        for link in tried.links:
            link.close()
        made.context.poll.turn(0)  # Who hears that hangs up too.


def test_a_line_is_tried_out_and_then_waits_with_what_it_did(here: Tried) -> None:
    here.bot.submit(LINE)

    assert here.asked() == {"do": "preview", "id": SESSION, "line": "make clean"}
    assert _pending(here.anna.told()) == []
    printed = json.dumps({"session": SESSION, **FOUND.facts()})
    here.says(f"a warning\n{printed}\n".encode())

    shown = here.shown()
    preview = shown.preview
    assert preview is not None
    assert (preview.ran, preview.exit, preview.files) == (True, 3, 1)
    assert "/w/out" in preview.text
    assert here.world.typed() == b""
    by = here.anna.id
    approved = gate.Approved(shown.ticket, by, shown.digest, shown.epoch)
    here.world.approvals.approve(approved)
    assert here.world.typed() == LINE


@pytest.mark.parametrize(
    ("printed", "why"),
    [
        (b'{"error": {"code": "x", "text": "the disk is full"}}\n', "the disk is full"),
        (b'{"error": {"code": "x"}}\n', DIED),
        (b"Traceback\nKeyError: 7\n", DIED),
        (b'{"exit": "three"}\n', DIED),
        (b"[" * 100_000, DIED),
        (b"", DIED),
    ],
)
def test_what_is_no_report_says_why_there_is_none(
    here: Tried, printed: bytes, why: str
) -> None:
    here.bot.submit(LINE)
    here.asked()
    here.says(printed)

    assert here.text() == f"not previewed: {why}"


def test_a_previewer_that_dies_is_told_and_the_line_waits(here: Tried) -> None:
    here.bot.submit(LINE)
    here.links[-1].close()

    assert here.text() == f"not previewed: {DIED}"


def test_without_a_keeper_nobody_can_try_it_out(here: Tried) -> None:
    here.previews.want_process = here.nobody
    here.bot.submit(LINE)

    assert here.text() == "not previewed: there is no keeper now"
    assert here.links == []


def test_a_failure_without_words_is_told_too(here: Tried) -> None:
    def nobody(_link: int) -> None:
        raise OSError

    here.previews.want_process = nobody
    here.bot.submit(LINE)

    assert here.text() == "not previewed: there is no process to preview it"


@pytest.mark.parametrize(
    ("payload", "why"),
    [
        (b"make", "it is not a complete line"),
        (b"\x1b[A\r", "it is not one line of plain text"),
    ],
)
def test_what_is_no_line_is_not_tried_out(
    here: Tried, payload: bytes, why: str
) -> None:
    here.bot.submit(payload)

    assert here.text() == f"not previewed: {why}"
    assert here.links == []


def test_a_session_without_a_capsule_has_no_previews(here: Tried) -> None:
    here.world.descriptors.capsule = ()
    here.bot.submit(LINE)

    assert here.text() == "not previewed: it is not in a capsule"
    assert here.links == []


def test_a_preview_goes_on_while_its_line_waits_for_it(here: Tried) -> None:
    here.bot.submit(LINE)
    here.asked()

    here.world.turn(LOOK)
    here.world.turn(3 * LOOK)

    assert not here.is_hung_up_on()


def test_a_seize_ends_the_preview_too(here: Tried) -> None:
    here.bot.submit(LINE)
    here.asked()

    seized(here.world, here.anna)
    here.world.turn(LOOK)

    assert here.is_hung_up_on()
    here.world.turn(3 * LOOK)
    assert _pending(here.anna.told()) == []


def test_the_next_preview_ends_one_that_no_longer_counts(here: Tried) -> None:
    here.bot.submit(LINE)
    first = here.links[-1]
    seized(here.world, here.anna)
    here.world.requests.take(here.anna.connection, wire.Drop())
    here.bot.submit(b"make all\r")

    assert len(here.links) == 2
    assert here.asked()["line"] == "make all"
    assert packets.receive(first) is not None
    assert packets.receive(first) is None


def seized(made: World, by: Client) -> None:
    assert made.requests.take(by.connection, wire.Seize(wire.Halt.NONE))
