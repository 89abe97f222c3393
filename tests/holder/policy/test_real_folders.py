from pathlib import Path

from tests.core.policy_world import policy, question

from holdfast.holder.policy.real_folders import placed
from holdfast.linux.real_paths import home, own_folders
from holdfast.model.policy_questions import Execution, NamedPath
from holdfast.model.resolutions import Resolution

RULE = '[[rule]]\nverdict = "allow"\nfirst = "cat"\npaths = "~"\n'
PLAIN = '[[rule]]\nverdict = "allow"\nfirst = "cat"\n'


def test_a_line_is_placed_where_it_is_entered(tmp_path: Path) -> None:
    cwd = tmp_path.resolve()
    (cwd / "link").symlink_to("/etc")
    asked = question(b"cat link/x", cwd=str(cwd), resolution=Resolution())

    found = placed(policy(RULE), asked)

    assert found.paths == {NamedPath("", "link/x"): ("/etc/x",)}
    assert (found.home, found.own) == (home(), own_folders())


def test_an_exec_is_placed_where_its_process_works(tmp_path: Path) -> None:
    executed = Execution("/bin/cat", "/bin/cat", ("cat", "x"))
    asked = question(cwd=str(tmp_path), execution=executed)

    found = placed(policy(RULE), asked)

    assert found.paths[NamedPath("", "x")] == (str(tmp_path.resolve() / "x"),)
    assert NamedPath("", "/bin/cat") in found.paths


def test_nothing_is_looked_up_that_no_rule_wants() -> None:
    line = question(b"cat x", resolution=Resolution())
    key = question(b"c")

    assert placed(policy(PLAIN), line) is line
    assert placed(policy(RULE), key) is key
