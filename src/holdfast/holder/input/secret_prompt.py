"""Whether a secret can be typed now so that only the program sees it.

An answer is a secret: it is never logged, and must not appear on the screen either.
So it is typed only while a program that has the terminal is waiting for input and
the terminal is not echoing (core.session.session_state decides whether that is so).

This is checked when an answer arrives, and again once it has been judged, because
an approval may take minutes, in which the program may have given up. The microseconds
between the last check and the write are a race that no check can remove.
"""

from holdfast.core.session.session_state import Evidence, Word, decide
from holdfast.holder.session_descriptors import SessionDescriptors
from holdfast.linux import session_state
from holdfast.model.errors import NotWaiting, WouldBeShown
from holdfast.model.inputs import Input, InputKind

_WAITING = frozenset({Word.WAITING_FOR_INPUT, Word.WAITING_FOR_SECRET})


def demand_question(
    given: Input, descriptors: SessionDescriptors, *, is_frozen: bool
) -> None:
    """Do nothing if an input is not an answer, or if a program waits for one.

    Raises:
        Unavailable: No program waits, or it would be echoed.

    """
    if given.kind is not InputKind.ANSWER:
        return
    if is_frozen:
        raise NotWaiting(Word.FROZEN.value)
    demand_waiting(session_state.look(descriptors.master, descriptors.record.pid))


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
