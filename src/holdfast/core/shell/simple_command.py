"""One simple command of a line.

Theory of operation
-------------------
A line is read into its simple commands, one after the other, wherever they stand in
it: joined by `&&`, inside a loop or a subshell, in `$(…)`. Nothing says which of them
will run, how often and in what order; each is judged as if it ran. What rules need
of one is here:

    words         those that are known; None for one that the text does not spell out
    opens         beside each word, what it may become (OpenWord); None if it is known
    redirections  what is opened, and how: the target and an OpenWord, as with words
    assignments   what is set for it, by name; without words, in the shell itself
    folders       every folder it may run in, as seen from where the line begins:
                  "" is that one, "src" what `cd src && …` leads to; none if unknown
    keywords      words of the grammar before it (`for`, `then`, `{`), which a shell
                  may take for aliases
    again         whether it may run again after what follows it, in a loop
    relinked      whether another command of the line may make a link that it follows
    refilled      whether another may make a file that its wildcards find

A command is `altered` if it does more than its words say: it assigns something, or
opens something other than /dev/null or a descriptor that is open already.
"""

import enum
from dataclasses import dataclass

from holdfast.core.shell.open_words import OpenWord
from holdfast.model.resolutions import Resolved


class Way(enum.StrEnum):
    """How a redirection opens its target."""

    READ = "read"
    WRITE = "write"
    """What was in the file is lost."""

    APPEND = "append"
    BOTH = "both"
    """For reading and writing: `<>`."""

    DUPLICATE = "duplicate"
    """Nothing is opened: the target is a descriptor, or none."""

    TEXT = "text"
    """Nothing is opened: the target is the text itself, as in `<<< x`."""

    DOCUMENT = "document"
    """Nothing is opened: the target is the text of the lines that follow, `<< x`."""


@dataclass(frozen=True, slots=True)
class Redirection:
    """One redirection of a command."""

    way: Way
    target: str | None
    """The file, as it is written; None if the text does not spell it out."""

    open: OpenWord | None = None
    """What the target may be; None if it is known."""

    @property
    def is_harmless(self) -> bool:
        """Tell whether no file is opened but /dev/null."""
        if self.way is Way.DUPLICATE:
            return True
        return self.target == "/dev/null" and self.way is not Way.BOTH

    @property
    def feeds(self) -> bool:
        """Tell whether a text of the line itself is what the program reads."""
        return self.way in (Way.TEXT, Way.DOCUMENT)

    @property
    def writes(self) -> bool:
        """Tell whether a file may be made or changed by it."""
        ways = (Way.WRITE, Way.APPEND, Way.BOTH)
        return self.way in ways and not self.is_harmless


@dataclass(frozen=True, slots=True)
class Assignment:
    """One variable that is set."""

    name: str
    value: str | None
    """None if the text does not spell it out."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What can be seen of the words of a text, whatever else it may hold."""

    pieces: tuple[str, ...] = ()
    """Words in order, the first MAX_PIECES of them."""

    distinct: tuple[str, ...] = ()
    """The same and what is after a slash, a comma or an equals sign, each once."""

    joined: str = ""
    """All of `distinct` in one text, one to a line."""

    everything: frozenset[str] = frozenset()
    """All words and parts of words, however many there are."""


HERE = ("",)
"""The folder in which the line begins."""


@dataclass(frozen=True, slots=True)
class Command:
    """One simple command, or a text of which nothing is known but its pieces."""

    words: tuple[str | None, ...] = ()
    opens: tuple[OpenWord | None, ...] = ()
    """What each word may become that is not known; empty if nobody has looked."""

    redirections: tuple[Redirection, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    folders: tuple[str, ...] = HERE
    keywords: frozenset[str] = frozenset()
    again: bool = False
    relinked: bool = False
    refilled: bool = False

    touched: tuple[str | None, ...] = ()
    """What is assigned, and where output goes, as it is written."""

    names: frozenset[str] = frozenset()
    """Every word and target that is known, and its part after the last slash."""

    joined: str = ""
    """The same in one text, one to a line."""

    sight: Sight = Sight()

    doubt: str = ""
    carries: bool = False
    hides: bool = False

    is_quoted: bool = False
    """Whether its first word has quotes, by which a shell takes it for no alias."""

    resolved: Resolved | None = None
    """What it runs as things are now, if that was looked up."""

    @property
    def altered(self) -> bool:
        """Whether it does more than its words say."""
        return bool(self.assignments) or not all(
            one.is_harmless for one in self.redirections
        )

    @property
    def moved(self) -> bool:
        """Whether something before it may have changed the folder to any other."""
        return not self.folders
