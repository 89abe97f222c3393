r"""What is set in a shell, and what changed since the last prompt.

Theory of operation
-------------------
A shell with our integration says at its prompt what is set in it (see
docs/spec/shell-state.md). The message is a list of fields; here they become a
`ShellState`: for every variable, alias, function, trap and option its name and a
digest, and the text only of the few that decide what a line will do.

    fields of a message ──read_state──▶ ShellState ─┐
                                                    ├─changes──▶ what differs
                        the one before it ──────────┘

A field is a letter, and behind it what the letter stands for:

    d  a line of bash's `declare -p`        v  NAME=VALUE, a variable elsewhere
    w  NAME=LENGTH, a variable withheld     m  NAME=VALUE, one that matters, as is
    k  an alias' name, bash                 t  the text of the next such name
    a  NAME=TEXT, an alias elsewhere        f  NAME=TEXT, a function elsewhere
    F  bash's `declare -f`                  T  what `trap` prints
    o  an option that is on                 O  options that are on, with colons
    l  something was left out

bash prints all functions in one text. Where one of them quotes what looks like the
head of another, the border is seen there; texts that have the same name are digested
together, so that no change of one can hide behind the other.

What changes by itself (`RANDOM`, `PWD`, …) says nothing about an operator and is left
out. A value that was withheld has no digest; its length stands in for it.

Invariants, checked by tests/core/shell/test_shell_state.py:

I1  Whatever the bytes, a state within bounds comes out of them, or None.
I2  Of a variable that is withheld only the length makes a difference.
I3  What is the same in both states is no change; what differs is exactly one.
I4  Nothing is left out in silence: then `is_whole` is False.
"""

import enum
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

MAX_ITEMS = 16_384
"""Items of one state: a shell with more was made to break something."""

MAX_ALIASES = 512
"""Aliases whose text is kept: ten times what a rich setup has."""

MAX_TEXT = 4096
"""Letters of an alias or a value that are kept; the digest covers all of it."""

MAX_NAME = 256
"""Letters of a name; a longer one cannot be told from others and is left out."""

MAX_FOLDERS = 256
"""Folders of PATH."""

MAX_CHANGES = 256
"""Differences told at once: what changes more, changes everything."""

DIGEST = 16
"""Bytes of a digest: 128 bits of SHA-256, for which nobody finds a second text."""

SECRET = b"length "
"""What the digest of a withheld value begins with; the rest is its length."""

MATTERS = frozenset(
    {
        "BASH_ENV",
        "CDPATH",
        "ENV",
        "FPATH",
        "GLOBIGNORE",
        "HOME",
        "IFS",
        "PATH",
        "PROMPT_COMMAND",
        "PS0",
        "PS1",
        "PS4",
        "PYTHONPATH",
        "SHELL",
        "ZDOTDIR",
    }
)
"""Variables that decide what a line does, beside those that begin with LD_."""

VOLATILE = frozenset(
    {
        "!",
        "#",
        "$",
        "*",
        "-",
        "0",
        "1",
        "2",
        "3",
        "4",
        "5",
        "6",
        "7",
        "8",
        "9",
        "?",
        "@",
        "ARGC",
        "BASHOPTS",
        "BASHPID",
        "BASH_ALIASES",
        "BASH_ARGC",
        "BASH_ARGV",
        "BASH_ARGV0",
        "BASH_CMDS",
        "BASH_COMMAND",
        "BASH_LINENO",
        "BASH_MONOSECONDS",
        "BASH_REMATCH",
        "BASH_SOURCE",
        "BASH_SUBSHELL",
        "CMD_DURATION",
        "COLUMNS",
        "COMP_WORDBREAKS",
        "DIRSTACK",
        "EPOCHREALTIME",
        "EPOCHSECONDS",
        "FUNCNAME",
        "FUNCNEST",
        "GROUPS",
        "HISTCMD",
        "LINENO",
        "LINES",
        "MATCH",
        "MBEGIN",
        "MEND",
        "OLDPWD",
        "OPTARG",
        "OPTIND",
        "PIPESTATUS",
        "PWD",
        "RANDOM",
        "READLINE_LINE",
        "READLINE_POINT",
        "REPLY",
        "SECONDS",
        "SHELLOPTS",
        "SRANDOM",
        "TRY_BLOCK_ERROR",
        "TRY_BLOCK_INTERRUPT",
        "TTYIDLE",
        "ZSH_EVAL_CONTEXT",
        "ZSH_SUBSHELL",
        "_",
        "argv",
        "dirnext",
        "dirprev",
        "dirstack",
        "fish_kill_signal",
        "fish_killring",
        "funcfiletrace",
        "funcsourcetrace",
        "funcstack",
        "functrace",
        "generation",
        "history",
        "historywords",
        "jobdirs",
        "jobstates",
        "jobtexts",
        "match",
        "mbegin",
        "mend",
        "pipestatus",
        "signals",
        "status",
        "status_generation",
        "userdirs",
        "usergroups",
        "zsh_eval_context",
    }
)
"""Variables that are different at every prompt, or say again what is said
elsewhere: the folder is in the mark, options and aliases have fields."""

_OURS = "__holdfast_"
_DECLARED = re.compile(rb"declare -[A-Za-z-]+ ([^= ]+)(?:=.*)?", re.DOTALL)
_HEAD = re.compile(rb"^(?:function )?([^\n]+) \(\) \n\{ \n", re.MULTILINE)
_TRAPPED = re.compile(rb"trap -- (.*) ([A-Z0-9+_-]+)", re.DOTALL)
_LENGTH = re.compile(rb"[0-9]{1,15}")


class ItemKind(enum.StrEnum):
    """What can be set in a shell."""

    VARIABLE = "variable"
    ALIAS = "alias"
    FUNCTION = "function"
    TRAP = "trap"
    OPTION = "option"
    PATH_ENTRY = "path-entry"


class Item(NamedTuple):
    """One thing that is set; a path-entry is named by its folder."""

    kind: ItemKind
    name: str


@dataclass(frozen=True, slots=True)
class ShellState:
    """All that is set in a shell, at one prompt.

    `items` has a digest for each, `path` the folders of PATH in order (None: not
    known), `aliases` and `environment` the texts that decide what a line does.
    `is_whole` is False when something was left out for its size.
    """

    items: Mapping[Item, bytes]
    path: tuple[str, ...] | None
    aliases: Mapping[str, str]
    environment: Mapping[str, str]
    is_whole: bool


class ChangeKind(enum.StrEnum):
    """How an item differs."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Change:
    """One item that differs; `digest` is of what it is now, empty if it is gone."""

    item: Item
    how: ChangeKind
    digest: bytes


def read_state(raw: bytes) -> ShellState | None:
    """Read the fields of a message, each with a NUL behind it; None: malformed."""
    if not raw.endswith(b"\0"):
        return None
    reading = _Reading()
    for one in raw[:-1].split(b"\0"):
        take = _FIELDS.get(one[:1])
        if take is None or not take(reading, one[1:]):
            return None
    return reading.state()


def changes(old: ShellState, new: ShellState) -> tuple[Change, ...]:
    """Return what differs in `new`, in order of kind and name, up to MAX_CHANGES."""
    found = [
        _change(item, old.items, new.items)
        for item in old.items.keys() | new.items.keys()
        if old.items.get(item) != new.items.get(item)
    ]
    return tuple(sorted(found, key=lambda one: one.item)[:MAX_CHANGES])


def matters(name: str) -> bool:
    """Tell whether the value of this variable decides what a line does."""
    return name in MATTERS or name.startswith("LD_")


def digest_of(text: bytes) -> bytes:
    """Return the digest of what an item is set to."""
    return hashlib.sha256(text).digest()[:DIGEST]


def _change(item: Item, old: Mapping[Item, bytes], new: Mapping[Item, bytes]) -> Change:
    if item not in new:
        return Change(item, ChangeKind.REMOVED, b"")
    how = ChangeKind.CHANGED if item in old else ChangeKind.ADDED
    return Change(item, how, new[item])


@dataclass(slots=True)
class _Reading:
    """What has been read of a message so far."""

    items: dict[Item, bytes] = field(default_factory=dict)
    path: tuple[str, ...] | None = None
    aliases: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    is_whole: bool = True
    _alias_names: list[bytes] = field(default_factory=list)
    _alias_texts: list[bytes] = field(default_factory=list)

    def state(self) -> ShellState | None:
        if len(self._alias_names) != len(self._alias_texts):
            return None
        for name, text in zip(self._alias_names, self._alias_texts, strict=True):
            self._alias(name, text)
        return ShellState(
            self.items, self.path, self.aliases, self.environment, self.is_whole
        )

    # ── fields ────────────────────────────────────────────────────────────

    def declared(self, line: bytes) -> bool:
        found = _DECLARED.fullmatch(line)
        return found is not None and self._variable(found[1], line)

    def variable(self, said: bytes) -> bool:
        name, equals, _ = said.partition(b"=")
        return bool(equals) and self._variable(name, said)

    def withheld(self, said: bytes) -> bool:
        name, _, length = said.partition(b"=")
        if not _LENGTH.fullmatch(length):
            return False
        self._put(ItemKind.VARIABLE, name, SECRET + length)
        return True

    def mattering(self, said: bytes) -> bool:
        raw, equals, value = said.partition(b"=")
        name, text = _text(raw), _text(value)
        if not equals or not matters(name):
            return False
        if name == "PATH":
            self._search_in(text)
        self.is_whole &= len(text) <= MAX_TEXT
        self.environment[name] = text[:MAX_TEXT]
        return len(self.environment) <= MAX_ITEMS

    def alias_name(self, name: bytes) -> bool:
        self._alias_names.append(name)
        return True

    def alias_text(self, text: bytes) -> bool:
        self._alias_texts.append(text)
        return True

    def alias(self, said: bytes) -> bool:
        name, equals, text = said.partition(b"=")
        self._alias(name, text)
        return bool(equals)

    def function(self, said: bytes) -> bool:
        name, equals, text = said.partition(b"=")
        self._put(ItemKind.FUNCTION, name, digest_of(text))
        return bool(equals)

    def function_texts(self, printed: bytes) -> bool:
        heads = [*_HEAD.finditer(printed)]
        ends = [*(one.start() for one in heads[1:]), len(printed)]
        for head, end in zip(heads, ends, strict=False):
            known = self.items.get(Item(ItemKind.FUNCTION, _text(head[1])), b"")
            digest = digest_of(known + printed[head.start() : end].rstrip(b"\n"))
            self._put(ItemKind.FUNCTION, head[1], digest)
        return True

    def traps(self, printed: bytes) -> bool:
        # A trap may have lines of its own; each begins where a line says `trap`.
        for one in re.split(rb"\n(?=trap -- )", printed.rstrip(b"\n")):
            found = _TRAPPED.fullmatch(one)
            if found is not None:
                self._put(ItemKind.TRAP, found[2], digest_of(found[1]))
            elif one:
                return False
        return True

    def option(self, name: bytes) -> bool:
        self._put(ItemKind.OPTION, name, digest_of(b"on"))
        return True

    def options(self, names: bytes) -> bool:
        return all(self.option(name) for name in names.split(b":") if name)

    def left_out(self, _: bytes) -> bool:
        self.is_whole = False
        return True

    # ── items ─────────────────────────────────────────────────────────────

    def _variable(self, name: bytes, text: bytes) -> bool:
        if _text(name) not in VOLATILE and not name.startswith(_OURS.encode()):
            self._put(ItemKind.VARIABLE, name, digest_of(text))
        return True

    def _search_in(self, text: str) -> None:
        folders = tuple(text.split(":"))
        self.is_whole &= len(folders) <= MAX_FOLDERS
        self.path = folders[:MAX_FOLDERS]
        for folder in self.path:
            self._put(ItemKind.PATH_ENTRY, folder.encode(), digest_of(folder.encode()))

    def _alias(self, name: bytes, text: bytes) -> None:
        self._put(ItemKind.ALIAS, name, digest_of(text))
        if len(self.aliases) >= MAX_ALIASES or len(name) > MAX_NAME:
            self.is_whole = False
            return
        said = _text(text)
        self.is_whole &= len(said) <= MAX_TEXT
        self.aliases[_text(name)] = said[:MAX_TEXT]

    def _put(self, kind: ItemKind, name: bytes, digest: bytes) -> None:
        if len(self.items) >= MAX_ITEMS or len(name) > MAX_NAME:
            self.is_whole = False
            return
        self.items[Item(kind, _text(name))] = digest


def _text(raw: bytes) -> str:
    # What is no UTF-8 is shown as what it is, and never as something else.
    return raw.decode("utf-8", "backslashreplace")


_FIELDS = {
    b"d": _Reading.declared,
    b"v": _Reading.variable,
    b"w": _Reading.withheld,
    b"m": _Reading.mattering,
    b"k": _Reading.alias_name,
    b"t": _Reading.alias_text,
    b"a": _Reading.alias,
    b"f": _Reading.function,
    b"F": _Reading.function_texts,
    b"T": _Reading.traps,
    b"o": _Reading.option,
    b"O": _Reading.options,
    b"l": _Reading.left_out,
}
