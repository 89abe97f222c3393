"""The kind of action of a command: what its operator can earn, or lose, autonomy for.

Theory of operation
-------------------
Doing something harmless often must not earn the right to something harmful. So
the kind of a command is never its text, and as narrow as it can be:

    /usr/bin/make test        the file that runs, then every word as it is
    /usr/bin/git status -s    of a few commands that are known to read, or to build
                              what is there, the options alone, each with the word
                              behind it, which may be its value: other words are free
                              as long as they name nothing outside the folder
    /home/a/t.sh#3f9a…        a file outside of the system's folders, with its digest

The program is the file that the word resolves to when the line is judged. A command
has no kind, and so earns nothing, if anything about it cannot be told: what runs,
a word, a redirection or an assignment; if it carries or hides another command; if
something that it uses was staged in this session, by anybody; or if not the shell alone
reads it. An alias is part of the kind.

Invariants, each checked by tests/core/autonomy/test_action_kind_properties.py:

I1  Two commands of one kind run the same file, with the same options.
I2  Two commands of one kind differ in words only if both are of a command in READERS
    or BUILDERS, and then name nothing outside the folder.
I3  What carries, hides or changes more than its words say has no kind.
"""

import hashlib
import shlex

from holdfast.core.policy.exec_command import STANDARD, resolved_of
from holdfast.core.shell.simple_command import Command
from holdfast.model.policy_questions import Question
from holdfast.model.resolutions import Link, Resolved, Sort

MAX_ACTION = 200
"""Characters of a kind; a longer one is known by its digest."""

MAX_ACTIONS = 8
"""Commands of a line that has kinds of action: a longer one has none."""

DIGITS = 16
"""Hexadecimal digits of a digest in a kind."""

READERS = frozenset(
    {
        "basename",
        "cat",
        "cksum",
        "cmp",
        "cut",
        "df",
        "diff",
        "dirname",
        "du",
        "echo",
        "file",
        "grep",
        "head",
        "ls",
        "md5sum",
        "nl",
        "od",
        "printf",
        "realpath",
        "sha256sum",
        "stat",
        "tail",
        "tr",
        "wc",
    }
)
"""Programs that read, whatever their words are."""

BUILDERS = {
    "cargo": frozenset({"build", "check", "test"}),
    "git": frozenset({"add", "blame", "diff", "log", "ls-files", "show", "status"}),
    "go": frozenset({"build", "test", "vet"}),
}
"""Programs with subcommands of which the words are free, by the subcommand."""

_NONE: frozenset[str] = frozenset()
_NO_CHAIN = (Sort.FUNCTION, Sort.KEYWORD, Sort.UNKNOWN)


def actions_of(commands: tuple[Command, ...], question: Question) -> tuple[str, ...]:
    """Return the kind of each command of a line; nothing if one has none."""
    found = [action_of(command, question) for command in commands[: MAX_ACTIONS + 1]]
    if len(found) > MAX_ACTIONS or "" in found:
        return ()
    return tuple(dict.fromkeys(found))


def action_of(command: Command, question: Question) -> str:
    """Return the kind of a command; empty if it has none."""
    resolved = command.resolved
    if question.execution is not None:
        resolved = resolved_of(question.execution)
    words = [word for word in command.words if word is not None]
    is_plain = (
        len(words) == len(command.words) > 0
        and not (command.doubt or command.carries or command.hides or command.altered)
        and not command.keywords
        and bool(command.folders)
    )
    if resolved is None or not is_plain or not question.is_text:
        return ""
    if question.execution is None and not question.shell_reads:
        return ""
    program = _program(resolved)
    if not program:
        return ""
    return _bounded(f"{program} {_told(_general_name(resolved), words[1:])}".rstrip())


def _program(resolved: Resolved) -> str:
    """Return what runs, and how the word led there; empty if that cannot be told."""
    links = resolved.links
    if resolved.doubt or resolved.staged or not links:
        return ""
    if links[-1].sort is Sort.ALIAS or any(link.sort in _NO_CHAIN for link in links):
        return ""
    named = [_named(link) for link in links]
    return "" if "" in named else " ".join(dict.fromkeys(named))


def _named(link: Link) -> str:
    if link.sort is Sort.ALIAS:
        return f"[{link.text}]"
    if link.sort is Sort.BUILTIN:
        return f"builtin {link.name}"
    if link.name.rpartition("/")[0] in STANDARD:
        return link.name
    return f"{link.name}#{link.digest.hex()[:DIGITS]}" if link.digest else ""


def _general_name(resolved: Resolved) -> str:
    """Return the name of a program of the system, or builtin, that runs by itself."""
    found = [link for link in resolved.links if link.sort is not Sort.ALIAS]
    folder, _, name = found[0].name.rpartition("/")
    is_known = found[0].sort is Sort.BUILTIN or folder in STANDARD
    return name if len(found) == 1 and is_known else ""


def _told(name: str, words: list[str]) -> str:
    """Return what of the words is part of the kind."""
    subcommand = words[:1] if name in BUILDERS else []
    is_free = name in READERS or bool(
        BUILDERS.get(name, _NONE).intersection(subcommand)
    )
    free = words[len(subcommand) :]
    if not is_free or any(map(_leads_out, free)):
        return shlex.join(words)
    # A word behind an option may be its value, and name a file or a variable to write.
    before = ["", *free]
    kept = [
        one
        for one, last in zip(free, before, strict=False)
        if one.startswith("-") or (last.startswith("-") and "=" not in last)
    ]
    return shlex.join([*subcommand, *kept])


def _leads_out(word: str) -> bool:
    """Tell whether a word may name something outside the folder."""
    value = word.rpartition("=")[2]
    return any(
        part.startswith(("/", "~")) or ".." in part.split("/") for part in (word, value)
    )


def _bounded(text: str) -> str:
    plain = "".join(one if one.isprintable() else "?" for one in text)
    if plain == text and len(text) <= MAX_ACTION:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{plain[: MAX_ACTION - DIGITS - 1]}#{digest[:DIGITS]}"
