"""Which Python the project sets itself up with."""

import subprocess
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "choose-python"

OPTIMISED = "#!/bin/sh\nexit 0\n"
SLOW = '#!/bin/sh\ncase "$2" in *CONFIG_ARGS*) exit 1;; *) exit 0;; esac\n'
OLD = "#!/bin/sh\nexit 1\n"


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("asked", "found", "system", "is_system"),
    [
        ("python3", SLOW, OPTIMISED, True),
        ("python3", OPTIMISED, OPTIMISED, False),
        ("python3", SLOW, OLD, False),
        ("python3", SLOW, None, False),
        ("python3.12", SLOW, OPTIMISED, False),
        ("/opt/python3", SLOW, OPTIMISED, False),
    ],
)
def test_the_system_s_own_is_taken_for_a_slow_one_that_nobody_named(
    tmp_path: Path, asked: str, found: str, system: str | None, *, is_system: bool
) -> None:
    program(tmp_path / "bin" / "python3", found)
    own = tmp_path / "system" / "python3"
    if system is not None:
        program(own, system)

    said = subprocess.run(
        ["/bin/sh", str(TOOL), asked, str(own)],
        env={"PATH": f"{tmp_path}/bin:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert said.stdout.strip() == (str(own) if is_system else asked)
