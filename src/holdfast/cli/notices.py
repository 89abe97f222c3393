"""One-line notices of events, for attached operators."""

from collections.abc import Mapping

from holdfast.cli import presence_text
from holdfast.cli.operator_names import Names
from holdfast.model.errors import HoldfastError
from holdfast.model.events import EventName
from holdfast.model.ids import ActorId
from holdfast.model.session_record import NEEDS_INPUT
from holdfast.model.settings import Settings, bytes_told
from holdfast.model.text import printable
from holdfast.model.verdicts import Verdict
from holdfast.wire.messages import Event, Pending, Settled, TurnAsked, TurnPassed
from holdfast.wire.presence import Inherited, Presence

_LOST = {
    "dropped": "released the turn",
    "expired": "had the turn for its full time",
    "abandoned": "left",
    "revoked": "had its rights revoked",
}
"""By the reasons of the wire, written out here so that attaching need not load the
machine that decides about turns."""


def passed_told(passed: TurnPassed, names: Names) -> str | None:
    """Return how the turn moved; None if the user just did that."""
    if passed.holder == names.us and not passed.former:
        return None  # Typing takes a free turn, which is not worth a notice.
    former, holder = names.you(passed.former), names.you(passed.holder)
    match passed.reason:
        case "taken":
            text = f"{holder} took the turn"
        case "seized":
            text = f"{holder} seized the turn from {former}"
        case "given" | "answered":
            text = f"{former} gave {holder} the turn"
        case "defaulted":
            text = f"{former} did not answer; {holder} has the turn"
        case reason:
            lost = _LOST.get(reason, "lost the turn")
            text = f"{former} {lost}; {_next(passed.holder, names)}"
    return text + _thrown_away(passed)


def asked_told(asked: TurnAsked, names: Names, keys: Settings) -> str:
    """Return who asks for the turn, and how to answer."""
    who, seconds = names.you(asked.asker), asked.wait_ms // 1000
    text = f"{who} asks for the turn (for {seconds} s)"
    return _with_hints(text, keys, give="gives it", deny="refuses")


def waits_told(pending: Pending, names: Names, keys: Settings) -> str:
    """Return what waits for approval, from whom and by which rule."""
    rule = printable(pending.rule, 64)
    what = presence_text.excerpt_told(pending.excerpt) + _behind(pending, names)
    what += presence_text.previewed_told(pending.preview)
    if pending.actor == names.us:
        return f"rule {rule}: {what} waits for approval"
    text = f"{names.you(pending.actor)} wants to send {what} (rule {rule})"
    return _with_hints(text, keys, approve="approves", deny="denies")


def _behind(pending: Pending, names: Names) -> str:
    """Return what a line runs, and who else staged that."""
    runs = f", which runs {printable(pending.runs, 200)}" if pending.runs else ""
    staged = [
        f"{presence_text.thing_told(one)} by {presence_text.by_told(one, names)}"
        for one in pending.uses
        if set(one.by) != {pending.actor}
    ]
    return f"{runs}; staged: {', '.join(staged)}" if staged else runs


def settled_told(settled: Settled, names: Names) -> str:
    """Return how a request for approval was settled."""
    how = "approved" if settled.verdict is Verdict.ALLOW else "denied"
    if settled.by:
        return f"{names.you(settled.by)} {how} the request"
    return f"the request was {how}: its time or turn ran out"


def takes_over_told(inherited: Inherited, names: Names) -> str:
    """Return what comes with the turn."""
    return f"with the turn comes: {presence_text.inherited_told(inherited, names)}"


def frozen_told(keys: Settings, *, is_frozen: bool) -> str:
    """Return that the session is frozen, or no longer."""
    if is_frozen:
        text = "frozen: no process runs and no input is written"
        return _with_hints(text, keys, freeze="thaws")
    return "thawed: running again"


def fenced_told(*, is_fenced: bool) -> str:
    """Return that the session has no lease, or has one again."""
    if is_fenced:
        return "fenced: its lease ran out; it continues when its host reaches its relay"
    return "its lease was granted again: running"


def event_told(event: Event) -> str | None:
    """Return the notice for an event; None if there is none."""
    match event.name:
        case EventName.POLICY_KEPT:
            return printable(str(event.fields.get("text", "")), 500)
        case EventName.FREEZE_MISSED | EventName.THAW_MISSED:
            pid, why = event.fields.get("pid", 0), event.fields.get("why", "")
            is_freeze = event.name == EventName.FREEZE_MISSED
            still = "running" if is_freeze else "stopped"
            return f"process {pid} is still {still}: {printable(str(why), 200)}"
        case EventName.LISTENER_GONE | EventName.LIMIT_MET:
            is_limit = event.name == EventName.LIMIT_MET
            return (_limit_told if is_limit else _unbound_told)(event.fields)
        case EventName.ATTENTION_CALLED:
            return _called_told(event)
        case EventName.PROCESS_REPLACED:
            what = printable(str(event.fields.get("what", "")), 32)
            why = printable(str(event.fields.get("why", "")), 200)
            return f"the {what} hung and was replaced: {why}"
        case _:
            return _image_told(event)


def _image_told(event: Event) -> str | None:
    """Return what became of the session by an image, or by its loss."""
    life = event.fields.get("incarnation", 0)
    match event.name:
        case EventName.SESSION_CHECKPOINTED:
            image = printable(str(event.fields.get("image", "")), 80)
            return f"saved to disk as {image}, and continues"
        case EventName.SESSION_FORKED:
            return "a branch of it was made; it continues"
        case EventName.SESSION_RESTORED:
            return f"restored from an image (incarnation {life})"
        case EventName.SESSION_RECOVERED:
            return f"recovered: its command was started again (incarnation {life})"
        case _:
            return None


def _unbound_told(fields: Mapping[str, object]) -> str:
    where = f"{fields.get('address', '')}:{fields.get('port', 0)}"
    what = printable(str(fields.get("command", "")), 80)
    return f"{what} no longer listens on {printable(where, 80)}"


def _limit_told(fields: Mapping[str, object]) -> str:
    """Return which limit a session has met, and what became of it."""
    program, most = str(fields.get("program", "")), fields.get("most", 0)
    if fields.get("limit") == "memory":
        who = f"{printable(program, 80)} ({fields.get('pid', 0)})" if program else ""
        have = bytes_told(most if isinstance(most, int) else 0)
        return f"{who or 'a program'} was killed: the session may have {have} of memory"
    return f"nothing more can be started: the session may have {most} processes"


def _called_told(event: Event) -> str | None:
    """Return an operator's call; what a program prints, the terminal shows itself."""
    if event.fields.get("what") != NEEDS_INPUT:
        return None
    text = printable(str(event.fields.get("text", "")), 200)
    return f"input is needed, says an operator: “{text}”"


def presence_told(presence: Presence, names: Names) -> str:
    """Return who is attached and who has the turn, in one line."""
    here = dict.fromkeys(one.actor for one in presence.present)
    parts = [presence_text.turn_told(presence, names)]
    if others := [names.shown(one) for one in here if one != names.us]:
        parts.append(f"attached: {', '.join(others)}")
    if presence.waiting:
        parts.append(f"waiting: {', '.join(map(names.you, presence.waiting))}")
    if presence.frozen:
        parts.append("frozen")
    return "; ".join(parts)


def refused_told(error: HoldfastError, names: Names, keys: Settings) -> str:
    """Return why an input or a request was refused; by whom, if it is the turn."""
    holder = error.facts.get("holder")
    if isinstance(holder, str) and holder and holder != names.us:
        text = f"{names.shown(ActorId(holder))} has the turn"
        return _with_hints(text, keys, take="asks for it", seize="seizes it")
    return names.told(str(error))


def _with_hints(text: str, keys: Settings, **does: str) -> str:
    """Return a notice with the keys that do something about it."""
    hints = [keys.hint(what, so) for what, so in does.items()]
    told = ", ".join(filter(None, hints))
    return f"{text}; {told}" if told else text


def _next(holder: ActorId, names: Names) -> str:
    if not holder:
        return "it is free"
    return "it is yours" if holder == names.us else f"{names.shown(holder)} has it now"


def _thrown_away(passed: TurnPassed) -> str:
    if not passed.dropped_inputs:
        return ""
    plural = "" if passed.dropped_inputs == 1 else "s"
    return (
        f"; {passed.dropped_inputs} queued input{plural} discarded"
        f" ({passed.dropped_bytes} bytes)"
    )
