"""May an answer be typed now, so that nobody but the program gets to see it?

An answer is a secret: it is on no record, and must not be on the screen either.
So it is typed only while a program that has the terminal waits for input, and
the terminal does not show what is typed (core.session.session_state says which is the
case).

That is looked at when an answer comes, and again when it has been judged, because
an approval may take minutes in which the program has given up. Between the last
look and the write lie microseconds that no look can take away.
"""

from holdfast.core.session.session_state import Evidence, Word, decide
from holdfast.holder.session_descriptors import Vaulted
from holdfast.linux import session_state
from holdfast.model.errors import NotWaiting, WouldBeShown
from holdfast.model.inputs import Input, InputKind

_WAITING = frozenset({Word.WAITING_FOR_INPUT, Word.WAITING_FOR_SECRET})


def demand_question(given: Input, vaulted: Vaulted, *, is_frozen: bool) -> None:
    """Do nothing if an input is no answer, or if somebody waits for one.

    Raises:
        Unavailable: Nobody waits, or everybody would see it.

    """
    if given.kind is not InputKind.ANSWER:
        return
    if is_frozen:
        raise NotWaiting(Word.FROZEN.value)
    demand_waiting(session_state.look(vaulted.master, vaulted.record.pid))


def demand_waiting(seen: Evidence) -> None:
    """Do nothing if a program waits for what the terminal does not show.

    Raises:
        Unavailable: It does not wait, or the terminal shows it.

    """
    word = decide(seen).word
    if word not in _WAITING:
        raise NotWaiting(word.value)
    if seen.echo:
        raise WouldBeShown("the terminal shows what is typed")
