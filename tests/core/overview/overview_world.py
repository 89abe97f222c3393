"""An overview to press keys in."""

from holdfast.core.overview.acts import Effect, Event, Looked, Resized, SessionsListed
from holdfast.core.overview.overview import Overview
from holdfast.core.overview.sessions import Look, Row, Waiting

WAITS = Waiting(7, b"digest", ("who robo", "what rm -rf /"))
ASKS = Look(pending=(WAITS,), pending_count=1, turn="robo")


def row(name: str, at: int = 0, host: str = "", **more: object) -> Row:
    made = Row(host, f"s_{name}", name, "running", created_ms=1000 - at)
    return made._replace(**more)  # type: ignore[arg-type]  # fields of it


class World:
    """One overview, told of things at a moment that moves on."""

    def __init__(self, *names: str, columns: int = 80, lines: int = 24) -> None:
        self.overview = Overview()
        self.now = 100.0
        self.tell(Resized(columns, lines))
        if names:
            self.lists(*(row(name, at) for at, name in enumerate(names)))

    def lists(self, *rows: Row, host: str = "") -> None:
        self.tell(SessionsListed(host, rows))

    def look(self, name: str, look: Look, host: str = "") -> None:
        self.tell(Looked((host, f"s_{name}"), look))

    def tell(self, event: Event) -> list[Effect]:
        return self.overview.handle(event, self.now)

    def press(self, *names: str) -> list[Effect]:
        done: list[Effect] = []
        for name in names:
            done += self.tell(name)
        return done

    @property
    def selected(self) -> str:
        found = self.overview.chosen()
        return found.name if found is not None else ""

    @property
    def said(self) -> str:
        notice = self.overview.notice
        return notice.text if notice is not None else ""
