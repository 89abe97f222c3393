"""A relay, a host and a session, for a program in another language to act upon.

`python -m tests.scenarios.stage` prints one line of JSON with what there is, and
then does what it is told: a JSON list of words on each line, answered with a line
each. When nobody tells it anything any more, everything is ended.
"""

import json
import sys
from collections.abc import Callable  # noqa: TC003  # as everywhere here

from tests.scenarios.elsewhere import Place, RelayPlace, places, relay
from tests.scenarios.odd_host import OddHost
from tests.scenarios.support import Machine, eventually

from holdfast.model.ids import SessionId


class Stage:
    """What can be done to the machine and to what is between."""

    def __init__(self, home: Place, between: RelayPlace) -> None:
        self._home = home
        self._between = between

    def told(self, words: list[str]) -> object:
        """Do one thing, and return what came of it."""
        acts: dict[str, Callable[..., object]] = {
            "invite": self._home.invite,
            "new": lambda *command: self._home.new(*command[1:], name=command[0]),
            "run": self._home.do,
            "kill-relay": self._between.kill,
            "start-relay": self._begin_again,
            "kill-holder": self._kill_holder,
            "kill-host": self._kill_host,
            "odd-host": lambda *how: OddHost(self._between.url, *how).keys,
        }
        return acts[words[0]](*words[1:])

    def _begin_again(self) -> None:
        self._between.start()
        eventually("the host is linked again", self._home.is_linked)

    def _kill_holder(self, session: str) -> None:
        with self._home.inhabited():
            Machine().replace_holder(SessionId(session))

    def _kill_host(self) -> None:
        self._home.kill_host()
        self._home.up(self._between.url)


def main() -> None:
    """Set the stage, and do as told."""
    with relay() as between, places(1) as (home,):
        home.up(between.url)
        stage = Stage(home, between)
        _say({"relay": between.url})
        for line in sys.stdin:
            _say(stage.told(json.loads(line)))


def _say(what: object) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
