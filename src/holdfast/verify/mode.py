"""The nine ways in which a live execution can fail, and what is promised in each."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mode:
    """A failure, what is promised when it happens, and what is left to others."""

    number: int
    name: str
    title: str
    trigger: str
    guarantee: str
    handed_off: str


MODES = (
    Mode(
        1,
        "disconnect",
        "A client disconnects",
        "A client is killed with kill -9 in the middle of its work; then each process"
        " of holdfast in turn; then all of them are upgraded.",
        "The program runs on under the same pid and start time. What it printed"
        " meanwhile can be read by its offset; what no longer fits is counted, never"
        " dropped silently.",
        "Output older than the window belongs in a log file of your own. A client has"
        " to expect that the session went on without it.",
    ),
    Mode(
        2,
        "host-death",
        "The host dies",
        "Every process of the account is killed at once, as by a power cut; and a"
        " movable session is cut off from the relay that holds its lease.",
        "The session comes back under its id, as the next incarnation: from an image"
        " with its memory, or without one as a reconstruction that says so. Cut off,"
        " it stops by itself when its lease runs out.",
        "A restore takes time, which grows with the image. What happened after the"
        " image was made is gone. Effects outside have to check the incarnation.",
    ),
    Mode(
        3,
        "connection",
        "A connection to outside breaks",
        "A program in a capsule is connected to a server outside, put to disk, stopped"
        " and restored.",
        "None for the connection: holdfast refuses to promise it. It lists what was"
        " cut, by peer, and the program reads a reset. The program's memory is there.",
        "Reconnecting, resuming by sequence number and idempotent requests are the"
        " application protocol's work.",
    ),
    Mode(
        4,
        "fork",
        "A session is forked",
        "A running session becomes two, from one point.",
        "Both live, with the same memory at first and each its own from then on; each"
        " has its own id, token and files.",
        "What was sent outside cannot be forked: an effect happens twice unless its"
        " receiver knows the token.",
    ),
    Mode(
        5,
        "no-replay",
        "Recovery does not replay",
        "Commands with an effect outside are run; then every process is killed, and"
        " the session is recovered.",
        "Nothing that was typed is typed again. The effects are counted before and"
        " after, and the logbook has no input between recovery and the next operator.",
        "A session cannot be rebuilt from its log, nor set back to an earlier step.",
    ),
    Mode(
        6,
        "half-applied",
        "A command is cut off half way",
        "Client and holder are killed in the middle of a command; then, in the middle"
        " of another, everything is.",
        "The shell, its variables and the command live on as long as their processes"
        " do. Nothing claims that a command completed which did not, and the same key"
        " never runs twice.",
        "Undoing half of a command is the work of transactions and compensation.",
    ),
    Mode(
        7,
        "several-actors",
        "Several operators write at once",
        "Humans and agents write by every route of the command line at the same time;"
        " then a human seizes the turn from an agent that does not stop.",
        "Bytes arrive from the holder of the turn alone. A refusal names the holder"
        " and the epoch. The logbook has one order without a gap. After a seize not"
        " one more byte arrives.",
        "That two orders make sense together: they are put in order and attributed,"
        " not reconciled.",
    ),
    Mode(
        8,
        "deputy",
        "One operator runs what another has staged",
        "One agent defines an alias, a variable, a PATH entry and a script; another"
        " runs into each.",
        "The logbook and `blame` name the one who staged it, and a rule of the policy"
        " refuses it before the first byte.",
        "Which operators may use each other's work is the policy's business, and"
        " isolation that of capsules.",
    ),
    Mode(
        9,
        "idle",
        "Nobody comes back",
        "A session is left alone for longer than its window; another one beside it is"
        " at work.",
        "The idle one is ended after its window, with an event that says why; the"
        " active one is not.",
        "The length of the window, and whether to put a session to disk first, is"
        " policy.",
    ),
)

NOT_PROMISED = (
    "A connection to an outside machine does not survive a move or a restore.",
    "What a command does is not atomic.",
    "An acknowledged input was accepted by the terminal, and may be read by nobody.",
    "Two people's keystrokes are not merged, nor conflicting intentions reconciled.",
    "A session cannot be rebuilt from its log.",
    "Programs of one user are not isolated from each other outside capsules.",
    "Nothing is protected from root on the host.",
    "A restored session is not back at once: a larger image takes longer.",
    "Output beyond the window is counted, not kept.",
)

_KNOWN = {name: one for one in MODES for name in (one.name, str(one.number))}


def chosen(words: list[str]) -> list[Mode]:
    """Return the modes that the words name, by number or name; all if there is none.

    Raises:
        ValueError: A word names no mode.

    """
    for word in words:
        if word not in _KNOWN:
            names = ", ".join(f"{one.number} {one.name}" for one in MODES)
            raise ValueError(f"{word!r} is no failure mode; there are {names}")
    picked = {_KNOWN[word].number for word in words}
    return [one for one in MODES if not picked or one.number in picked]
