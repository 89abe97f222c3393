"""Discards the branch of a preview whose maker was killed.

A small shell in a session of its own waits at a pipe for the word that all is done.
If the pipe ends without it, nobody is left who would discard the branch, and it has our
own command do that; the branch may still be on its way then, so it tries a few times.
"""

import contextlib
import os
import subprocess
import time
from collections.abc import Iterator

from holdfast.client import keeper
from holdfast.client.driver import attachment_to, converse
from holdfast.client.own_name import VARIABLE, our_name
from holdfast.core.client import questions
from holdfast.core.client.exchange import AttachedInquiry
from holdfast.linux.previewer_program import own_program
from holdfast.linux.stored import layer_store
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import SessionId
from holdfast.model.session_requests import Created, Forget

_KILL = 9
_SHELL = "/bin/sh"
_WAIT = """\
read -r word
[ "$word" = done ] && exit
for again in 1 2 3 4 5 6 7 8 9 10; do
    "$@" && exit
    sleep 1
done
"""
PATIENCE = 5.0
"""Seconds for a shell to end that has nothing more to do."""


@contextlib.contextmanager
def guarded(branch: str) -> Iterator[None]:
    """Have the branch of this name discarded if we are killed in here."""
    words = own_program("fork", "--discard", "--force", branch)
    with subprocess.Popen(  # noqa: S603  # our own words
        [_SHELL, "-c", _WAIT, "guard", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env={**os.environ, VARIABLE: our_name()},
        start_new_session=True,
    ) as guard:
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                guard.communicate(b"done\n", PATIENCE)


def discard(made: Created) -> None:
    """End a branch with everything in it, and remove its files."""
    with contextlib.suppress(HoldfastError):
        ending = questions.end(_KILL, leave=False)
        link = attachment_to(made.id)
        converse(made.id, AttachedInquiry(link, ending, time.monotonic()))
    with contextlib.suppress(HoldfastError):
        keeper.request(Forget(made.id))
    with contextlib.suppress(HoldfastError, OSError):
        layer_store.remove(SessionId(made.id))
