"""What each command of a line would run now, and who staged it.

Theory of operation
-------------------
The first word of a command is looked up in the order in which the shell does it:

    alias ─▶ keyword ─▶ function ─▶ builtin ─▶ file: by its path, or on the PATH

An alias stands for the beginning of another line, which is read and resolved like
this one; an alias in its own text is no alias any more. A file that begins with
`#!` is a script, and its interpreter a program on the way. What the words of
`sudo`, `xargs` and other carrying programs name, and of an interpreter (`sh x`,
`sh -c '…'`), is resolved as well. Each step is a Link.

Everything on the way that changed in this session is a Staging, with the
authors of the command that changed it: aliases, functions, folders of the PATH,
variables that change what programs do, files by the moment of their last change.
A variable counts only where a program may run, so that one who finds it can unset
it; what runs at every prompt (PROMPT_COMMAND, PS1) is no line's doing.

Of a text that cannot be read as a line (`deploy $(date)`, several lines), words are
looked up by themselves, wherever they stand: what was staged under such a name
counts as used.

What this cannot know, and says as a *doubt*: what a function does; what follows a
command that may have changed the shell (`export PATH=…; x`); a file that is not
there or may not be looked at; what `sudo` finds by a PATH of its own. bash and
zsh remember where they once found a program: so if the file that the PATH has, or
its folder, was put there in this session, the others that the PATH has count too.
zsh's global and suffix aliases change words in other places; they are not known
here. fish has no aliases but functions, and its abbreviations are expanded while
a line is edited, before we see it entered.

Invariants, checked by tests/core/provenance/test_line_resolution.py and its neighbours:

I1  There is one Resolved for each command, and no input raises anything.
I2  A command without a doubt runs its links and nothing else that words tell.
I3  Whatever a command uses and has an origin is staged by that origin's actors.
I4  No command has more than MAX_LINKS links, and no more than MAX_LOOKS files are
    looked at for a line.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import dropwhile

from holdfast.core.provenance.originators import Origin, Origins
from holdfast.core.shell import shell_words
from holdfast.core.shell.command_line import read_line
from holdfast.core.shell.shell_grammar import grammar_of
from holdfast.core.shell.shell_state import Item, ItemKind, ShellState
from holdfast.core.shell.simple_command import Command
from holdfast.core.shell.wrapped_commands import (
    BLIND,
    CARRYING,
    WrapperSyntax,
    assigned,
    carried,
)
from holdfast.model.resolutions import Link, Resolution, Resolved, Sort, Staging, Thing

MAX_LINKS = 32
"""Links of one command: more than any honest chain of aliases and interpreters."""

MAX_LOOKS = 256
"""Files looked at for one line: sixteen commands on a PATH of sixteen folders."""

MAX_GLIMPSED = 64
"""Words looked up of a text that cannot be read."""

MAX_DEPTH = 8
"""Lines within lines: an alias in an alias, `sh -c` in `sudo`."""

MAX_INTERPRETER = 120
"""Characters of a `#!` line that are read; the kernel reads 255."""

_INTERPRETER = re.compile(rb"#![ \t]*([!-~]+)(?:[ \t]+([!-~]+))?[ \t]*$")

_THINGS = {
    ItemKind.ALIAS: Thing.ALIAS,
    ItemKind.FUNCTION: Thing.FUNCTION,
    ItemKind.PATH_ENTRY: Thing.PATH_ENTRY,
    ItemKind.VARIABLE: Thing.VARIABLE,
}
_OWN = frozenset({"PATH", "CDPATH", "PROMPT_COMMAND", "PS0", "PS1", "PS4"})
"""Variables that matter in one place only: the first two where they are asked for,
the others at the prompt, whatever the line."""

_BY_ITSELF = (Sort.ALIAS, Sort.KEYWORD, Sort.BUILTIN)

_OPTIONS = ("-p", "--")
"""What may stand between the keyword `time` and the command that it times."""

_JOINTS = (";", "&", "|")
"""How the text of an alias ends after which another command begins."""

_NO_WORD = "its first word is not known"
_TOLD = "it sets a variable that changes what it runs"
_SHIFTED = "something before it in the line may change what it means"


@dataclass(frozen=True, slots=True)
class Found:
    """A regular file, as it is now."""

    path: str
    """Absolute, with every link on the way followed."""

    is_executable: bool
    changed_ms: tuple[int, ...]
    """When the file was last changed in whichever way, and each link to it."""

    head: bytes
    digest: bytes = b""
    """Of its content; empty if it is too large."""


@dataclass(frozen=True, slots=True)
class Unseen:
    """What is there, if anything, may not be looked at."""


Look = Callable[[str], Found | Unseen | None]
"""Returns what is behind a path; None if there is no file. A path that is not
absolute begins where the shell works."""


@dataclass(frozen=True, slots=True)
class Shell:
    """The shell that a line is entered into, as it was at its prompt."""

    state: ShellState | None
    """None if it is not known."""

    origins: Origins
    name: str = "bash"


def resolve(commands: Sequence[Command], shell: Shell, look: Look) -> Resolution:
    """Return what each command of a line runs."""
    state = shell.state
    if state is None:
        unknown = Resolved(doubt="the state of the shell is not known")
        return Resolution((unknown,) * len(commands))
    files = _Files(look)
    found: list[Resolved] = []
    is_shifted = False
    # What changes the shell in a loop comes before all of it in the next round.
    is_looping = any(one.again and _shifts(one) for one in commands)
    for command in commands:
        is_shifted = is_shifted or (is_looping and command.again)
        walk = _Walk(shell, state, files, is_shifted)
        found.append(walk.resolved(command))
        is_shifted = walk.is_shifted
    return Resolution(tuple(found), state.environment)


def _shifts(command: Command) -> bool:
    """Tell whether a command may change what the ones after it mean."""
    first = command.words[0] if command.words else None
    return first is None or first in shell_words.SHIFTERS


def changes_plainly(shell: Shell) -> bool:
    """Tell whether `cd` changes to the folder that its word names, and to no other."""
    state = shell.state
    # zsh has a CDPATH always, and an empty one; "." is the folder itself.
    if state is None or state.environment.get("CDPATH", "") not in ("", "."):
        return False
    # fish comes with a function of that name, and tells of any other (`told`). What it
    # leaves out is of its prompt.
    is_told = state.is_whole or shell.name == "fish"
    named = (Item(kind, "cd") for kind in (ItemKind.FUNCTION, ItemKind.ALIAS))
    return is_told and not any(one in state.items for one in named)


@dataclass(slots=True)
class _Files:
    """Looks at files, up to a limit."""

    look: Look
    left: int = MAX_LOOKS
    seen: dict[str, Found | Unseen | None] = field(default_factory=dict)

    def __call__(self, path: str) -> Found | Unseen | None:
        if path not in self.seen:
            if not self.left:
                return Unseen()
            self.left -= 1
            self.seen[path] = self.look(path)
        return self.seen[path]


@dataclass(slots=True)
class _Walk:
    """Follows one command to what it runs."""

    shell: Shell
    state: ShellState
    files: _Files
    is_shifted: bool
    """Whether what came before in the line may have changed what words mean."""

    links: list[Link] = field(default_factory=list)
    staged: dict[Staging, None] = field(default_factory=dict)
    doubt: str = ""

    def resolved(self, command: Command) -> Resolved:
        if not self.state.is_whole:
            self._doubt("the shell has more state than it could report")
        self._command(command, frozenset(), 0)
        # What the shell does by itself no variable changes: it can be set right.
        if self.doubt or any(link.sort not in _BY_ITSELF for link in self.links):
            for name in self.state.environment:
                if name not in _OWN:
                    self._item(ItemKind.VARIABLE, name)
        return Resolved(tuple(self.links[:MAX_LINKS]), tuple(self.staged), self.doubt)

    # ── the shell's own words ─────────────────────────────────────────────

    def _command(self, command: Command, used: frozenset[str], depth: int) -> None:
        was_shifted = self.is_shifted
        self._keywords(command)
        if command.touched and not command.words:
            self.is_shifted = True
        if any(changes_meaning((one or "").split("=")[0]) for one in command.touched):
            self._doubt(_TOLD)
        if command.doubt or was_shifted:
            self._doubt(command.doubt or _SHIFTED)
            self._glimpse(command.sight.pieces or command.words)
            self.is_shifted = True
        elif command.words and not self._is_too_long(depth):
            self._first(command, used, depth)

    def _keywords(self, command: Command) -> None:
        """Look whether a word of the grammar is an alias, which would come first."""
        for word in sorted(command.keywords):
            if Item(ItemKind.ALIAS, word) in self.state.items:
                self._item(ItemKind.ALIAS, word)
                digest = self.state.items[Item(ItemKind.ALIAS, word)]
                text = self.state.aliases.get(word, "")
                self.links.append(Link(Sort.ALIAS, word, digest, text))
                self._doubt("a word of the grammar is an alias")

    def _glimpse(self, words: Sequence[str | None]) -> None:
        """Find staged things by name alone, where it is unknown what runs."""
        seen = [one for one in dict.fromkeys(words) if one][:MAX_GLIMPSED]
        for word in seen:
            for kind in (ItemKind.ALIAS, ItemKind.FUNCTION):
                if Item(kind, word) in self.state.items and self._item(kind, word):
                    digest = self.state.items[Item(kind, word)]
                    text = self.state.aliases.get(word, "")
                    self.links.append(Link(Sort(kind.value), word, digest, text))
        of = self.shell.origins.of
        for folder in self.state.path or ():
            if of(Item(ItemKind.PATH_ENTRY, folder)) is not None:
                self._glimpse_in(folder, seen)

    def _glimpse_in(self, folder: str, words: Sequence[str]) -> None:
        for word in words:
            found = self.files(f"{folder}/{word}")
            if isinstance(found, Found) and found.is_executable:
                self._item(ItemKind.PATH_ENTRY, folder)
                self._use(found)
                self.links.append(Link(Sort.SCRIPT, found.path, found.digest))

    def _first(self, command: Command, used: frozenset[str], depth: int) -> None:
        word = command.words[0]
        if word is None:
            self._doubt(_NO_WORD)
            self.is_shifted = True
        elif command.is_quoted:
            self._plain(word, command.words, depth)
        elif word not in used and Item(ItemKind.ALIAS, word) in self.state.items:
            self._alias(word, command, used | {word}, depth)
        elif word in shell_words.KEYWORDS.get(self.shell.name, ()):
            self.links.append(Link(Sort.KEYWORD, word))
            rest = tuple(dropwhile(lambda one: one in _OPTIONS, command.words[1:]))
            self._command(Command(rest), used, depth + 1)
        else:
            self._plain(word, command.words, depth)

    def _alias(
        self, word: str, command: Command, used: frozenset[str], depth: int
    ) -> None:
        text = self.state.aliases.get(word)
        self._item(ItemKind.ALIAS, word)
        digest = self.state.items[Item(ItemKind.ALIAS, word)]
        self.links.append(Link(Sort.ALIAS, word, digest, text or ""))
        if text is None:
            self._doubt("what an alias stands for is not known")
            return
        if text.rstrip().endswith(_JOINTS):
            self._doubt("what follows an alias is a command by itself")
        raw = text.encode("utf-8", "replace")
        *before, last = read_line(raw, grammar_of(self.shell.name), ended=True)
        rest = command.words[1:]
        for one in before:
            self._command(one, used, depth + 1)
        if text.endswith((" ", "\t")):
            self._command(Command(rest), used, depth + 1)  # It may be an alias, too.
        self._command(replace(last, words=(*last.words, *rest)), used, depth + 1)

    def _plain(self, word: str, words: Sequence[str | None], depth: int) -> None:
        function = Item(ItemKind.FUNCTION, word)
        if function in self.state.items:
            self._item(*function)
            digest = self.state.items[function]
            self.links.append(Link(Sort.FUNCTION, word, digest))
            self._doubt("what a function does is not known")
            self.is_shifted = True
        else:
            self._past_functions(words, depth, is_shell=True)

    def _builtin(self, word: str) -> None:
        self.links.append(Link(Sort.BUILTIN, word))
        self.is_shifted = self.is_shifted or word in shell_words.SHIFTERS
        if word in shell_words.MOVERS and "CDPATH" in self.state.environment:
            self._item(ItemKind.VARIABLE, "CDPATH")

    def _past_functions(
        self, words: Sequence[str | None], depth: int, *, is_shell: bool
    ) -> None:
        """Resolve words that are no alias and no function, also carried ones."""
        word = words[0] if words else ""
        if word is None:
            self._doubt(_NO_WORD)
        elif word and not self._is_too_long(depth):
            builtins = shell_words.BUILTINS.get(self.shell.name, frozenset())
            if is_shell and word in builtins:
                self._builtin(word)
            else:
                self._file(word, depth)
            self._carried(word, words, depth + 1)

    # ── what it carries ───────────────────────────────────────────────────

    def _carried(self, word: str, words: Sequence[str | None], depth: int) -> None:
        name = word.rsplit("/", 1)[-1]
        if name in BLIND:
            self._doubt(f"what {name} runs is not in its words")
        elif (carrying := CARRYING.get(name)) is not None:
            self._carries(carrying, words, depth)
        elif name in shell_words.SOURCING:
            self._script(words[1] if len(words) > 1 else None)
        elif name.rstrip("0123456789.") in shell_words.INTERPRETERS:
            self._interprets(name, words, depth)

    def _carries(
        self, carrying: WrapperSyntax, words: Sequence[str | None], depth: int
    ) -> None:
        inner = carried(carrying, words)
        if inner is None:
            self._doubt("where the command begins that it runs is not known")
            return
        if carrying.is_elsewhere and inner:
            self._doubt("it looks for the command in its own way")
        if any(changes_meaning(name) for name in assigned(carrying, words)):
            self._doubt(_TOLD)
        self._past_functions(inner, depth, is_shell=carrying.is_builtin)

    def _interprets(self, name: str, words: Sequence[str | None], depth: int) -> None:
        first, *rest = *words[1:], None
        text = (
            rest[0] if first == "-c" and rest and name in shell_words.SHELLS else None
        )
        if text is not None:
            self._text(text, name, depth)
        elif first is None or first.startswith("-"):
            self._doubt("what it will run is not in a file")
        else:
            self._script(first)

    def _text(self, text: str, shell: str, depth: int) -> None:
        raw = text.encode("utf-8", "replace")
        inner = read_line(raw, grammar_of(shell), ended=True)
        if len(inner) > 1:
            self._doubt(_SHIFTED)
        for command in inner:
            if command.doubt:
                self._doubt(command.doubt)
            self._past_functions(command.words, depth + 1, is_shell=True)

    def _script(self, path: str | None) -> None:
        found = None if path is None else self.files(path)
        if not isinstance(found, Found):
            self._doubt("the script that it runs cannot be looked at")
            return
        self._use(found)
        self.links.append(Link(Sort.SCRIPT, found.path, found.digest))

    # ── files ─────────────────────────────────────────────────────────────

    def _file(self, word: str, depth: int) -> None:
        if "/" in word:
            self._run(self.files(word), depth)
        elif self.state.path is None:
            self._doubt("the PATH of the shell is not known")
        else:
            self._search(word, self.state.path, depth)

    def _search(self, word: str, path: tuple[str, ...], depth: int) -> None:
        ran: set[str] = set()
        for folder in path:
            found = self.files(f"{folder or '.'}/{word}")
            if isinstance(found, Unseen):
                self._doubt("a folder of the PATH cannot be looked at")
            elif found is not None and found.is_executable and found.path not in ran:
                ran.add(found.path)
                is_new = self._item(ItemKind.PATH_ENTRY, folder)
                # What was put there lately may not be what the shell remembers.
                if not (self._run(found, depth) or is_new):
                    return
        if not ran:
            self._doubt("no file of the PATH has this name")

    def _run(self, found: Found | Unseen | None, depth: int) -> bool:
        """Follow a file that is executed; tell whether it changed in this session."""
        if not isinstance(found, Found):
            self._doubt("the file that it runs cannot be looked at")
            return False
        is_new = self._use(found)
        is_program = found.head.startswith(b"\x7fELF")
        sort = Sort.PROGRAM if is_program else Sort.SCRIPT
        self.links.append(Link(sort, found.path, found.digest))
        if found.head.startswith(b"#!"):
            self._interpreter(found, depth)
        return is_new

    def _interpreter(self, found: Found, depth: int) -> None:
        line = found.head.split(b"\n", 1)[0]
        told = _INTERPRETER.match(line[:MAX_INTERPRETER])
        if told is None or self._is_too_long(depth):
            self._doubt("the interpreter of a script cannot be determined")
            return
        self._run(self.files(told[1].decode()), depth + 1)
        if told[2] is not None and told[1].endswith(b"/env"):
            self._file(told[2].decode(), depth + 1)

    # ── who staged it ─────────────────────────────────────────────────────

    def _item(self, kind: ItemKind, name: str) -> bool:
        origin = self.shell.origins.of(Item(kind, name))
        return self._origin(_THINGS[kind], name, origin)

    def _use(self, found: Found) -> bool:
        origins = [self.shell.origins.at(moment) for moment in found.changed_ms]
        new = [self._origin(Thing.FILE, found.path, origin) for origin in origins]
        return any(new)

    def _origin(self, thing: Thing, name: str, origin: Origin | None) -> bool:
        if origin is None:
            return False
        by, is_known = origin.actors, bool(origin.trigger)
        self.staged[Staging(thing, name, by, origin.command, is_known)] = None
        return True

    # ── what cannot be told ───────────────────────────────────────────────

    def _is_too_long(self, depth: int) -> bool:
        if depth <= MAX_DEPTH and len(self.links) < MAX_LINKS:
            return False
        self._doubt("the chain is too long")
        return True

    def _doubt(self, why: str) -> None:
        self.doubt = self.doubt or why


def changes_meaning(variable: str) -> bool:
    """Tell whether a variable decides what a program is or does."""
    return variable in _TELLING or variable.startswith(("LD_", "DYLD_", "BASH_FUNC_"))


_TELLING = frozenset(
    {
        *("PATH", "BASH_ENV", "ENV", "IFS", "SHELLOPTS", "BASHOPTS", "FPATH"),
        *("PYTHONPATH", "PYTHONSTARTUP", "PERL5LIB", "PERL5OPT", "RUBYLIB"),
        *("RUBYOPT", "NODE_OPTIONS", "ZDOTDIR", "HOME"),
    }
)
"""Variables that decide what a program is or does, whatever its words say."""
