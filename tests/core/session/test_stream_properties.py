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
    CutViewer,
    Send,
    Skip,
    StreamWindow,
    Viewer,
    plan_resume,
)

CAPACITY = 16
BOUND = 10
STALLED_AFTER = 5.0


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


@given(
    printed=st.integers(0, 40),
    after=st.none() | st.integers(0, 40),
    keyframe_at=st.none() | st.integers(0, 50),
)
def test_i3_a_resumed_reader_has_every_byte_or_a_declared_gap(
    printed: int, after: int | None, keyframe_at: int | None
) -> None:
    window = StreamWindow.create(memoryview(bytearray(HEADER + CAPACITY)))
    window.append(bytes(printed))
    after = None if after is None else min(after, printed)

    resume = plan_resume(window, after, keyframe_at)

    assert window.start <= resume.at <= window.end
    assert resume.gap >= 0
    if after is not None:
        assert after + resume.gap == resume.at
        assert bool(resume.gap) == (after < window.start)
    if resume.keyframe:
        assert resume.at == keyframe_at


class Watcher:
    """A viewer, and what its reader has been given so far."""

    def __init__(self, at: int) -> None:
        self.viewer = Viewer(at, bound=BOUND, stalled_after=STALLED_AFTER)
        self.at = at
        self.waits_since: float | None = None
        self.is_cut = False

    def state(self) -> tuple[int, float | None]:
        return self.viewer.cursor, self.viewer.next_deadline()


class SeveralViewersOneWindow(RuleBasedStateMachine):
    """Viewers read, stop, fall behind and leave in whatever order hurts."""

    def __init__(self) -> None:
        super().__init__()
        self.memory = memoryview(bytearray(HEADER + CAPACITY))
        self.window = StreamWindow.create(self.memory)
        self.output = b""
        self.keyframe_at: int | None = None
        self.now = 0.0
        self.watchers: list[Watcher] = []
        self.numbers = itertools.count()

    # Only sizes at which something changes: a little, about a bound, a lap.
    @rule(size=st.sampled_from((1, 5, 11, 16, 23)))
    def the_session_prints(self, size: int) -> None:
        states = [watcher.state() for watcher in self.watchers]
        data = bytes(next(self.numbers) % 251 for _ in range(size))
        self.output += data
        self.window.append(data)
        assert states == [watcher.state() for watcher in self.watchers], "I4"

    @rule()
    def the_holder_is_replaced(self) -> None:
        self.window = StreamWindow.open(self.memory)

    @rule(back=st.sampled_from((0, 3, 12)))
    def a_keyframe_is_made(self, back: int) -> None:
        self.keyframe_at = max(0, len(self.output) - back)

    @rule(seconds=st.sampled_from((3.0, STALLED_AFTER)))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds
        for watcher in self.watchers:
            self.tick(watcher)

    @precondition(lambda self: len(self.watchers) < 3)
    @rule(after=st.none() | st.integers(0, 40))
    def a_viewer_attaches(self, after: int | None) -> None:
        after = None if after is None else min(after, len(self.output))
        resume = plan_resume(self.window, after, self.keyframe_at)
        self.watchers.append(Watcher(resume.at))

    @precondition(lambda self: bool(self.watchers))
    @rule(data=st.data(), limit=st.sampled_from((1, 4, 40)))
    def a_viewer_reads(self, data: st.DataObject, limit: int) -> None:
        watcher = data.draw(st.sampled_from(self.watchers))
        others = [one.state() for one in self.watchers if one is not watcher]
        memory = bytes(self.memory)
        for effect in watcher.viewer.pull(
            self.window, limit, self.now, keyframe_at=self.keyframe_at
        ):
            match effect:
                case Skip(gap, at, keyframe):
                    assert not keyframe or at == self.keyframe_at, "I3"
                    assert gap > 0, "I3"
                    assert watcher.at + gap == at, "I3"
                    watcher.at = at
                    if at == len(self.output):
                        watcher.waits_since = None
                case Send(offset, sent):
                    count = data.draw(st.sampled_from((0, 1, len(sent))))
                    self.deliver(watcher, offset, bytes(sent[:count]))
                    assert len(sent) <= limit
        assert bytes(self.memory) == memory, "I4"
        assert others == [one.state() for one in self.watchers if one is not watcher], (
            "I4"
        )

    def deliver(self, watcher: Watcher, offset: int, data: bytes) -> None:
        assert not watcher.is_cut
        assert offset == watcher.at, "I3"
        assert data == self.output[offset : offset + len(data)], "I3"
        watcher.at += len(data)
        watcher.viewer.accepted(len(data), self.now)
        if data or watcher.waits_since is None:
            watcher.waits_since = self.now
        if watcher.at == len(self.output):
            watcher.waits_since = None

    def tick(self, watcher: Watcher) -> None:
        effects = watcher.viewer.tick(self.window, self.now)
        since = watcher.waits_since
        if since is None or self.now < since + STALLED_AFTER:
            assert effects == []
        else:
            assert effects == [CutViewer(len(self.output) - watcher.at)]
            watcher.is_cut = True
            watcher.waits_since = None

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
            while not watcher.is_cut:
                effects = watcher.viewer.pull(self.window, 40, self.now)
                for effect in effects:
                    match effect:
                        case Skip(gap, at, _):
                            assert watcher.at + gap == at, "I3"
                            watcher.at = at
                        case Send(offset, sent):
                            self.deliver(watcher, offset, bytes(sent))
                if not effects:
                    break
            assert watcher.is_cut or watcher.at == len(self.output), "I3"
            assert watcher.viewer.next_deadline() is None


TestSeveralViewersOneWindow = SeveralViewersOneWindow.TestCase
TestSeveralViewersOneWindow.settings = settings(stateful_step_count=40)
