"""A painter that is only numbers, and the machine that talks to it."""

from dataclasses import dataclass, field

from holdfast.core.session.paint_requests import (
    Connect,
    Decline,
    Depict,
    Disconnect,
    Draw,
    Drop,
    Effect,
    Feed,
    Grant,
    Painting,
    Picture,
    Reset,
    Resize,
    Skip,
    View,
    Want,
)
from holdfast.model.geometry import Size

SIZE = Size(80, 24)
CAPACITY = 1024 * 1024


@dataclass
class World:
    """One session, its window, and a painter that does as it is told."""

    is_new: bool = True
    start: int = 0
    end: int = 0
    now: float = 100.0
    keyframe: bytes = b"K"
    is_there: bool = True
    deadly: frozenset[int] = frozenset()
    at: int | None = None
    done: list[Effect] = field(default_factory=list)
    granted: dict[int, Picture] = field(default_factory=dict)
    declined: list[int] = field(default_factory=list)
    deaths: list[Feed] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.machine = Painting(self.view, SIZE, capacity=CAPACITY, is_new=self.is_new)

    @property
    def view(self) -> View:
        return View(self.start, self.end)

    @property
    def bounds(self) -> tuple[int, int, float]:
        return self.start, self.end, self.now

    def print(self, count: int) -> None:
        self.end += count
        self.start = max(self.start, self.end - CAPACITY)

    def wish(self, want: Want = Want.KEYFRAME, upto: int | None = None) -> int:
        return self.machine.wish(want, upto, self.now)

    def step(self) -> list[Effect]:
        """Do one thing, if there is one."""
        effects = self.machine.next(self.view, self.now)
        self.done += effects
        for effect in effects:
            self._do(effect)
        return effects

    def settle(self) -> None:
        """Do all there is to be done now."""
        for _ in range(10_000):
            if not self.step():
                return
        raise AssertionError("it never rests")

    def ask(self, kind: type[Effect]) -> Effect:
        """Go on until this is asked, and leave it without an answer."""
        for _ in range(10_000):
            for effect in (effects := self.machine.next(self.view, self.now)):
                self.done.append(effect)
                if isinstance(effect, kind):
                    return effect
                self._do(effect)
            if not effects:
                self.now += 0.01
        raise AssertionError(f"{kind} is never asked")

    def answer(self, effect: Effect) -> None:
        """Answer now what `ask` left without an answer."""
        self._do(effect)

    def die(self, *, of_ours: bool) -> None:
        """Let the painter die now."""
        self.at = None
        self.machine.died(self.now, of_ours=of_ours)

    def wait(self) -> None:
        """Let the next deadline come."""
        deadline = self.machine.next_deadline()
        assert deadline is not None
        self.now = max(self.now, deadline)
        self.settle()

    def asked(self, *kinds: type[Effect]) -> list[Effect]:
        return [effect for effect in self.done if isinstance(effect, kinds)]

    def _do(self, effect: Effect) -> None:
        match effect:
            case Connect() if self.is_there:
                self.machine.connected()
            case Connect():
                self.machine.unreachable(self.now)
            case Disconnect():
                pass
            case Grant(ticket, picture):
                self.granted[ticket] = picture
            case Decline(ticket):
                self.declined.append(ticket)
            case Feed(start, end) if self.deadly.intersection(range(start, end)):
                self.deaths.append(effect)
                self.at = None
                self.machine.died(self.now, of_ours=True)
            case _:
                self._answer(effect)

    def _answer(self, effect: Effect) -> None:
        content = b""
        match effect:
            case Reset():
                self.at, self.size = effect.at, effect.size
            case _ if self.at is None:
                self.machine.refused()
                return
            case Feed(start, end):
                assert start == self.at, "every byte once, and in order"
                assert start >= self.start, "only what the window has"
                self.at = end
            case Skip(at):
                assert at > self.at
                self.at = at
            case Resize(size):
                self.size = size
            case Depict(want):
                content = self.keyframe if want is Want.KEYFRAME else b"S"
            case Draw() | _:
                pass
        if isinstance(effect, Drop):
            self.at = None
        assert self.machine.answered(self.at or 0, self.size, content)
