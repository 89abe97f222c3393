import inspect
import threading

import pytest
from tests.scenarios.support import Machine

import holdfast
from holdfast import errors
from holdfast.sdk import sync
from holdfast.sdk.events import CommandEnded, Exited


def public(of: type) -> dict[str, list[tuple[str, object]]]:
    return {
        name: [
            (word, one.default)
            for word, one in inspect.signature(found).parameters.items()
        ]
        for name, found in inspect.getmembers(of, callable)
        if not name.startswith("_")
    }


@pytest.mark.parametrize("name", ["Host", "Session"])
def test_the_same_words_are_there_without_await(name: str) -> None:
    ours, theirs = public(getattr(sync, name)), public(getattr(holdfast, name))

    assert ours == {word: theirs[word] for word in ours}
    assert {*theirs} - {*ours} <= {"line", "converse", "made", "way_to"}


def test_a_session_is_driven_without_a_loop(here: Machine) -> None:
    del here
    with holdfast.sync.connect() as host:
        session = host.create("bash", name="plain", size=(100, 30))

        assert host.attach("plain").run("echo one").output == "one\n"
        with session, session.turn() as standing:
            assert standing.has_turn
            offset = session.send("echo two; exit 3", enter=True)
            assert session.wait_for("two\r\n", 10, after=offset).end > offset
            assert session.wait_exit(10) == 3
        assert session.id in [one.id for one in host.sessions()]
        assert host.find("plain").size == holdfast.Size(100, 30)
        assert session.end() == 3


def test_events_come_one_after_the_other(here: Machine) -> None:
    del here
    with holdfast.sync.connect() as host:
        session = host.create("bash")
        session.run("true")
        coming = session.events(after=0)
        session.send("exit", enter=True)

        heard = list(coming)

        assert isinstance(heard[-1], Exited)
        assert [event for event in heard if isinstance(event, CommandEnded)] or heard


def test_an_error_is_raised_where_it_was_caused_and_no_thread_stays(
    here: Machine,
) -> None:
    del here
    before = threading.active_count()

    with holdfast.sync.connect() as host, pytest.raises(errors.SessionNotFound):
        host.attach("nobody").run("true")
    with pytest.raises(errors.HostNotKnown), holdfast.sync.connect("nowhere"):
        pass

    assert threading.active_count() == before


def test_two_threads_share_a_host(here: Machine) -> None:
    del here
    outputs: dict[int, str] = {}

    with holdfast.sync.connect() as host:

        def work(number: int) -> None:
            session = host.create("bash")
            outputs[number] = session.run(f"echo {number}").output
            session.end()

        threads = [threading.Thread(target=work, args=(number,)) for number in (1, 2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert outputs == {1: "1\n", 2: "2\n"}
