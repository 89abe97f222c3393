"""The command that the words of another command run.

Theory of operation
-------------------
`sudo -u anna make` runs `sudo`, and then `make`. It is *carrying*: a program or
a builtin whose own words go on with those of another command. For each of them a
WrapperSyntax says which of its options have a value, how many words stand before the
command, and whether assignments do.

An option that is not in the table may or may not have a value, so where the
command begins is then not known: the answer is None, never a guess. Nor is what
runs on another machine, among other files or with another PATH the file that our
own PATH has; such a program is `is_elsewhere`.

Invariants, checked by tests/core/shell/test_wrapped_commands.py:

I1  What is carried is a tail of the words.
I2  Words that are not known are never passed over as an option or its value.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

Word = str | None

_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=", re.ASCII)


@dataclass(frozen=True, slots=True)
class WrapperSyntax:
    """How the words of one program lead to another command."""

    valued: str = ""
    """Short options that have a value."""

    plain: str = ""
    """Short options that have none."""

    long_valued: frozenset[str] = frozenset()
    long_plain: frozenset[str] = frozenset()
    skipped: int = 0
    """Words between the options and the command."""

    assigns: bool = False
    """Whether assignments may stand before the command."""

    is_elsewhere: bool = False
    """Whether the command may be found elsewhere than the shell would find it."""

    is_builtin: bool = False
    """Whether the shell itself looks the command up, past aliases and functions."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


CARRYING: dict[str, WrapperSyntax] = {
    "builtin": WrapperSyntax(is_builtin=True),
    "chroot": WrapperSyntax(
        long_valued=_words("--userspec --groups"), skipped=1, is_elsewhere=True
    ),
    "command": WrapperSyntax(plain="p", is_builtin=True),
    "doas": WrapperSyntax("uC", "nsL", assigns=True, is_elsewhere=True),
    "env": WrapperSyntax(
        "uC",
        "i0v",
        _words("--unset --chdir"),
        _words("--ignore-environment --null --debug"),
        assigns=True,
    ),
    "exec": WrapperSyntax("a", "cl"),
    "flock": WrapperSyntax(
        "wEc",
        "sxuneoF",
        _words("--timeout --wait --conflict-exit-code --command"),
        _words("--shared --exclusive --unlock --nonblock --close --no-fork --verbose"),
        skipped=1,
    ),
    "ionice": WrapperSyntax(
        "cn", "t", _words("--class --classdata"), _words("--ignore")
    ),
    "nice": WrapperSyntax("n", "", _words("--adjustment")),
    "nohup": WrapperSyntax(),
    "pkexec": WrapperSyntax(
        long_valued=_words("--user"),
        long_plain=_words("--disable-internal-agent --keep-cwd"),
        is_elsewhere=True,
    ),
    "setsid": WrapperSyntax("", "cfw", frozenset(), _words("--ctty --fork --wait")),
    "stdbuf": WrapperSyntax("ioe", "", _words("--input --output --error")),
    "sudo": WrapperSyntax(
        "CDRTUghprtu",
        "ABEHKNPSbkn",
        _words(
            "--close-from --chdir --chroot --command-timeout --other-user --group"
            " --host --prompt --role --type --user"
        ),
        _words(
            "--askpass --bell --preserve-env --set-home --remove-timestamp"
            " --no-update --preserve-groups --stdin --background --reset-timestamp"
            " --non-interactive"
        ),
        assigns=True,
        is_elsewhere=True,
    ),
    "taskset": WrapperSyntax(
        "", "ac", frozenset(), _words("--all-tasks --cpu-list"), 1
    ),
    "time": WrapperSyntax(
        "fo", "pvaq", _words("--format --output"), _words("--portability")
    ),
    "timeout": WrapperSyntax(
        "ks",
        "v",
        _words("--kill-after --signal"),
        _words("--foreground --preserve-status --verbose"),
        skipped=1,
    ),
    "xargs": WrapperSyntax(
        "EILPadns",
        "0oprtx",
        _words(
            "--arg-file --delimiter --max-lines --max-args --max-procs --max-chars"
            " --replace --eof"
        ),
        _words("--null --open-tty --interactive --no-run-if-empty --verbose --exit"),
    ),
}
"""Programs that run the command which their own words end with."""

BLIND = frozenset(
    {
        *("awk", "busybox", "eval", "find", "gawk", "ltrace", "mawk", "nsenter"),
        *("parallel", "run0", "script", "setpriv", "ssh", "strace", "su"),
        *("systemd-run", "toybox", "trap", "unshare", "watch"),
    }
)
"""Programs that run what these tables do not tell."""


def carried(carrying: WrapperSyntax, words: Sequence[Word]) -> tuple[Word, ...] | None:
    """Return the words of the command that is carried: empty if there is none.

    None if the words do not tell where it begins.
    """
    rest = list(words[1:])
    while rest and (rest[0] is None or rest[0].startswith("-")):
        option = rest.pop(0)
        if option == "--":
            break
        value = None if option is None else _value(carrying, option)
        if value is None or (value and (not rest or rest[0] is None)):
            return None
        del rest[:value]
    while carrying.assigns and rest and _ASSIGNMENT.match(rest[0] or ""):
        del rest[0]
    if None in rest[: carrying.skipped]:
        return None
    return tuple(rest[carrying.skipped :])


def assigned(carrying: WrapperSyntax, words: Sequence[Word]) -> tuple[str, ...]:
    """Return which variables the program sets for the command, as far as is seen."""
    if not carrying.assigns:
        return ()
    found = (_ASSIGNMENT.match(word or "") for word in words[1:])
    return tuple(one[0].removesuffix("=") for one in found if one is not None)


def _value(carrying: WrapperSyntax, option: str) -> int | None:
    """Return how many words follow that are an option's value; None if unknown."""
    if option.startswith("--"):
        name, _, given = option.partition("=")
        if name in carrying.long_plain or (given and name in carrying.long_valued):
            return 0
        return 1 if name in carrying.long_valued else None
    for place, letter in enumerate(option[1:], 1):
        if letter in carrying.valued:
            return 0 if option[place + 1 :] else 1
        if letter not in carrying.plain:
            return None
    return 0 if len(option) > 1 else None
