import pytest

from holdfast.cli import main


def test_an_address_that_nobody_is_at_is_a_mistake(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main.main(["conformance", "/no/socket/here"]) == 64
    assert "--session" in capsys.readouterr().err
