from holdfast.cli.config_text import MEANING, facts, values, written
from holdfast.model.config_file import read_config
from holdfast.model.settings import Settings


def test_everything_that_can_be_set_has_a_meaning_and_a_value() -> None:
    assert [*values(Settings())] == [*MEANING]


def test_what_is_shown_is_a_file_that_says_the_same() -> None:
    settings, problems = read_config(
        b'prefix = "C-a"\nshell = ["/bin/\\u007fsh", "\\u0001\\\\"]\nwindow = 3000000\n'
        b'[keys]\nhelp = ""\nnext = "Tab"\n[colours]\nfaint = "#ff0000 on 3"\n'
        b"[notifications]\nbell = false\n"
    )
    again, more = read_config(written(settings).encode())

    assert not problems
    assert not more
    assert vars(again) == vars(settings)
    assert facts(again) == facts(settings)
