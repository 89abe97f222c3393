import pytest

from holdfast.model.colours import sgr_from


@pytest.mark.parametrize(
    ("text", "sgr"),
    [
        ("", ""),
        ("reverse", "7"),
        ("bold white on blue", "1;37;44"),
        ("bright-red", "91"),
        ("on bright-black", "100"),
        ("208 on 17", "38;5;208;48;5;17"),
        ("#ff8000", "38;2;255;128;0"),
        ("dim italic underline", "2;3;4"),
        ("256", None),
        ("99999", None),
        ("#ff80", None),
        ("bright-mauve", None),
        ("red on", None),
        ("on on", None),
        ("on bold", None),
        ("\u0663", None),
        ("red\x1b[", None),
    ],
)
def test_a_colour_is_words(text: str, sgr: str | None) -> None:
    assert sgr_from(text) == sgr
