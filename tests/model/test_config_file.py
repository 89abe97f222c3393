import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.model.config_file import MAX_FILE, MAX_PROBLEMS, read_config
from holdfast.model.settings import KEYS, Settings

WHOLE = b"""
prefix = "C-a"
view = "framed"
shell = ["bash", "-l"]
term = "tmux-256color"
window = "16M"
runtime = "capsule"

[keys]
next = "j"
help = ""

[colours]
notice = "bold white on blue"

[notifications]
bell = false
desktop = true

[recover]
automatic = true
environment = false
"""

PIECES = [
    *('prefix = "C-a"\n', 'prefix = "C-]"\n', "prefix = 3\n", 'view = "raw"\n'),
    *("[keys]\n", 'next = "x"\n', 'last = "x"\n', 'who = "C-a"\n', 'help = ""\n'),
    *("[colours]\n", 'notice = "red"\n', "[notifications]\n", "bell = 1\n", "junk"),
    *("window = 99\n", "keys = 1\n", 'keys.next = "x"\n', "\n", "# x\n", "\x00"),
]

SHELL = 'expected a program, or ["program", "argument"]'
TERM = 'expected the name of a terminal: "xterm-256color"'
KEY = 'expected a key such as "d", "C-d" or "Tab"'
COLOUR = 'expected a colour: "bold white on blue"'
FLAG = "expected true or false"


def problems(raw: bytes) -> list[str]:
    return [str(one) for one in read_config(raw)[1]]


def same(one: Settings, other: Settings) -> bool:
    return vars(one) == vars(other)


def test_an_empty_file_leaves_everything_as_it_is() -> None:
    settings, found = read_config(b"")

    assert same(settings, Settings())
    assert not found


def test_everything_can_be_set() -> None:
    settings, found = read_config(WHOLE)

    assert not found
    assert settings.prefix == 1
    assert settings.view == "framed"
    assert settings.shell == ("bash", "-l")
    assert settings.term == "tmux-256color"
    assert settings.window == 16 << 20
    assert settings.runtime == "capsule"
    assert settings.keys["next"] == ord("j")
    assert "help" not in settings.keys
    assert settings.colours["notice"] == "bold white on blue"
    assert settings.colours["selected"] == "reverse"
    assert not settings.bell
    assert settings.desktop
    assert settings.recovers
    assert not settings.keeps_environment


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ('prefix = "d"', 'line 1: prefix: expected a key with Ctrl, such as "C-a"'),
        ("prefix = 3", 'line 1: prefix: expected a key with Ctrl, such as "C-a"'),
        ('\nprefix = "C-m"', "line 2: prefix: Enter is a key of its own"),
        ('view = "x"', 'line 1: view: expected "auto", "raw" or "framed"'),
        ("view = []", 'line 1: view: expected "auto", "raw" or "framed"'),
        ('shell = ""', f"line 1: shell: {SHELL}"),
        ('shell = ["", "x"]', f"line 1: shell: {SHELL}"),
        ("shell = 1", f"line 1: shell: {SHELL}"),
        ("shell = [1]", f"line 1: shell: {SHELL}"),
        (
            'shell = "a\\u0000"',
            f"line 1: shell: {SHELL}",
        ),
        (
            f'shell = "{"a" * 5000}"',
            f"line 1: shell: {SHELL}",
        ),
        ('term = "a b"', f"line 1: term: {TERM}"),
        ("term = 1", f"line 1: term: {TERM}"),
        ('window = "x"', 'line 1: window: expected a size such as "16M"'),
        ('runtime = "vm"', 'line 1: runtime: expected "plain" or "capsule"'),
        ("runtime = 1", 'line 1: runtime: expected "plain" or "capsule"'),
        ("window = true", 'line 1: window: expected a size such as "16M"'),
        ('window = "1K"', "line 1: window: expected 1M to 256M"),
        ("window = 999999999999", "line 1: window: expected 1M to 256M"),
        ("keys = 1", "line 1: keys: expected a table: [keys]"),
        ('[keys]\n\nfly = "x"', "line 3: keys.fly: unknown name"),
        ('[keys]\nnext = "xx"', f"line 2: keys.next: {KEY}"),
        ("[keys]\nnext = 1", f"line 2: keys.next: {KEY}"),
        ('[keys]\nnext = "C-]"', "line 2: keys.next: Ctrl-] is the prefix"),
        ('[keys]\nnext="x"\nlast="x"', "line 3: keys.last: x is the key of next"),
        ('keys.next = "C-]"', "line 1: keys.next: Ctrl-] is the prefix"),
        ('keys = { next = "C-]" }', "line 1: keys.next: Ctrl-] is the prefix"),
        ('[keys]\n"next" = "C-]"', "line 2: keys.next: Ctrl-] is the prefix"),
        ("[ keys ]\n'next' = \"C-]\"", "line 2: keys.next: Ctrl-] is the prefix"),
        ('[colours]\nnotice = "mauve"', f"line 2: colours.notice: {COLOUR}"),
        ("[colours]\nnotice = 1", f"line 2: colours.notice: {COLOUR}"),
        ('[colours]\nsky = "blue"', "line 2: colours.sky: unknown name"),
        ("[notifications]\nbell = 1", f"line 2: notifications.bell: {FLAG}"),
        ("[notifications]\nhorn = true", "line 2: notifications.horn: unknown name"),
        ("[recover]\nautomatic = 1", f"line 2: recover.automatic: {FLAG}"),
        ("[recover]\nnever = true", "line 2: recover.never: unknown name"),
        ("colour = 1", "line 1: colour: unknown name"),
        ("\n[sounds]\nx = 1", "line 2: sounds: unknown name"),
        ('"\\u006bey" = 1', "key: unknown name"),
        ("a.b.c = 1", "line 1: a: unknown name"),
        ('[colours]\n[keys]\nfly = "x"', "line 3: keys.fly: unknown name"),
    ],
)
def test_a_mistake_is_named_with_its_line_and_has_its_default(
    raw: str, said: str
) -> None:
    settings, _ = read_config(raw.encode())

    assert problems(raw.encode()) == [said]
    assert same(settings, Settings()) or "is the key of" in said


def test_a_mistake_leaves_the_rest_in_force() -> None:
    settings, found = read_config(b'view = "x"\nwindow = "2M"\nfly = 1\n')

    assert settings.window == 2 << 20
    assert [one.line for one in found] == [1, 3]


def test_what_is_no_toml_is_named_with_its_line_too() -> None:
    assert problems(b'view = "raw"\nfly me\n')[0].startswith("line 2: it is not TOML: ")
    assert problems(b"x = 1\n\xff")[0] == "line 2: it is not UTF-8"
    assert problems(b"a." * 100)[0] == "line 1: it has over 64 dots in one line"
    assert problems(b"#" * (MAX_FILE + 1))[0].startswith("it is over")


def test_a_fault_without_a_line_is_still_named() -> None:
    assert problems(b"a = " + b"[" * 5000)[0].startswith("it is not TOML")


def test_no_file_has_endless_problems() -> None:
    raw = "".join(f"x{number} = 1\n" for number in range(500))

    assert len(problems(raw.encode())) == MAX_PROBLEMS


def test_a_key_that_is_set_wins_over_a_default() -> None:
    settings, found = read_config(b'[keys]\nnext = "s"\n')

    assert not found
    assert settings.keys["next"] == ord("s")
    assert "switch" not in settings.keys


def test_nothing_stays_on_a_key_that_became_the_prefix() -> None:
    settings, _ = read_config(b'prefix = "C-b"\n[keys]\nnext = "C-b"\n')

    assert settings.keys["next"] == ord("n")


@given(st.lists(st.sampled_from(PIECES)).map("".join).map(str.encode) | st.binary())
@example(b'[keys]\nnext = "d"\ndetach = "n"\n')
def test_whatever_the_file_says_no_key_is_ambiguous(raw: bytes) -> None:
    settings, _ = read_config(raw)
    bytes_used = list(settings.keys.values())

    assert settings.keys.keys() <= KEYS.keys()
    assert len(set(bytes_used)) == len(bytes_used)
    assert settings.prefix not in bytes_used
