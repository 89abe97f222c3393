"""The kinds of frames and their fields, as wire.md has them in section 4.

`tests/conformance/test_kinds.py` compares this with the tables of the page.
"""

from typing import NamedTuple


class Kind(NamedTuple):
    """A kind of frame: its number, its fields in order, and which side sends it."""

    number: int
    fields: tuple[str, ...]
    sides: str


def _kind(number: int, sides: str, fields: str = "") -> Kind:
    return Kind(number, tuple(fields.split()), sides)


KINDS = {
    "HELLO": _kind(0x01, "o", "versions product client"),
    "WELCOME": _kind(0x02, "s", "version product"),
    "PING": _kind(0x03, "os", "number"),
    "PONG": _kind(0x04, "os", "number"),
    "GOODBYE": _kind(0x05, "os", "code text"),
    "CHALLENGE": _kind(0x06, "s", "nonce"),
    "IDENTIFY": _kind(0x07, "o", "actor proof"),
    "ATTACH": _kind(0x10, "o", "session client mode size incarnation after keyframe"),
    "ATTACHED": _kind(
        0x11,
        "s",
        "session name incarnation epoch holder start end state size operators",
    ),
    "DETACH": _kind(0x12, "o"),
    "OUTPUT": _kind(0x14, "s", "offset data"),
    "GAP": _kind(0x15, "s", "start end"),
    "KEYFRAME": _kind(0x16, "s", "offset size more data"),
    "RESIZED": _kind(0x17, "s", "offset size"),
    "SCREEN_REQUEST": _kind(0x18, "o", "cells"),
    "SCREEN": _kind(
        0x19,
        "s",
        "offset size cursor_row cursor_column cursor_visible title alternate exact"
        " text runs hidden above more",
    ),
    "SUBMIT": _kind(
        0x20, "o", "client sequence kind incarnation epoch payload seen waits"
    ),
    "ACKNOWLEDGE": _kind(0x21, "s", "client sequence index receipt"),
    "REFUSE": _kind(
        0x22, "s", "refused client sequence code text facts retryable next_step"
    ),
    "REPORT": _kind(0x23, "s", "client sequence outcome index written"),
    "INQUIRE": _kind(0x24, "o", "client sequence"),
    "INTEND": _kind(
        0x25, "o", "act intent effect parameters prompt expects idempotent attempt"
    ),
    "SIGN": _kind(0x26, "o", "client last steps key rotations signature"),
    "SIGNED": _kind(0x27, "s", "client last"),
    "NOTIFY": _kind(0x28, "o", "text"),
    "TAKE": _kind(0x30, "o"),
    "ASK": _kind(0x31, "o", "timeout_ms"),
    "ANSWER": _kind(0x32, "o", "asker granted"),
    "GIVE": _kind(0x33, "o", "to"),
    "DROP": _kind(0x34, "o"),
    "SEIZE": _kind(0x35, "o", "halt"),
    "TURN_PASSED": _kind(
        0x36, "s", "former holder epoch reason dropped_inputs dropped_bytes"
    ),
    "TURN_ASKED": _kind(0x37, "s", "asker wait_ms"),
    "INHERITED": _kind(0x38, "s", "epoch staged by jobs changed"),
    "PENDING": _kind(
        0x40,
        "s",
        "ticket actor kind epoch digest size excerpt rule program runs uses preview",
    ),
    "APPROVE": _kind(0x41, "o", "ticket epoch digest"),
    "DENY": _kind(0x42, "o", "ticket digest"),
    "SETTLED": _kind(0x43, "s", "ticket verdict by"),
    "TRY": _kind(0x44, "o", "actor kind payload candidate"),
    "TRIED": _kind(0x45, "s", "verdict rule why runs uses policy"),
    "GRAPH_REQUEST": _kind(0x50, "o", "descriptors"),
    "GRAPH": _kind(0x51, "s", "processes listeners connections descriptors more"),
    "BLAME_REQUEST": _kind(0x52, "o", "what name at_ms"),
    "BLAME_REPORT": _kind(
        0x53,
        "s",
        "standing how digest behind used silent staged by others edited hidden",
    ),
    "PREFLIGHT_REQUEST": _kind(0x54, "o"),
    "PREFLIGHT": _kind(0x55, "s", "blockers cuts unlisted"),
    "CHECKPOINT_REQUEST": _kind(0x56, "o", "stop label branch key"),
    "CHECKPOINTED": _kind(0x57, "s", "image number size still_ms stopped cuts"),
    "FREEZE": _kind(0x60, "o"),
    "THAW": _kind(0x61, "o"),
    "END": _kind(0x62, "o", "signal leave"),
    "STATE": _kind(0x63, "s", "state incarnation"),
    "EXITED": _kind(0x64, "s", "status"),
    "REAP": _kind(0x66, "o", "stop quiet_ms idle_ms why"),
    "STATE_REQUEST": _kind(0x68, "o"),
    "EVIDENCE": _kind(
        0x69,
        "s",
        "state program incarnation sure why foreground echo canonical unread sleepers",
    ),
    "EVENT": _kind(0x70, "s", "name session fields"),
    "WHO": _kind(0x90, "o"),
    "PRESENCE": _kind(0x91, "s", "present holder epoch waiting frozen pending rights"),
    "GRANT": _kind(0x92, "o", "actor rights for_ms"),
    "REVOKE": _kind(0x93, "o", "actor"),
    "DETACH_CLIENT": _kind(0x94, "o", "client"),
    "COMMAND_STARTED": _kind(0xA0, "s", "command"),
    "COMMAND_ENDED": _kind(0xA1, "s", "command"),
    "COMMAND_REQUEST": _kind(0xA2, "o", "client"),
    "COMMAND_REPORT": _kind(0xA3, "s", "phase command"),
}

NAMES = {kind.number: name for name, kind in KINDS.items()}

MAX_PAYLOAD = 262144
MAX_UNPROVEN_PAYLOAD = 4096
MAX_INPUT = 65536
VERSION = 1
