import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.state_fields import fields

from holdfast.core.shell.shell_state import (
    DIGEST,
    MAX_ALIASES,
    MAX_CHANGES,
    MAX_FOLDERS,
    MAX_ITEMS,
    MAX_NAME,
    MAX_TEXT,
    SECRET,
    Change,
    ChangeKind,
    Item,
    ItemKind,
    ShellState,
    changes,
    digest_of,
    matters,
    read_state,
)

FUNCTIONS = b"""\
f ()
{
    echo hi
}
g ()
{
    echo ho
}
function h-1 ()
{
    true
}""".replace(b"()", b"() ").replace(b"{", b"{ ")


def read(*said: bytes) -> ShellState:
    found = read_state(fields(said))
    assert found is not None
    return found


def names(state: ShellState, kind: ItemKind) -> list[str]:
    return [item.name for item in state.items if item.kind is kind]


def test_variables_of_bash_are_known_by_name_and_digest() -> None:
    one = read(b'ddeclare -x EDITOR="vi"', b"ddeclare -a list", b"ddeclare -- -")
    two = read(b'ddeclare -- EDITOR="vi"')

    assert names(one, ItemKind.VARIABLE) == ["EDITOR", "list"]
    assert len(one.items[Item(ItemKind.VARIABLE, "EDITOR")]) == DIGEST
    assert one.items[Item(ItemKind.VARIABLE, "EDITOR")] not in two.items.values()


def test_variables_of_other_shells_are_names_and_values() -> None:
    state = read(b"vEDITOR=scalar-export vi", b"v__holdfast_x=1", b"vRANDOM=3")

    assert names(state, ItemKind.VARIABLE) == ["EDITOR"]


def test_a_withheld_variable_shows_its_length_and_nothing_else_i2() -> None:
    state = read(b"wAPI_TOKEN=12")

    assert state.items == {Item(ItemKind.VARIABLE, "API_TOKEN"): SECRET + b"12"}
    assert changes(state, read(b"wAPI_TOKEN=12")) == ()
    assert changes(state, read(b"wAPI_TOKEN=13"))[0].how is ChangeKind.CHANGED


def test_what_matters_is_kept_as_it_is() -> None:
    state = read(b"mPATH=/a:/b:/a", b"mLD_PRELOAD=/evil.so", b"mIFS= \t\n")

    assert state.path == ("/a", "/b", "/a")
    assert names(state, ItemKind.PATH_ENTRY) == ["/a", "/b"]
    assert state.environment["LD_PRELOAD"] == "/evil.so"
    assert state.environment["IFS"] == " \t\n"
    assert state.is_whole


def test_without_a_path_none_is_known() -> None:
    assert read(b"oposix").path is None


@pytest.mark.parametrize(
    "said",
    [
        (b"kll", b"kla", b"tls -l", b"tls -a"),
        (b"all=ls -l", b"ala=ls -a"),
    ],
)
def test_aliases_are_kept_with_their_text(said: tuple[bytes, ...]) -> None:
    state = read(*said)

    assert state.aliases == {"ll": "ls -l", "la": "ls -a"}
    assert state.items[Item(ItemKind.ALIAS, "ll")] == digest_of(b"ls -l")


def test_functions_of_bash_are_told_apart() -> None:
    old = read(b"F" + FUNCTIONS)
    new = read(b"F" + FUNCTIONS.replace(b"echo ho", b"echo hu"))

    assert names(old, ItemKind.FUNCTION) == ["f", "g", "h-1"]
    assert old.is_whole
    assert changes(old, new) == (
        Change(
            Item(ItemKind.FUNCTION, "g"),
            ChangeKind.CHANGED,
            new.items[Item(ItemKind.FUNCTION, "g")],
        ),
    )


@pytest.mark.parametrize("quoted", [b"f", b"g", b"h-1"])
@pytest.mark.parametrize("text", [b"echo ho", b"true", b"    1\n", b"quoted"])
def test_a_function_that_quotes_another_hides_no_change(
    quoted: bytes, text: bytes
) -> None:
    fake = b"    cat <<E\n" + quoted + b" () \n{ \nquoted\nE\n    1\n"
    printed = FUNCTIONS.replace(b"    echo hi\n", fake)

    old, new = read(b"F" + printed), read(b"F" + printed.replace(text, b"# other\n"))
    assert changes(old, new)


def test_no_functions_are_no_functions() -> None:
    assert read(b"F").items == {}


def test_functions_of_other_shells_are_names_and_texts() -> None:
    state = read(b"fdeploy=rm -rf build")

    assert state.items == {
        Item(ItemKind.FUNCTION, "deploy"): digest_of(b"rm -rf build")
    }


def test_traps_are_known_by_their_signal() -> None:
    state = read(b"Ttrap -- 'a\nb' SIGINT\ntrap -- 'x' DEBUG\n")

    assert names(state, ItemKind.TRAP) == ["SIGINT", "DEBUG"]
    other = read(b"Ttrap -- 'a\nc' SIGINT\ntrap -- 'x' DEBUG\n")
    differing = {one for one in state.items if state.items[one] != other.items[one]}
    assert differing == {Item(ItemKind.TRAP, "SIGINT")}
    assert read(b"T").items == {}


def test_options_that_are_on_are_items() -> None:
    state = read(b"Oposix:noclobber::", b"oxtrace")

    assert names(state, ItemKind.OPTION) == ["posix", "noclobber", "xtrace"]


def test_what_the_shell_leaves_out_is_left_out_i4() -> None:
    assert not read(b"l").is_whole


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"oposix",
        b"\0",
        b"?x\0",
        b"dx=1\0",
        b"vx\0",
        b"wx=many\0",
        b"wx\0",
        b"mPATH\0",
        b"mEDITOR=vi\0",
        b"all\0",
        b"fx\0",
        b"kll\0",
        b"Techo\0",
    ],
)
def test_what_makes_no_sense_is_no_state_i1(raw: bytes) -> None:
    assert read_state(raw) is None


@pytest.mark.parametrize(
    "said",
    [
        [b"o%d" % number for number in range(MAX_ITEMS + 1)],
        [b"a%d=x" % number for number in range(MAX_ALIASES + 1)],
        [b"all=" + b"x" * (MAX_TEXT + 1)],
        [b"a" + b"x" * (MAX_NAME + 1) + b"=x"],
        [b"f" + b"x" * (MAX_NAME + 1) + b"=x"],
        [b"mPATH=" + b":" * MAX_FOLDERS],
        [b"mLD_X=" + b"x" * (MAX_TEXT + 1)],
    ],
)
def test_what_is_too_much_is_left_out_and_said_to_be_i4(said: list[bytes]) -> None:
    state = read(*said)

    assert not state.is_whole
    assert len(state.items) <= MAX_ITEMS
    assert all(len(text) <= MAX_TEXT for text in state.aliases.values())
    assert all(len(text) <= MAX_TEXT for text in state.environment.values())


@pytest.mark.parametrize(
    "said",
    [
        [b"o%d" % number for number in range(MAX_ITEMS)],
        [b"a%d=x" % number for number in range(MAX_ALIASES)],
        [b"all=" + b"x" * MAX_TEXT],
        [b"a" + b"x" * MAX_NAME + b"=x"],
        [b"f" + b"x" * MAX_NAME + b"=x"],
        [b"mPATH=" + b":" * (MAX_FOLDERS - 1)],
        [b"mLD_X=" + b"x" * MAX_TEXT],
        [b"mLD_%d=x" % number for number in range(MAX_ITEMS)],
    ],
)
def test_what_is_not_too_much_is_whole_i4(said: list[bytes]) -> None:
    assert read(*said).is_whole


def test_too_many_variables_that_matter_are_no_state_i1() -> None:
    many = [b"mLD_%d=x" % number for number in range(MAX_ITEMS + 1)]

    assert read_state(fields(many)) is None


def test_changes_name_what_is_new_different_and_gone_i3() -> None:
    old = read(b"oa", b"wT=1", b"oz")
    new = read(b"ob", b"wT=2", b"oz")

    found = [
        (one.item.name, one.how.value, one.digest != b"") for one in changes(old, new)
    ]
    assert found == [
        ("a", "removed", False),
        ("b", "added", True),
        ("T", "changed", True),
    ]


def test_no_more_changes_are_told_than_anybody_reads() -> None:
    many = read(*(b"o%d" % number for number in range(MAX_CHANGES + 9)))

    assert len(changes(read(b"oa"), many)) == MAX_CHANGES


def test_garbage_in_names_and_values_is_shown_as_what_it_is() -> None:
    state = read(b"a\xff=\xfe\x1b", b"vx\x80=\xc3(")

    assert state.aliases == {"\\xff": "\\xfe\x1b"}
    assert names(state, ItemKind.VARIABLE) == ["x\\x80"]


def test_what_decides_what_a_line_does_matters() -> None:
    assert matters("PATH")
    assert matters("LD_AUDIT")
    assert not matters("EDITOR")


SAID = st.tuples(st.sampled_from(b"dvwmktafFToOl?"), st.binary(max_size=40)).map(
    lambda one: bytes([one[0]]) + one[1].replace(b"\0", b"")
)


@given(st.lists(SAID, max_size=20))
def test_any_fields_make_a_state_within_bounds_or_none_i1(said: list[bytes]) -> None:
    state = read_state(fields(said))

    if state is not None:
        assert changes(state, state) == ()
        assert all(0 < len(one) <= 32 for one in state.items.values())


@given(st.dictionaries(st.text("abc", min_size=1), st.binary()), st.data())
def test_what_differs_is_what_is_told_i3(
    old: dict[str, bytes], data: st.DataObject
) -> None:
    new = data.draw(st.dictionaries(st.text("abc", min_size=1), st.binary()))
    before, after = (
        read(
            b"l",
            *(
                b"f%s=%s" % (name.encode(), text.replace(b"\0", b""))
                for name, text in one.items()
            ),
        )
        for one in (old, new)
    )

    differ = {
        item
        for item in before.items.keys() | after.items.keys()
        if before.items.get(item) != after.items.get(item)
    }
    assert {one.item for one in changes(before, after)} == differ
