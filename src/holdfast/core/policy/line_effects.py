"""What one command of a line may change of what the others name.

Theory of operation
-------------------
Where a path leads, and which names a wildcard stands for, is looked up once, before
the line runs. A line can change that before it comes to the path:

    ln -s .bashrc ~/rc && echo x > ~/rc       the name is a link by then
    touch ./-ofile && sort *                  the wildcard finds an option by then

So a command is `relinked` if another one of its line may make links, and `refilled`
if another one may make files; in a loop it may be the same one. Then nobody can tell
where its paths lead, or that its wildcards hold no option. In which order commands of
a line run, and whether side by side, is not looked at.

What a program makes by itself, such as `make`, is not meant: who may run that needs
no link. Linking are programs whose words, or whose archives and patches, say which
links they make.

Invariants, checked by tests/core/policy/test_line_effects.py:

I1  One more command never makes another one less relinked or refilled.
"""

from collections.abc import Sequence
from dataclasses import replace

from holdfast.core.shell.simple_command import Command


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_LINKING = _words(
    "ln cp mv install rsync tar gtar bsdtar cpio pax unzip 7z 7za patch git hg svn"
    " jj mount busybox"
)
_LINKLESS_GIT = _words(
    "add annotate blame branch commit config describe diff fetch grep log ls-files"
    " ls-remote push reflog remote rev-list rev-parse rm shortlog show status tag"
)
_FILELESS = _words(
    "[ awk basename break cat cd continue cut df dirname du echo egrep exit export"
    " false fgrep file free grep head hostname id jobs jq ls nl nproc printenv printf"
    " ps pwd read readlink realpath seq sleep stat tac tail test tr true type uname"
    " unset uptime wait wc which whoami"
)


def with_effects(commands: Sequence[Command]) -> tuple[Command, ...]:
    """Return the commands of a line, each with what the others may change of it."""
    linking = [_may_link(one) for one in commands]
    filling = [_may_fill(one) for one in commands]
    if not any(filling):  # Whatever links makes a file.
        return tuple(commands)
    return tuple(
        replace(
            one,
            relinked=_is_met(number, linking, again=one.again),
            refilled=_is_met(number, filling, again=one.again),
        )
        for number, one in enumerate(commands)
    )


def _is_met(number: int, changing: Sequence[bool], *, again: bool) -> bool:
    return sum(changing) > (changing[number] and not again)


def _may_link(command: Command) -> bool:
    name = _name(command)
    if command.doubt or command.hides or name is None:
        return True
    if command.carries:
        return not _LINKING.isdisjoint(command.names)
    rest = command.words[1:]
    if name == "cp":  # It follows links, unless an option says otherwise.
        return any(one is None or one.startswith("-") for one in rest)
    if name == "git":
        return not (rest and rest[0] in _LINKLESS_GIT)
    return name in _LINKING


def _may_fill(command: Command) -> bool:
    if command.hides or any(one.writes for one in command.redirections):
        return True
    return _name(command) not in _FILELESS


def _name(command: Command) -> str | None:
    """Return the name of the program, or None if it is not known."""
    first = command.words[0] if command.words else ""
    return None if first is None else first.rsplit("/", 1)[-1]
