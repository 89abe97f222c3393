"""Section 4.3: attaching, the stream, gaps."""

from holdfast.conformance.clauses import clause
from holdfast.conformance.link import Link
from holdfast.conformance.subject import Subject, new_client, new_line
from holdfast.conformance.typist import PRINTED, Typist
from holdfast.conformance.verdict import Broken, NotTried

FLOOD = 64 * 1024
"""Bytes of one input that is meant to fill the window."""

MAX_FLOODS = 64
"""Inputs after which a window that has not rolled is taken for a large one."""

LINE = 1000


@clause("4.3")
def attached(subject: Subject) -> str:
    """ATTACHED says how things stand."""
    client = new_client()
    _, found = subject.attached(client=client)
    if found["session"] != subject.session:
        raise Broken(f"it is the session {found['session']}")
    if not 0 <= found["start"] <= found["end"] or found["incarnation"] < 1:
        raise Broken("its offsets or its incarnation cannot be")
    clients = {one["client"]: one["actor"] for one in found["operators"]}
    if clients.get(client, subject.first.actor) != subject.first.actor:
        raise Broken("it takes us for another operator")
    return f"offsets {found['start']} to {found['end']}, epoch {found['epoch']}"


@clause("4.3")
def another_session(subject: Subject) -> str:
    """An ATTACH for another session is refused."""
    link = subject.proven()
    _attach(link, "s_" + "a" * 16, None)
    found = link.wait("ATTACHED", "REFUSE", "GOODBYE")
    if found.name == "ATTACHED":
        raise Broken("it attached us to a session that was not asked for")
    return str(found["code"])


@clause("4.3")
def resume(subject: Subject) -> str:
    """A viewer that resumes gets the bytes after its offset, and each once."""
    typist = Typist(subject)
    typist.take_turn()
    begin = subject.attached()[1]["end"]
    lines = [new_line() for _ in range(3)]
    for line in lines:
        typist.type(line + b"\n")
    typist.settle()
    seen = _since(subject, begin, lines[-1])
    middle = begin + seen.index(lines[1])
    again = _since(subject, middle, lines[-1])
    if seen[middle - begin :][: len(again)] != again[: len(seen) - middle + begin]:
        raise Broken("a viewer that resumed was sent other bytes")
    return f"{len(again)} bytes from {middle} on, as another viewer saw them"


@clause("4.3")
def another_life(subject: Subject) -> str:
    """An offset of another life is treated as none."""
    typist = Typist(subject)
    typist.take_turn()
    typist.settle()
    link, found = subject.attached()
    life = found["incarnation"]
    link, found = subject.attached(after=found["end"], incarnation=life + 1)
    if found["start"] == found["end"]:
        raise NotTried("nothing was printed in this life")
    first = link.wait("OUTPUT", "KEYFRAME")
    if first["offset"] >= found["end"]:
        raise Broken("it went on from an offset of another life")
    return f"the stream was shown anew, from {first['offset']}"


@clause("4.3")
def offset_ahead(subject: Subject) -> str:
    """An offset that is ahead of the stream is refused."""
    _, found = subject.attached()
    link = subject.proven()
    _attach(link, subject.session, found["end"] + 2**40)
    answer = link.wait("ATTACHED", "REFUSE", "GOODBYE")
    if answer.name == "ATTACHED":
        raise Broken("it attached us at an offset that was never printed")
    return str(answer["code"])


@clause("4.3")
def gap(subject: Subject) -> str:
    """GAP says which bytes are gone, before anything that follows them."""
    typist = Typist(subject)
    typist.take_turn()
    _roll(subject, typist)
    link, found = subject.attached(after=0)
    first = link.wait("GAP", "OUTPUT", "KEYFRAME")
    if first.name != "GAP":
        raise Broken(f"bytes up to {found['start']} are gone, and {first.name} came")
    if first["start"] != 0 or first["end"] < found["start"]:
        told = f"{first['start']} to {first['end']}"
        raise Broken(f"it said that {told} are gone, and not 0 to {found['start']}")
    following = link.wait("OUTPUT", "KEYFRAME")
    if following["offset"] != first["end"]:
        raise Broken("the stream does not go on at the end of the gap")
    return f"0 to {first['end']}"


@clause("4.3")
def observer(subject: Subject) -> str:
    """Who observes cannot type."""
    typist = Typist(subject)
    typist.take_turn()
    watcher, found = subject.attached(mode="observe")
    line = new_line()
    watcher.send(
        "SUBMIT",
        client=new_client(),
        sequence=1,
        kind="keys",
        incarnation=found["incarnation"],
        epoch=watcher.epoch,
        payload=line + b"\n",
        seen=None,
        waits=True,
    )
    answer = watcher.wait("ACKNOWLEDGE", "REFUSE", "REPORT")
    typist.settle()
    if answer.name != "REFUSE" or line in typist.link.output:
        raise Broken("a viewer that only observes has typed")
    return str(answer["code"])


@clause("4.3")
def detach(subject: Subject) -> str:
    """DETACH ends the link, and nothing else."""
    typist = Typist(subject)
    typist.take_turn()
    link, _ = subject.attached(subject.second)
    link.send("DETACH")
    link.closes("DETACH")
    typist.settle()
    return "the session went on"


@clause("3.5")
def order_of_output(subject: Subject) -> str:
    """OUTPUT goes on where the last one ended, on every link."""
    if subject.notes.order:
        raise Broken(subject.notes.order[0])
    return "so it was in all of the above"


def _attach(link: Link, session: str, after: int | None) -> None:
    link.send(
        "ATTACH",
        session=session,
        client=new_client(),
        mode="observe",
        size=None,
        incarnation=None,
        after=after,
        keyframe=False,
    )


def _since(subject: Subject, after: int, last: bytes) -> bytes:
    """Return what was printed after an offset, up to a line that is known."""
    link, _ = subject.attached(after=after)
    link.expect_stream_at(after)
    link.wait_for_text(last, PRINTED)
    link.close()
    return link.output


def _roll(subject: Subject, typist: Typist) -> None:
    """Print so much that the window no longer has the first byte."""
    flood = (b"x" * (LINE - 1) + b"\n") * (FLOOD // LINE)
    for _ in range(MAX_FLOODS):
        link, found = subject.attached()
        link.close()
        if found["start"] > 0:
            return
        typist.type(flood)
        typist.settle()
        typist.link.output = b""
    raise NotTried(f"it keeps more than {MAX_FLOODS * FLOOD * PRINTED} bytes")
