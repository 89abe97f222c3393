import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from holdfast.model.errors import SessionNotFound
from holdfast.wire.frames import FrameKind


def loaded() -> ModuleType:
    path = Path(__file__).parent / "run.py"
    spec = importlib.util.spec_from_file_location("holdfast_fuzz_run", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


run = loaded()

CALLS = 200


def refuse(_: bytes) -> None:
    raise SessionNotFound("x")


def hold_much(_: bytes) -> None:
    bytes(32 * 1024 * 1024)


def fail_on_escape(data: bytes) -> None:
    assert 0x1B not in data


@pytest.mark.parametrize("parser", run.PARSERS, ids=lambda parser: parser.name)
def test_every_parser_answers_or_refuses(parser: Any) -> None:  # noqa: ANN401  # loaded by path
    _, failures = run.fuzz(parser, seed=1, calls=CALLS)

    assert failures == []


def test_every_message_is_under_fire() -> None:
    names = {parser.name for parser in run.PARSERS}

    assert {f"wire.{kind.name}" for kind in FrameKind} <= names
    assert {"wire.frames", "wire.versions"} <= names


def test_every_parser_has_a_name_of_its_own() -> None:
    names = [parser.name for parser in run.PARSERS]

    assert len(names) == len(set(names))


def test_a_refusal_passes() -> None:
    assert run.fuzz(run.Parser("x", refuse), seed=1, calls=50) == (50, [])


def test_anything_else_fails_and_says_how_to_repeat_it() -> None:
    parser = run.Parser("x", fail_on_escape, [b"abcdefgh"])

    _, failures = run.fuzz(parser, seed=1, calls=5000)

    assert failures
    for failure in failures:
        assert 0x1B in failure.data
        assert f"--parser x --hex {failure.data.hex()!r}" in str(failure)


def test_a_parser_that_holds_too_much_fails() -> None:
    _, (failure, *_) = run.fuzz(run.Parser("x", hold_much), seed=1, calls=1)

    assert "bytes for" in failure.what


def test_the_same_seed_makes_the_same_cases() -> None:
    parser = run.Parser("x", refuse, [b"abc", b"defgh"])

    one, other, third = (
        run.cases(parser, run.Chance(seed)) for seed in ("1", "1", "2")
    )

    first_cases = [next(one) for _ in range(100)]
    assert first_cases == [next(other) for _ in range(100)]
    assert first_cases != [next(third) for _ in range(100)]


def test_bytes_can_be_tried_once(capsys: pytest.CaptureFixture[str]) -> None:
    outcomes = [run.tried_once(run.Parser("x", fail_on_escape), b"\x1b")]

    assert run.report(outcomes) == 1
    assert "--hex '1b'" in capsys.readouterr().out


def test_the_run_ends_with_the_sum(capsys: pytest.CaptureFixture[str]) -> None:
    assert run.report([run.tried(run.PARSERS[0], 1, 0.05)]) == 0
    assert capsys.readouterr().out.endswith("1 passed, 0 failed\n")
