import itertools

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
)

from holdfast.core.session.stream import (
    HEADER,
    Send,
    Skip,
    StreamWindow,
    Viewer,
    plan_resume,
)

CAPACITY = 16


def kept(window: StreamWindow) -> bytes:
    whole = b""
    while window.start + len(whole) < window.end:
        whole += window.read(window.start + len(whole), window.capacity)
    return whole


@given(st.integers(1, 40), st.lists(st.binary(max_size=60), max_size=12))
def test_i2_any_cut_of_the_output_keeps_the_same_tail(
    capacity: int, chunks: list[bytes]
) -> None:
    window = StreamWindow.create(memoryview(bytearray(HEADER + capacity)))
    for chunk in chunks:
        window.append(chunk)

    output = b"".join(chunks)
    assert window.end == len(output)
    assert window.start == max(0, len(output) - capacity)
    assert kept(window) == output[window.start :]


@given(printed=st.integers(0, 40), after=st.none() | st.integers(0, 40))
def test_i3_a_resumed_reader_has_every_byte_or_a_declared_gap(
    printed: int, after: int | None
) -> None:
    window = StreamWindow.create(memoryview(bytearray(HEADER + CAPACITY)))
    window.append(bytes(printed))
    after = None if after is None else min(after, printed)

    resume = plan_resume(window, after)

    assert window.start <= resume.at <= window.end
    assert resume.gap >= 0
    if after is not None:
        assert after + resume.gap == resume.at
        assert bool(resume.gap) == (after < window.start)


class Watcher:
    """A viewer, and what its reader has been given so far."""

    def __init__(self, at: int) -> None:
        self.viewer = Viewer(at)
        self.at = at


class SeveralViewersOneWindow(RuleBasedStateMachine):
    """Viewers read, stop, fall behind and leave in whatever order hurts."""

    def __init__(self) -> None:
        super().__init__()
        self.memory = memoryview(bytearray(HEADER + CAPACITY))
        self.window = StreamWindow.create(self.memory)
        self.output = b""
        self.watchers: list[Watcher] = []
        self.numbers = itertools.count()

    # Only sizes at which something changes: a little, and about a lap.
    @rule(size=st.sampled_from((1, 5, 11, 16, 23)))
    def the_session_prints(self, size: int) -> None:
        places = self.places()
        data = bytes(next(self.numbers) % 251 for _ in range(size))
        self.output += data
        self.window.append(data)
        assert places == self.places(), "I4"

    @rule()
    def the_holder_is_replaced(self) -> None:
        self.window = StreamWindow.open(self.memory)

    @precondition(lambda self: len(self.watchers) < 3)
    @rule(after=st.none() | st.integers(0, 40))
    def a_viewer_attaches(self, after: int | None) -> None:
        after = None if after is None else min(after, len(self.output))
        self.watchers.append(Watcher(plan_resume(self.window, after).at))

    @precondition(lambda self: bool(self.watchers))
    @rule(data=st.data(), limit=st.sampled_from((1, 4, 40)))
    def a_viewer_reads(self, data: st.DataObject, limit: int) -> None:
        watcher = data.draw(st.sampled_from(self.watchers))
        others = self.places(but=watcher)
        memory = bytes(self.memory)
        for effect in watcher.viewer.pull(self.window, limit):
            match effect:
                case Skip(gap, at):
                    assert gap > 0, "I3"
                    assert watcher.at + gap == at, "I3"
                    watcher.at = at
                case Send(offset, sent):
                    count = data.draw(st.sampled_from((0, 1, len(sent))))
                    self.deliver(watcher, offset, bytes(sent[:count]))
                    assert len(sent) <= limit
        assert bytes(self.memory) == memory, "I4"
        assert others == self.places(but=watcher), "I4"

    def places(self, but: Watcher | None = None) -> list[int]:
        return [one.viewer.cursor for one in self.watchers if one is not but]

    def deliver(self, watcher: Watcher, offset: int, data: bytes) -> None:
        assert offset == watcher.at, "I3"
        assert data == self.output[offset : offset + len(data)], "I3"
        watcher.at += len(data)
        watcher.viewer.accepted(len(data))

    @invariant()
    def the_window_claims_what_was_printed(self) -> None:
        assert self.window.end == len(self.output), "I2"
        assert self.window.start == max(0, self.window.end - CAPACITY), "I2"
        assert kept(self.window) == self.output[self.window.start :], "I1"

    @invariant()
    def nobody_is_further_than_told(self) -> None:
        for watcher in self.watchers:
            assert watcher.viewer.cursor == watcher.at, "I3"

    def teardown(self) -> None:
        for watcher in self.watchers:
            while effects := watcher.viewer.pull(self.window, 40):
                for effect in effects:
                    match effect:
                        case Skip(gap, at):
                            assert watcher.at + gap == at, "I3"
                            watcher.at = at
                        case Send(offset, sent):
                            self.deliver(watcher, offset, bytes(sent))
            assert watcher.at == len(self.output), "I3"


TestSeveralViewersOneWindow = SeveralViewersOneWindow.TestCase
TestSeveralViewersOneWindow.settings = settings(stateful_step_count=40)
