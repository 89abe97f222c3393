import subprocess
import sys
from pathlib import Path

from holdfast.verify.account import PREFIX

JANITOR = [sys.executable, "-P", "-m", "holdfast.verify.janitor"]


def test_it_clears_away_what_is_left_when_its_pipe_closes(tmp_path: Path) -> None:
    place = tmp_path / f"{PREFIX}x"
    place.joinpath("run").mkdir(parents=True)
    with subprocess.Popen([*JANITOR, str(place)], stdin=subprocess.PIPE) as janitor:
        env = {"HOLDFAST_RUNTIME_DIR": str(place / "run")}
        daemon = subprocess.Popen(["/bin/sleep", "60"], env=env)
        janitor.communicate()

    assert janitor.returncode == 0
    assert daemon.wait() != 0
    assert not place.exists()


def test_it_touches_no_other_folder(tmp_path: Path) -> None:
    done = subprocess.run([*JANITOR, str(tmp_path)], input=b"", check=False)

    assert done.returncode == 64
    assert tmp_path.exists()
