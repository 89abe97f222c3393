from holdfast.core.capsule.mount_table import (
    Mount,
    above,
    names_of,
    outermost,
    read_mounts,
    strange,
)

ROOT = Mount("8:1", "/", "/", "ext4")
HOME = Mount("8:2", "/@home", "/home", "btrfs")


def test_a_folder_has_its_own_name() -> None:
    assert names_of("/home/u/keys", [ROOT]) == ["/home/u/keys"]


def test_a_folder_that_no_mount_holds_still_has_its_name() -> None:
    assert names_of("/home/u/keys", []) == ["/home/u/keys"]


def test_a_file_system_that_is_mounted_twice_shows_it_twice() -> None:
    again = Mount("8:1", "/", "/mnt/all", "ext4")

    assert names_of("/u/keys", [ROOT, again]) == ["/u/keys", "/mnt/all/u/keys"]


def test_a_bind_mount_of_a_folder_above_shows_it() -> None:
    bound = Mount("8:2", "/@home/u", "/srv/of u", "btrfs")

    found = names_of("/home/u/keys", [ROOT, HOME, bound])

    assert found == ["/home/u/keys", "/srv/of u/keys"]


def test_a_bind_mount_of_the_folder_or_of_a_part_of_it_shows_it() -> None:
    whole = Mount("8:1", "/u/keys", "/a", "ext4")
    part = Mount("8:1", "/u/keys/host", "/b", "ext4")
    beside = Mount("8:1", "/u/keys-of-others", "/c", "ext4")

    found = names_of("/u/keys", [ROOT, whole, part, beside])

    assert found == ["/u/keys", "/a", "/b"]


def test_another_file_system_does_not_show_it() -> None:
    assert names_of("/home/u", [ROOT, HOME]) == ["/home/u"]


def test_of_two_mounts_at_one_place_the_last_is_seen() -> None:
    under = Mount("8:9", "/", "/home", "ext4")
    elsewhere = Mount("8:9", "/", "/other", "ext4")

    assert names_of("/home/u", [ROOT, under, HOME, elsewhere]) == ["/home/u"]


def test_an_overlay_shows_what_lies_below_it() -> None:
    overlay = Mount("0:40", "/", "/merged", "overlay", ("/layer", "/home"))

    found = names_of("/home/u/keys", [ROOT, HOME, overlay])

    assert found == ["/home/u/keys", "/merged/u/keys"]


def test_folders_in_folders_are_left_out() -> None:
    listed = ["/a/b", "/a", "/ab", "/a", "/c/d"]

    assert outermost(listed) == ["/a", "/ab", "/c/d"]


def test_processes_and_terminals_are_shown_at_strange_places() -> None:
    mounts = [
        Mount("0:5", "/", "/proc", "proc"),
        Mount("0:5", "/sys", "/proc/sys", "proc"),
        Mount("0:5", "/", "/chroot/proc", "proc"),
        Mount("0:6", "/", "/dev/pts", "devpts"),
        Mount("0:6", "/", "/chroot/dev/pts", "devpts"),
        ROOT,
    ]

    assert strange(mounts) == ["/chroot/proc", "/chroot/dev/pts"]


def test_mounts_are_read_as_the_kernel_writes_them() -> None:
    text = (
        "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
        "31 22 0:27 /a\\040b /c\\011d\\134e rw - tmpfs tmpfs rw\n"
        "no line at all\n"
        "1 2 3 - ext4 x y\n"
        "32 22 0:28 / /f rw - overlay o rw,lowerdir=/l\\134:1:/l2,upperdir=/up,x\n"
        "33 22 0:29 / /g rw - overlay o rw,lowerdir+=/l:3,lowerdir=\n"
        "34 22 0:30 / /h rw - tmpfs tmpfs\n"
    )

    assert read_mounts(text) == [
        Mount("8:1", "/", "/", "ext4"),
        Mount("0:27", "/a b", "/c\td\\e", "tmpfs"),
        Mount("0:28", "/", "/f", "overlay", ("/l:1", "/l2", "/up")),
        Mount("0:29", "/", "/g", "overlay", ("/l:3",)),
    ]


def test_the_folders_above_are_told_from_the_outermost_on() -> None:
    assert above(["/home/u/.config/ours", "/home/u/run", "/top"]) == [
        "/home",
        "/home/u",
        "/home/u/.config",
    ]
    assert above([]) == above(["/"]) == []
