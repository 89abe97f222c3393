from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.policy_world import question, said

from holdfast.core.policy.command_words import Match
from holdfast.core.policy.file_access import FilePatterns, Options
from holdfast.core.policy.meant_folders import MeantFolders
from holdfast.core.policy.named_paths import every_path
from holdfast.core.shell.command_line import read_line
from holdfast.core.shell.open_words import ANYTHING, OpenWord
from holdfast.core.shell.shell_grammar import Grammar
from holdfast.core.shell.simple_command import Command, Redirection, Way
from holdfast.model.inputs import InputKind
from holdfast.model.policy_questions import NamedPath, Question

YES, NO, MAYBE = Match.YES, Match.NO, Match.MAYBE
HOME = "/home/ann"
OPTIONS = Options(("-o", "--output*", "--pre", "-exec", "*=*"))
WORK = MeantFolders(("~",), ("~/.*",))

RULE = """
[folders]
work = ["~", "!~/.*"]

[[rule]]
name = "read"
verdict = "allow"
first = ["cat", "grep", "sort"]
paths = "@work"
writes = "@work"
without = ["-o", "--output"]

[[rule]]
name = "build"
verdict = "allow"
first = "make"
writes = ["@work", "/srv"]
sets = ["DEBUG", "CI*"]

[[rule]]
name = "keys"
verdict = "deny"
first = ["scp", "rm"]
paths = "~/.ssh"

[[rule]]
name = "overwrite"
verdict = "deny"
first = "dump"
writes = "~/.ssh"

[[rule]]
name = "quiet"
verdict = "ask"
first = "push"
without = "--dry-run"
"""


def placed(line: str, **more: Any) -> Question:  # noqa: ANN401  # whichever
    commands = read_line(line.encode(), Grammar.BASH, ended=True)
    paths: dict[NamedPath, tuple[str, ...] | None] = {
        one: (one.text if one.text.startswith("/") else f"{HOME}/src/{one.text}",)
        for one in every_path(commands)
        if one.tail is None
    }
    for_all: dict[str, Any] = {"cwd": f"{HOME}/src", "home": HOME, "paths": paths}
    return question(line.encode(), **{**for_all, **more})


def judged(line: str, **more: Any) -> str:  # noqa: ANN401  # whichever
    asked = placed(line, **more)
    members = {name: getattr(asked, name) for name in ("cwd", "home", "paths", "own")}
    verdict, rule = said(RULE, line.encode(), **members, shell="bash")  # noqa: S604
    return f"{verdict} {rule}"


@pytest.mark.parametrize(
    ("word", "has"),
    [
        ("-o", True),
        ("-ofile", True),
        ("-ro", True),
        ("--output", True),
        ("--output=x", True),
        ("--outp", True),
        ("--o=x", True),
        ("--outputs", True),
        ("--pre", True),
        ("--pr", True),
        ("--preview", False),
        ("-exec", True),
        ("-execdir", False),
        ("a=b", True),
        ("-r", False),
        ("--", False),
        ("-", False),
        ("o", False),
        ("--color", False),
    ],
)
def test_an_option_is_found_however_it_is_spelled(word: str, *, has: bool) -> None:
    assert OPTIONS.has(word) is has


@pytest.mark.parametrize(
    ("word", "may"),
    [
        (ANYTHING, True),
        (OpenWord("--", is_one=True), True),
        (OpenWord("a=", is_one=True), True),
        (OpenWord("x", has_slash=False, is_one=True), True),
        (OpenWord("./", tail="/y", has_slash=False), True),
    ],
)
def test_what_may_become_an_option_may_be_one(word: OpenWord, *, may: bool) -> None:
    assert OPTIONS.may_have(word) is may
    assert not Options(("-o",)).may_have(OpenWord("./"))
    assert Options(("-o",)).may_have(OpenWord(tail="x"))


@pytest.mark.parametrize(
    ("text", "word", "has"),
    [
        ("-o", "-xo", True),
        ("-exec", "-xe", False),
        ("xo", "-o", False),
        ("--out", "-o", False),
    ],
)
def test_only_short_options_stand_together(text: str, word: str, *, has: bool) -> None:
    assert Options((text,)).has(word) is has


@pytest.mark.parametrize(
    ("line", "verdict"),
    [
        ("cat a b", "allow read"),
        ("cat a > b", "allow read"),
        ("cat a >> b 2> c", "allow read"),
        ("cat < a", "allow read"),
        ("cat /home/ann/.ssh/key", "deny default-agent"),
        ("cat /home/ann", "deny default-agent"),
        ("cat /etc/passwd", "deny default-agent"),
        ("cat a > /home/ann/.bashrc", "deny default-agent"),
        ("cat < /home/ann/.ssh/key", "deny default-agent"),
        ("cat a <> b", "allow read"),
        ("cat a <> /etc/x", "deny default-agent"),
        ("awk '{print $1}' a", "deny default-agent"),
        ("cat a > /dev/null", "allow read"),
        ("cat /dev/null", "allow read"),
        ("grep x --file=/home/ann/.ssh/key", "deny default-agent"),
        ("grep x -f/home/ann/.ssh/key", "deny default-agent"),
        ("sort -o b a", "deny default-agent"),
        ("sort --outp=b a", "deny default-agent"),
        ("cat $x", "ask undecidable"),
        ("cat a > $x", "ask undecidable"),
        ("x=1 cat a", "ask undecidable"),
        ("cat $((x))", "ask undecidable"),
        ("make x > /srv/y", "allow build"),
        ("make x < a", "ask undecidable"),
        ("make $x", "allow build"),
        ("DEBUG=1 CI=y make", "allow build"),
        ("DEBUG=$x make", "allow build"),
        ("DEBUG=1 LD_PRELOAD=x make", "deny default-agent"),
        ("scp /home/ann/.ssh/key h", "deny keys"),
        ("scp a /home/ann", "deny keys"),
        ("scp a h < /home/ann/.ssh/key", "deny keys"),
        ("scp a h", "deny default-agent"),
        ("dump > /home/ann/.ssh/x", "deny overwrite"),
        ("dump > a", "deny default-agent"),
        ("push", "ask quiet"),
        ("push --dry-run", "deny default-agent"),
        ("push --dr", "deny default-agent"),
    ],
)
def test_rules_say_where_programs_may_reach(line: str, verdict: str) -> None:
    assert judged(line) == verdict


def test_what_was_not_looked_up_may_lead_anywhere() -> None:
    assert judged("cat a", paths={}) == "ask undecidable"
    assert judged("cat a", paths={NamedPath("", "a"): None}) == "ask undecidable"
    assert judged("cat a", home=None) == "ask undecidable"
    allowed = '[[rule]]\nname="any"\nverdict="allow"\n'
    for line in (b"scp a h", b"dump > a", b"rm $(x)"):
        assert said(allowed + RULE, line)[0] != "allow"


def test_holdfast_s_own_folders_are_nobody_s() -> None:
    assert judged("cat a", own=(f"{HOME}/src",)) == "deny default-agent"
    assert judged("cat a", own=(f"{HOME}/src/a/b",)) == "deny default-agent"
    assert judged("make > a", own=(f"{HOME}/src",)) == "deny default-agent"


def test_a_rule_about_files_is_about_text() -> None:
    assert said(RULE, b"2", kind=InputKind.SIGNAL) == ("deny", "default-agent")


def test_names_of_files_are_options_if_one_looks_like_it() -> None:
    glob = OpenWord(tail=".py", has_slash=False, files=("", ".py"))
    command = Command(("sort", None), (None, glob))
    patterns = FilePatterns(Options(("-o",)), paths=WORK)
    named = NamedPath("", "", ".py")
    plain = question(paths={named: (f"{HOME}/src/a.py",)}, home=HOME)
    odd = question(paths={named: None}, home=HOME)

    assert patterns.allowing(command, plain) is YES
    assert patterns.allowing(command, odd) is MAYBE
    dashed = OpenWord("-", has_slash=False)
    assert patterns.allowing(Command(("sort", None), (None, dashed)), plain) is MAYBE
    lost = Command(("sort", None), (None, glob), folders=())
    assert patterns.allowing(lost, plain) is MAYBE


def test_a_text_is_input_only_for_what_reads_files() -> None:
    text = Command(("cat",), redirections=(Redirection(Way.TEXT, "x"),))

    assert FilePatterns(paths=WORK).allowing(text, question()) is YES
    assert FilePatterns(writes=WORK).allowing(text, question()) is MAYBE
    for program in (replace(text, hides=True), replace(text, carries=True)):
        assert FilePatterns(paths=WORK).allowing(program, question()) is MAYBE


def test_what_hides_something_may_reach_anything() -> None:
    hidden = Command(("sh", "-c"), hides=True)

    assert FilePatterns(paths=WORK).preventing(hidden, question()) is MAYBE
    assert FilePatterns(writes=WORK).preventing(hidden, question()) is MAYBE
    assert FilePatterns().preventing(hidden, question()) is YES


WORDS = st.sampled_from(["a", "/etc/x", "-o", "$x", "/home/ann/.ssh", "-r", "> b"])


@given(st.lists(WORDS, max_size=4), WORDS)
def test_i2_one_more_word_never_makes_it_allowed(words: list[str], more: str) -> None:
    fewer, longer = " ".join(["sort", *words]), " ".join(["sort", *words, more])

    assert judged(longer) != "allow read" or judged(fewer) == "allow read"


@pytest.mark.parametrize(
    ("line", "match"), [("push $X", MAYBE), ("push x", YES), ("push -o", NO)]
)
def test_a_word_that_may_become_an_option_leaves_it_undecided(
    line: str, match: Match
) -> None:
    wanted = FilePatterns(without=OPTIONS)
    (command,) = read_line(line.encode(), Grammar.BASH, ended=True)

    assert wanted.allowing(command, placed(line)) is match
    assert wanted.preventing(command, placed(line)) is match


def test_where_nobody_knows_the_folder_names_of_files_may_be_options() -> None:
    commands = read_line(b"cd $X; push *.py", Grammar.BASH, ended=True)
    wanted = FilePatterns(without=OPTIONS)

    assert commands[-1].folders == ()
    assert wanted.allowing(commands[-1], placed("push *.py")) is MAYBE
