"""A real session recorded: through its holder's death, to its end."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from tests.core.recording.cast_parser import parsed
from tests.scenarios.support import PATIENCE, Machine, eventually, machine

from holdfast.cli.recorder import Recorder
from holdfast.core.recording.cast_writer import CastWriter
from holdfast.core.recording.masks import Masks
from holdfast.model.errors import UsageError
from holdfast.model.ids import SessionId


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


class Scene:
    """A recording that goes on while something is done."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.stopped = asyncio.Event()

    async def run(
        self,
        session: SessionId,
        act: Callable[["Scene"], Awaitable[None]],
        *,
        is_from_start: bool = True,
    ) -> None:
        recorder = Recorder(
            CastWriter(Masks()), self.path, replaces=False, term="xterm"
        )
        async with asyncio.timeout(3 * PATIENCE), asyncio.TaskGroup() as group:
            group.create_task(
                recorder.run(session, self.stopped, is_from_start=is_from_start)
            )
            await act(self)

    async def has(self, text: str) -> None:
        """Wait until something is in the file."""

        def is_there() -> bool:
            return self.path.exists() and text in self.path.read_text()

        await asyncio.to_thread(eventually, f"{text} was recorded", is_there)


def test_a_recording_goes_on_through_the_death_of_a_holder_and_ends_with_the_session(
    here: Machine, tmp_path: Path
) -> None:
    session = here.new("sh", "-c", "echo early; cat; exit 3")

    async def act(scene: Scene) -> None:
        await scene.has("early")
        client = here.join(session)
        await asyncio.to_thread(client.enter, b"password=hunter2\n")
        await scene.has("password=*******")
        await asyncio.to_thread(here.replace_holder, session)
        await asyncio.to_thread(client.attach)
        await asyncio.to_thread(client.enter, b"after\n\x04")

    async def story() -> None:
        await Scene(tmp_path / "a.cast").run(session, act)

    asyncio.run(story())
    raw = (tmp_path / "a.cast").read_bytes()
    header, events = parsed(raw)
    assert (header["term"]["cols"], header["term"]["rows"]) == (80, 24)
    shown = "".join(data for _, code, data in events if code == "o")
    assert shown.index("early") < shown.index("password=") < shown.index("after")
    assert shown.count("after\r\n") == 2  # Typed, and printed by cat.
    assert b"hunter2" not in raw
    assert events[-1][1:] == ("x", "3")


def test_a_recording_that_is_stopped_has_the_screen_and_the_last_line(
    here: Machine, tmp_path: Path
) -> None:
    session = here.new("cat")

    async def act(scene: Scene) -> None:
        client = here.join(session)
        await scene.has('"version": 3')
        await asyncio.to_thread(client.enter, b"line\nlast")
        await scene.has("line")
        await asyncio.to_thread(client.wait_output, b"last")
        scene.stopped.set()

    async def story() -> None:
        scene = Scene(tmp_path / "a.cast")
        await scene.run(session, act, is_from_start=False)

    asyncio.run(story())
    _, events = parsed((tmp_path / "a.cast").read_bytes())
    assert all(code != "x" for _, code, _ in events)
    assert "line" in "".join(data for _, _, data in events)


def test_a_session_that_is_not_there_leaves_no_file(
    here: Machine, tmp_path: Path
) -> None:
    del here
    recorder = Recorder(
        CastWriter(Masks()), tmp_path / "a.cast", replaces=False, term="xterm"
    )

    async def story() -> None:
        await recorder.run("nobody", asyncio.Event(), is_from_start=True)

    with pytest.raises(UsageError):
        asyncio.run(story())
    assert not [*tmp_path.iterdir()]


def test_of_a_session_that_has_ended_what_is_kept_is_recorded(
    here: Machine, tmp_path: Path
) -> None:
    session = here.new("sh", "-c", "echo all of it; exit 4")

    def has_ended() -> bool:
        facts = here.facts(session)
        return facts is not None and facts["exit"] is not None

    eventually("it has ended", has_ended)

    async def act(scene: Scene) -> None:
        del scene

    async def story() -> None:
        await Scene(tmp_path / "a.cast").run(session, act)

    asyncio.run(story())
    _, events = parsed((tmp_path / "a.cast").read_bytes())
    assert [one[1:] for one in events] == [("o", "all of it\r\n"), ("x", "4")]
