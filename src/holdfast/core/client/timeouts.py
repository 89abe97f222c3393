"""All timeouts of a client.

Each is meant for a session on the same machine; for one elsewhere the drivers
multiply it, because everything takes round trips.
"""

GREETING = 8.0
"""Seconds for a holder to greet us and let us attach: one that hangs is noticed and
replaced in less; after a death it takes a small part of that."""

LOSS = 15.0
"""Seconds without a holder after which there will be none: more than it takes to
replace one that hangs, also on a busy machine."""

ANSWER = 10.0
"""Seconds for the answer to a question: a holder that hangs is replaced, and a large
tree of processes read, in less."""

CHECKPOINT = 330.0
"""Seconds for an image: CRIU is given 300 before it is ended."""

APPROVAL = 300.0
"""Seconds to wait for approval, unless the caller says otherwise: as long as a gate
waits."""

WITHDRAWAL = 2.0
"""Seconds for the holder to say what became of an input that we took back."""

END = 20.0
"""Seconds for a session to end: what does not listen is killed after five, and what has
left it two later."""

REDIAL = 0.01
LAST_REDIAL = 0.2
"""Seconds between two links, at first and later: a successor listens on the socket that
was there, and is waited for only where even that is gone."""

TYPING = 10.0
"""Seconds for a program to take what is typed, unless the caller says otherwise."""

ASK_TURN = 60.0
"""Seconds in which an attentive operator answers a request for the turn."""

RETRY = 0.1
"""Seconds until an input is sent again for which the holder had no room."""

LAST_ANSWERS = 0.5
"""Seconds for the answers to what was sent just before we leave: a program that reads
takes no longer, and nobody waits for one that does not."""

SIGNATURE = 2.0
"""Seconds for the holder to confirm what we signed before we leave. It writes to a disk
first; what is late is on record as unsigned, and no error."""

DROP = 5.0
"""Seconds for the holder to say that we dropped the turn. Left too early, what is
dropped later could be a turn that we have taken since."""
