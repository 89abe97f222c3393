"""Questions and inputs to a session, done before the rest is loaded.

Each of these ends with what it has to print, or leaves the rest to the ordinary way:
`calls.state`, `screen_question` and `Submission` hear the same from the beginning.
"""

import os

from holdfast.cli.screen_text import trimmed
from holdfast.client import early_session
from holdfast.client.early_session import EarlyOperator, EarlySession
from holdfast.core.client.early_picture import UNUSUAL
from holdfast.wire import first_messages as first
from holdfast.wire.first_messages import NotOneOfThese

STANDARD_ERROR = 2

MAX_INPUT = 64 * 1024
"""Bytes in one input; as in model.inputs, which is slow to load."""

_PENDING, _SETTLED, _REPORT = 0x40, 0x43, 0x23
_ENDED, _EVENT = 0x64, 0x70
_SWEPT = b"session.swept"
"""The event of what a session had left running: EventName.SESSION_SWEPT."""

_HANG_UP = 1
"""The signal that ends a session: SIGHUP."""
_HELD = UNUSUAL - {_ENDED} | {_PENDING, _SETTLED, _REPORT}
"""What is not the answer to an input that is applied at once."""

_EXITED = "exited"

KEYS = "keys"
"""The kind of what is typed: InputKind.KEYS, which is slow to load."""


def state(text: str, *, as_json: bool) -> str | None:
    """Return what `holdfast state` prints."""
    session = _reached(text, first.frame(first.STATE_REQUEST))
    if session is None:
        return None
    seen = _evidence(_answer(session, first.EVIDENCE, _HELD))
    if seen["state"] == _EXITED:
        early_session.forget()  # How it ended, the keeper knows.
        return None
    from holdfast.cli import state_text  # noqa: PLC0415  # while the holder works

    if not as_json:
        return "\n".join(state_text.lines(seen))
    import json  # noqa: PLC0415  # only who asked for it pays for it

    return json.dumps(state_text.facts(session.id, _listed(session), seen))


def _listed(session: EarlySession) -> dict[str, object]:
    """Return what is listed of a session, which its host or our keeper knows.

    Raises:
        NotOneOfThese: They do not say.
        OSError: There is no keeper.

    """
    from holdfast.client.early_far import EarlyFarSession  # noqa: PLC0415  # ditto
    from holdfast.linux import early_requests  # noqa: PLC0415  # ditto

    if isinstance(session, EarlyFarSession):
        known = session.listed
    else:
        known = early_requests.listed(look=False)
    for one in known:
        if isinstance(one, dict) and one.get("id") == session.id and "runtime" in one:
            return one
    raise NotOneOfThese


def screen(text: str) -> str | None:
    """Return what `holdfast screen` prints, if nothing has to be said about it."""
    session = _reached(text, first.frame(first.SCREEN_REQUEST, {"cells": False}))
    if session is None:
        return None
    shown = ""
    while True:
        match _answer(session, first.SCREEN, _HELD):
            # On a terminal it is said if not all could be painted.
            case {"exact": exact, "hidden": [], "text": str(part), "more": more} if (
                exact is True or not os.isatty(STANDARD_ERROR)
            ):
                shown += part
            case _:
                raise NotOneOfThese
        if more is not True:
            return trimmed(shown.split("\n"))


def send(text: str, payload: bytes, *, as_json: bool) -> str | None:
    """Type `payload`; return what `holdfast send` prints."""
    if not 0 < len(payload) <= MAX_INPUT:
        return None
    seed = EarlyOperator().seed()
    found = _found(text)
    if found is None or not found.reach(found.attach("operate")):
        return None
    attached = _answer(found, first.ATTACHED, _HELD)
    if attached["state"] == _EXITED:
        early_session.forget()
        return None
    made: first.Fields = {
        "client": found.client,
        "sequence": 1,
        "kind": KEYS,
        "incarnation": attached["incarnation"],
        "epoch": attached["epoch"],
        "payload": payload,
        "seen": None,
        "waits": True,
    }
    end = attached["end"]
    if not isinstance(end, int):
        raise NotOneOfThese
    found.send(first.frame(first.SUBMIT, made))
    # The library that signs is slow to load, and there is nothing else to do now.
    import holdfast.crypto.keys  # noqa: F401, PLC0415

    acknowledged = _answer(found, first.ACKNOWLEDGE, _HELD, may_end=True)
    if (acknowledged["client"], acknowledged["sequence"]) != (found.client, 1):
        raise NotOneOfThese
    try:  # noqa: SIM105  # contextlib is slow to load
        _sign(found, made, seed)
    except (NotOneOfThese, OSError):
        pass  # It was done. The book says what is not signed.
    return _offset_told(found.id, end) if as_json else ""


def end(text: str) -> str | None:
    """End a session; return what `holdfast end` prints, if it left nothing running."""
    if "/" in text:
        return None  # The host there has its record.
    token = EarlyOperator().token()
    found = _found(text)
    if found is None or not found.reach(found.attach("operate")):
        return None
    if _answer(found, first.ATTACHED, _HELD)["state"] == _EXITED:
        early_session.forget()
        return None
    found.send(first.frame(first.END, {"signal": _HANG_UP, "leave": False}))
    # Needed when it has ended, and there is nothing else to do now.
    from holdfast.client.early_forget import forget  # noqa: PLC0415

    while True:
        for kind, payload in found.receive():
            if kind in _HELD or (kind == _EVENT and _SWEPT in payload):
                raise NotOneOfThese
            if kind == _ENDED:
                forget(found.id, found.actor, token)
                return f"{found.label} has ended\n"


def _offset_told(session: str, offset: int) -> str:
    import json  # noqa: PLC0415  # only who asked for it pays for it

    return json.dumps({"session": session, "offset": offset}) + "\n"


def _sign(session: EarlySession, made: first.Fields, seed: bytes) -> None:
    """Sign what was sent, and wait until that is on record."""
    if (statement := early_session.statement(session, made, seed)) is not None:
        session.send(statement)
        _answer(session, first.SIGNED, UNUSUAL)


def _reached(text: str, request: bytes) -> EarlySession | None:
    found = _found(text)
    return found if found is not None and found.reach(request) else None


def _found(text: str) -> EarlySession | None:
    found = early_session.find(text)
    if found is not None:
        early_session.keep(found)
    return found


def _answer(
    session: EarlySession, wanted: int, odd: frozenset[int], *, may_end: bool = False
) -> first.Fields:
    """Return the next message of a kind; others may come before it, but for odd ones.

    With `may_end` the session may be over by then: what ends it is an input, too.

    Raises:
        NotOneOfThese: One of those came, or nothing in time.

    """
    while True:
        frames = session.receive()
        for number, (kind, payload) in enumerate(frames):
            if kind == wanted:
                session.put_back(frames[number + 1 :])
                return first.read(kind, payload)
            if kind == _ENDED and may_end:
                continue
            if kind == _ENDED:
                early_session.forget()  # How it ended, the keeper knows.
            if kind in (_ENDED, *odd):
                raise NotOneOfThese


def _evidence(seen: first.Fields) -> first.Fields:
    """Return what was seen, if it is what is shown.

    Raises:
        NotOneOfThese: It is not.

    """
    match seen:
        case {
            "state": str(),
            "why": list(why),
            "foreground": int(),
            "unread": int(),
            "sleepers": list(sleepers),
        } if all(isinstance(one, str) for one in why):
            if all(isinstance(one, dict) for one in sleepers):
                return seen
    raise NotOneOfThese
