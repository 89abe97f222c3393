"""What the page's manifests run is what holdfast and its images have."""

import json
import re
from pathlib import Path

import pytest

from holdfast.cli.main import main

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/howto/containers-and-kubernetes.md").read_text("utf-8")
IMAGES = (ROOT / "packaging/Containerfile").read_text("utf-8")
ENTRIES = [json.loads(one) for one in re.findall(r"ENTRYPOINT (\[.*\])", IMAGES)]
ARGUMENTS = [json.loads(one) for one in re.findall(r" args: (\[.*\])", PAGE)]


@pytest.mark.parametrize("number", [0, 1])
def test_a_container_is_started_with_options_that_there_are(number: int) -> None:
    program, *words = ENTRIES[number]

    assert program == "holdfast"
    assert main([*words, *ARGUMENTS[number], "--unit"]) == 0


def test_what_a_pod_runs_before_its_end_is_a_verb_with_these_options(
    capsys: pytest.CaptureFixture[str],
) -> None:
    (words,) = re.findall(r"preStop: .*command: (\[.*?\])", PAGE)
    _, verb, option, _ = json.loads(words)

    with pytest.raises(SystemExit):
        main([verb, "--help"])
    assert option in capsys.readouterr().out


def test_the_images_are_those_of_the_containerfile() -> None:
    named = set(re.findall(r"image: holdfast-(\w+)", PAGE))

    assert named == {*re.findall(r"AS (\w+)$", IMAGES, re.MULTILINE)} - {"base"}
