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
files = "own"

[keys]
next = "j"
help = ""

[colours]
notice = "bold white on blue"

[notifications]
bell = false
desktop = true

[images]
keep = 3
size = "5G"

[recover]
automatic = true
environment = false

[reap]
after = "8h"
warning = "5m"
people = true
checkpoint = false
sessions = 20
memory = "4G"

[checkpoints]
every = "10m"
to = "atlas"

[drain]
at-end = true
deadline = "90s"
to = "beta"

[metrics]
listen = "127.0.0.1:9464"

[record]
mask = ["hunter[0-9]", "x+"]
keep = 5
size = "2M"
age = "30d"
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
    assert settings.files == "own"
    assert settings.keys["next"] == ord("j")
    assert "help" not in settings.keys
    assert settings.colours["notice"] == "bold white on blue"
    assert settings.colours["selected"] == "reverse"
    assert not settings.bell
    assert settings.desktop
    assert settings.recovers
    assert (settings.images_kept, settings.images_size) == (3, 5 * 1024**3)
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
        ('runtime = "vm"', 'line 1: runtime: expected "plain", "capsule" or "movable"'),
        ('files = "mine"', 'line 1: files: expected "shared" or "own"'),
        ("runtime = 1", 'line 1: runtime: expected "plain", "capsule" or "movable"'),
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
        ("[images]\nkeep = true", "line 2: images.keep: expected a number"),
        ("[images]\nkeep = 0", "line 2: images.keep: expected 1 to 10000"),
        ("[images]\nsize = 1.5", 'line 2: images.size: expected a size such as "16M"'),
        ("[images]\nsize = 1", "line 2: images.size: expected 1M to 1048576G"),
        ("[images]\nage = 1", "line 2: images.age: unknown name"),
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


def test_capsules_can_be_limited() -> None:
    settings, _ = read_config(b'memory = "2G"\ncpus = 1.5\npids = 500\n')

    assert (settings.memory, settings.millicpus, settings.pids) == (2 << 30, 1500, 500)
    assert problems(b"memory = 0\ncpus = 0.0\npids = 0\n") == []


@pytest.mark.parametrize("text", [b"memory = 1", b'cpus = "many"', b"pids = 3"])
def test_a_limit_that_is_none_is_named_and_left_out(text: bytes) -> None:
    (problem,) = problems(text)

    assert "expected" in problem
    assert same(read_config(text)[0], Settings())


def test_what_is_reaped_and_when_is_read() -> None:
    settings, found = read_config(WHOLE)

    assert not found
    assert vars(settings.host.reap) == {
        "after": 8 * 3600.0,
        "warning": 300.0,
        "people": True,
        "checkpoint": False,
        "sessions": 20,
        "memory": 4 << 30,
    }
    assert settings.host.checkpoints_every == 600
    assert settings.host.checkpoints_to == "atlas"
    assert settings.host.drains_at_end
    assert settings.host.drain_deadline == 90
    assert settings.host.drain_to == "beta"
    assert settings.host.metrics_listen == "127.0.0.1:9464"
    assert vars(settings.recordings) == {
        "mask": ("hunter[0-9]", "x+"),
        "keep": 5,
        "size": 2 << 20,
        "age": 30 * 86400.0,
    }


def test_nothing_is_reaped_unless_somebody_says_so() -> None:
    assert not Settings().host.reap.is_on
    for said in ("after = '1h'", "sessions = 1", "memory = '1G'"):
        assert read_config(b"[reap]\n" + said.encode())[0].host.reap.is_on
    for said in ("after = 0", "after = '0s'", "sessions = 0", "memory = 0"):
        settings, found = read_config(b"[reap]\n" + said.encode())
        assert not found
        assert not settings.host.reap.is_on


@pytest.mark.parametrize(
    ("said", "name", "what"),
    [
        ("[reap]\nafter = 8", "reap.after", "expected a time such as"),
        ("[reap]\nafter = true", "reap.after", "expected a time such as"),
        ("[reap]\nafter = '367d'", "reap.after", "expected 1s to 366d"),
        ("[reap]\nwarning = 'x'", "reap.warning", "expected a time such as"),
        ("[reap]\npeople = 1", "reap.people", FLAG),
        ("[reap]\nsessions = true", "reap.sessions", "expected 0 to 10000"),
        ("[reap]\nsessions = -1", "reap.sessions", "expected 0 to 10000"),
        ("[reap]\nmemory = 'x'", "reap.memory", "expected a size"),
        ("[reap]\nwhen = 1", "reap.when", "unknown name"),
        ("[checkpoints]\nevery = '1s'", "checkpoints.every", "expected 10s to 366d"),
        ("[checkpoints]\nto = 7", "checkpoints.to", "expected the name of a host"),
        ("[checkpoints]\nto = '-x'", "checkpoints.to", "expected the name of a host"),
        ("[checkpoints]\noften = 1", "checkpoints.often", "unknown name"),
        ("[drain]\ndeadline = '0x'", "drain.deadline", "expected a time such as"),
        ("[drain]\nat-end = 1", "drain.at-end", FLAG),
        ("[drain]\nto = 'a b'", "drain.to", "expected the name of a host"),
        ("[drain]\nto = 1", "drain.to", "expected the name of a host"),
        ("[drain]\nby = 'x'", "drain.by", "unknown name"),
        ("[record]\nmask = '('", "record.mask", "expected a list of regular"),
        ("[record]\nmask = ['a', 1]", "record.mask", "expected a list of regular"),
        ("[record]\nkeep = -1", "record.keep", "expected 0 to 10000"),
        ("[record]\nsize = 1", "record.size", "expected 1M to"),
        ("[record]\nage = 'x'", "record.age", "expected a time such as"),
        ("[record]\nwhen = 1", "record.when", "unknown name"),
        ("[metrics]\nport = 1", "metrics.port", "unknown name"),
        ("[metrics]\nlisten = 9464", "metrics.listen", "127.0.0.1:9464"),
        ("[metrics]\nlisten = '0.0.0.0:9464'", "metrics.listen", "127.0.0.1:9464"),
    ],
)
def test_what_the_host_does_by_itself_has_its_default_where_it_is_wrong(
    said: str, name: str, what: str
) -> None:
    settings, (found,) = read_config(said.encode())

    assert (found.line, found.where) == (2, name)
    assert what in found.what
    assert same(settings, Settings())


def test_one_mask_may_stand_without_a_list() -> None:
    assert read_config(b"[record]\nmask = 'a|b'")[0].recordings.mask == ("a|b",)


def test_no_host_to_drain_to_is_no_mistake() -> None:
    settings, found = read_config(b"[drain]\nto = ''")

    assert not found
    assert settings.host.drain_to == ""
