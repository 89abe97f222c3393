"""`holdfast log --host`: show and verify the changes made on this host."""

import argparse
import contextlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path

from holdfast.cli.log_export import write_export
from holdfast.cli.log_page import Page
from holdfast.cli.log_verdict import EXIT_CHANGED
from holdfast.cli.story import Line, Tone
from holdfast.client.authority import demand_grant
from holdfast.client.policies import statement
from holdfast.core.autonomy.ladder import Step
from holdfast.core.book.host_book import book_of, is_sealed, policy_after, seal_key
from holdfast.core.book.logbook import Entry, EntryKind, read_entries
from holdfast.core.book.signed_head import SignedHead
from holdfast.crypto import keys
from holdfast.linux.stored import host_book, ladder_steps, policy_files
from holdfast.linux.stored.host_key import host_seed
from holdfast.model import errors
from holdfast.model.ids import SessionId, actor_id, host_id
from holdfast.model.text import printable
from holdfast.model.verdicts import Verdict
from holdfast.wire.lines import Value

_TOLD = {
    EntryKind.OPENED: "the logbook of this host begins",
    EntryKind.APPLIED: "put policy {policy:.32} in force, replacing {before:.32}",
    EntryKind.TAMPERED: "{what}: {why}",
    EntryKind.ENROLLED: "{actor} was added as {name} ({as})",
    EntryKind.JOINED: "{actor} joined as {name} ({as}), and may {rights}",
    EntryKind.FORGOTTEN: "{actor}, known as {name}, was removed",
    EntryKind.ROTATED: "{actor} has a new key, number {number}",
    EntryKind.INVITED: "invited {name} ({as}), who may {rights}: {invite:.8}",
    EntryKind.ACCEPTED: "{actor} used the invitation {invite:.8}",
    EntryKind.WITHDRAWN: "withdrew the invitation {invite:.8}",
    EntryKind.LAPSED: "the invitation {invite:.8} expired unused",
    EntryKind.DECLINED: "was refused `{request}` ({code})",
    EntryKind.FILES: "applied the files of {whose}: {made} made, {changed} changed,"
    " {deleted} deleted",
    EntryKind.STEPPED: "{actor}: {action} goes from {from} to {to}: {why}",
    EntryKind.ARRIVED: "{of} came from {from}, as life {life}",
    EntryKind.DEPARTED: "{of} went to {to}, as life {life}",
}
_LOUD = frozenset({EntryKind.TAMPERED, EntryKind.DECLINED})


def run(options: argparse.Namespace, names: dict[str, str]) -> int:
    """Show, verify or set aside the logbook of this host."""
    if options.set_aside:
        demand_grant("log --host --set-aside")
        place = host_book.set_aside()
        print("there is no logbook" if place is None else f"moved to {place}")
        return 0
    if options.verify:
        return _verify(as_json=options.json)
    book, _ = _ours()
    lines = _lines()
    if options.export is not None:
        entries = [entry.line for entry in read_entries(lines, book)]
        count = len(entries)
        write_export(options.export, book, count, entries, _head(), force=options.force)
        return 0
    _print(lines, book, names, as_json=options.json)
    return 0


def _ours() -> tuple[SessionId, bytes]:
    """Return the id in the logbook, and the key of its seals."""
    seed = host_seed()
    public = keys.SigningKey.from_seed(seed).public
    return book_of(host_id(public)), seal_key(seed)


def _lines() -> list[bytes]:
    """Return the complete lines; the last one may still be unfinished."""
    with contextlib.suppress(FileNotFoundError):
        return Path(host_book.book_path()).read_bytes().split(b"\n")[:-1]
    return []


def _head() -> SignedHead | None:
    return host_book.signed_head(host_book.head_path())


def _print(
    lines: list[bytes], book: SessionId, names: dict[str, str], *, as_json: bool
) -> None:
    page = Page(names)
    for entry in read_entries(lines, book):
        if as_json:
            print(entry.line.decode())
            continue
        said = {
            name: page.name(str(value)) if name == "actor" else printable(str(value))
            for name, value in entry.fields.items()
        }
        text = _TOLD[entry.kind].format_map(said)
        tone = Tone.LOUD if entry.kind in _LOUD else Tone.PLAIN
        who = str(entry.fields.get("by") or "")
        if entry.kind is EntryKind.DECLINED:
            who = str(entry.fields["actor"])
        page.show([Line(entry.index, entry.at_wall_ms, who, text, tone)])


# ── verification ──────────────────────────────────────────────────────────


def _verify(*, as_json: bool) -> int:
    found: errors.HoldfastError | None = None
    entries: list[Entry] = []
    try:
        _check(entries)
    except (errors.PeerError, errors.LogbookWithheld) as error:
        found = error
    last = entries[-1] if entries else None
    facts: dict[str, object] = {
        "host": _ours()[0],
        "holds": found is None,
        "count": len(entries),
        "head": None if last is None else last.hash.hex(),
        "policy": None if last is None else policy_after(last) or None,
        "error": None
        if found is None
        else {"code": found.code, "text": str(found), "facts": found.facts},
    }
    if as_json:
        print(json.dumps(facts))
    else:
        print(f"{facts['host']}: {len(entries)} entries verified")
        if found is not None:
            print(f"does not verify: {printable(str(found))}")
        elif last is not None:
            print("every entry is sealed and signed by this host")
            policy = f"policy {facts['policy']}" if facts["policy"] else "no policy"
            print(f"{policy} is in force, as the logbook says")
    return 0 if found is None else EXIT_CHANGED


def _check(entries: list[Entry]) -> None:
    """Read the whole logbook, and raise at the first thing that is wrong."""
    book, key = _ours()
    owned: dict[str, set[str]] = {}
    for entry in read_entries(_lines(), book):
        if not is_sealed(entry.line, key):
            raise errors.LogTampered(entry.index, "it is not sealed by this host")
        said = entry.fields
        if entry.kind is EntryKind.APPLIED and not _is_signed(said, owned):
            raise errors.LogTampered(entry.index, "no operator signed what was applied")
        if entry.kind is EntryKind.STEPPED and not _is_rightful(said, owned):
            raise errors.LogTampered(entry.index, "no operator signed a step up")
        owned.setdefault(str(said.get("actor")), set()).add(str(said.get("key")))
        entries.append(entry)
    _check_head(book, entries)
    policy_files.load(key)


def _check_head(book: SessionId, entries: list[Entry]) -> None:
    signed = _head()
    if signed is None:
        if len(entries) > 1:
            raise errors.LogTampered(len(entries) - 1, "the signed head is missing")
        return
    head = signed.receipt.head
    if head.session != book or not signed.is_genuine():
        raise errors.LogTampered(head.index, "the signed head is not this host's")
    if head.index >= len(entries):
        raise errors.LogbookWithheld(head.index)
    if entries[head.index].hash != head.hash:
        raise errors.LogTampered(head.index, "the host signed a different entry")


def _is_rightful(said: Mapping[str, Value], owned: dict[str, set[str]]) -> bool:
    """Tell whether a step goes down by itself, or was signed by its operator."""
    step = Step("", "", Verdict(str(said["from"])), Verdict(str(said["to"])), "")
    if not said["by"]:
        return not step.is_up
    return _is_signed(said, owned, ladder_steps.statement)


def _is_signed(
    said: Mapping[str, Value],
    owned: dict[str, set[str]],
    statement: Callable[[str, str, str], bytes] = statement,
) -> bool:
    """Tell whether the operator it names signed it with its own key."""
    by = str(said["by"])
    text = statement(str(said["session"]), str(said["policy"]), str(said["before"]))
    try:
        key, signature = (
            bytes.fromhex(str(said.get(name))) for name in ("key", "signature")
        )
    except ValueError:
        return False
    is_its = actor_id(key) == by or key.hex() in owned.get(by, ())
    return is_its and keys.verify(key, text, signature)
