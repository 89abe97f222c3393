"""The same in zsh and fish: what one sets is the first one's, whoever runs it."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.shells import shell
from tests.scenarios.support import Machine, machine
from tests.scenarios.test_originators import TwoOperators, names


@pytest.fixture(scope="module")
def ours() -> Iterator[Machine]:
    with machine() as made:
        yield made


@pytest.fixture(params=["zsh", "fish"])
def two(ours: Machine, tmp_path: Path, request: pytest.FixtureRequest) -> TwoOperators:
    if shutil.which(request.param) is None:
        pytest.skip(f"there is no {request.param} here")
    (tmp_path / ".zshrc").touch()
    return TwoOperators(ours, shell(ours, tmp_path, request.param))


@pytest.mark.parametrize(
    ("what", "name", "staged"),
    [
        ("variable", "EDITOR", "export EDITOR=/opt/evil"),
        ("path-entry", "/opt/evil", "export PATH=/opt/evil:$PATH"),
        ("function", "deploy", "eval 'function deploy; echo x; end' 2>/dev/null"),
    ],
)
def test_what_one_sets_and_another_runs_into_is_the_first_ones(
    two: TwoOperators, what: str, name: str, staged: str
) -> None:
    if what == "function":
        staged = f"{staged} || eval 'deploy() {{ echo x; }}'"
    number = two.does(two.ada, staged)
    two.does(two.bea, "true")

    assert names(two.asks(what, name), two.ada, number)
