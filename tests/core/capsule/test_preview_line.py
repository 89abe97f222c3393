import pytest

from holdfast.core.capsule.preview_line import Line, line_of
from holdfast.model.inputs import InputKind


def of(
    payload: bytes,
    kind: InputKind = InputKind.COMMAND,
    staged: bytes | None = b"",
    *,
    is_secret: bool = False,
) -> Line:
    return line_of(kind, payload, staged=staged, is_secret=is_secret)


def test_a_command_is_previewed_as_it_is() -> None:
    assert of(b"make install") == Line("make install")
    assert of("größe --alle".encode()).text == "größe --alle"
    assert of(b"make\r", staged=None).text == "make"


def test_keys_are_previewed_if_they_are_one_whole_line() -> None:
    assert of(b"make\r", InputKind.KEYS) == Line("make")
    for payload, staged in ((b"make", b""), (b"make\r", b"x"), (b"make\r", None)):
        assert of(payload, InputKind.KEYS, staged).why == "it is not a complete line"


@pytest.mark.parametrize(
    "payload", [b"a\rb", b"a\nb", b"\xff", b"", b"  ", b"a\x1b[2J", "a\u202eb".encode()]
)
def test_what_is_not_one_line_of_plain_text_is_not_previewed(payload: bytes) -> None:
    assert of(payload) == Line(why="it is not one line of plain text")


def test_a_secret_is_not_previewed() -> None:
    assert of(b"hunter2", is_secret=True) == Line(why="it is a secret")


@pytest.mark.parametrize(
    "kind", [InputKind.SIGNAL, InputKind.RESIZE, InputKind.START, InputKind.ANSWER]
)
def test_nothing_but_a_line_is_previewed(kind: InputKind) -> None:
    assert of(b"2", kind).why == "only a line for the shell can be previewed"
