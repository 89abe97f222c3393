from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.capsule.mount_table import Mount, is_in
from holdfast.core.capsule.own_trees import (
    MAX_TREES,
    Surroundings,
    in_the_way,
    is_of_machine,
    own_trees,
    tree_of,
)

HOME = "/home/ada"
TOPS = ["/etc", "/usr", "/home", "/var", "/proc", "/sys", "/dev", "/run", "/boot"]


def mounted(point: str, kind: str = "ext4") -> Mount:
    return Mount("8:1", "/", point, kind)


def always(_path: str) -> bool:
    return True


def test_a_user_s_trees_are_home_folder_and_what_is_temporary() -> None:
    trees = own_trees(Surroundings(HOME, "/data/work"), TOPS, [], always)

    assert trees == ("/tmp", "/data/work", HOME, "/var/tmp")  # noqa: S108  # trees


def test_a_folder_in_the_home_is_in_its_tree() -> None:
    trees = own_trees(Surroundings(HOME, f"{HOME}/src/x"), TOPS, [], always)

    assert trees == ("/tmp", HOME, "/var/tmp")  # noqa: S108  # trees


def test_what_the_user_may_not_write_is_no_tree() -> None:
    around = Surroundings("", "/usr/share")

    trees = own_trees(around, TOPS, [], lambda one: one == "/tmp")  # noqa: S108  # a tree

    assert trees == ("/tmp",)  # noqa: S108  # a tree


def test_a_home_behind_somebody_else_s_folder_has_an_overlay_of_its_own() -> None:
    home = "/tmp/theirs/home"  # noqa: S108  # a path

    trees = own_trees(
        Surroundings(home, home), TOPS, [], lambda one: "theirs" not in one[-6:]
    )

    assert trees == ("/tmp", "/var/tmp", home)  # noqa: S108  # trees


def test_root_s_trees_are_the_folders_at_the_top() -> None:
    trees = own_trees(Surroundings("/root", "/srv/x", is_root=True), TOPS, [], always)

    assert trees == ("/etc", "/home", "/usr", "/var", "/srv/x")


def test_what_is_mounted_in_a_tree_is_in_the_way_of_a_user() -> None:
    trees = ("/tmp", HOME)  # noqa: S108  # trees

    assert in_the_way(trees, [mounted("/"), mounted(HOME), mounted("/homes")]) == ""
    assert in_the_way(trees, [mounted("/"), mounted("/tmp/x")]) == "/tmp/x"  # noqa: S108  # ditto


def test_a_disk_in_a_tree_of_root_is_a_tree_and_nothing_else_is() -> None:
    mounts = [
        mounted("/"),
        mounted("/home/disk", "xfs"),
        mounted("/home/far", "fuse.sshfs"),
        mounted("/srv/disk"),
        mounted("/proc/x"),
        mounted("/home"),
    ]

    trees = own_trees(
        Surroundings("/root", "/", is_root=True), ["/home"], mounts, always
    )

    assert trees == ("/home", "/home/disk")
    assert f"{HOME}/x" not in own_trees(Surroundings(HOME, HOME), TOPS, mounts, always)


def test_a_path_is_in_the_innermost_tree() -> None:
    trees = (HOME, f"{HOME}/disk")

    assert tree_of(f"{HOME}/disk/a", trees) == f"{HOME}/disk"
    assert tree_of(f"{HOME}/diskette", trees) == HOME
    assert tree_of("/etc/passwd", trees) == ""


paths = st.lists(st.sampled_from(["tmp", "home", "proc", "a", "b"]), max_size=4).map(
    lambda parts: "/" + "/".join(parts)
)


@given(
    paths,
    paths,
    st.booleans(),
    st.lists(st.builds(mounted, paths, st.sampled_from(["ext4", "fuse"])), max_size=90),
    st.sets(paths),
)
def test_invariants(
    home: str, folder: str, is_root: object, mounts: list[Mount], theirs: set[str]
) -> None:
    surroundings = Surroundings(home, folder, is_root=bool(is_root))

    trees = own_trees(surroundings, TOPS, mounts, lambda one: one not in theirs)

    for place, one in enumerate(trees):
        assert not any(is_in(one, later) for later in trees[place + 1 :]), "I1"
        assert not is_of_machine(one), "I2"
    assert len(set(trees)) == len(trees) <= MAX_TREES, "I3"
