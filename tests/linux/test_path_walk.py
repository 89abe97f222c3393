"""Paths followed through links that only this test knows."""

from collections.abc import Mapping

from holdfast.linux.path_walk import MAX_STEPS, PathWalk


def led_to(path: str, links: Mapping[str, str] | None = None) -> str | None:
    walk = PathWalk(path.split("/"))
    while walk.advance():
        target = (links or {}).get(walk.step)
        if target is None:
            walk.keep()
        else:
            walk.follow(target)
    return (walk.done or "/") if walk.is_over else None


def test_a_path_without_links_leads_to_itself() -> None:
    assert led_to("/usr//bin/./make") == "/usr/bin/make"
    assert led_to("/") == "/"


def test_two_dots_lead_back_and_never_above_the_root() -> None:
    assert led_to("/usr/bin/../lib") == "/usr/lib"
    assert led_to("/../../etc") == "/etc"


def test_a_link_is_followed_from_where_it_stands_or_from_the_root() -> None:
    links = {"/bin": "usr/bin", "/usr/bin/cc": "/etc/alternatives/cc"}

    assert led_to("/bin/make", links) == "/usr/bin/make"
    assert led_to("/bin/cc", links) == "/etc/alternatives/cc"


def test_two_dots_after_a_link_lead_back_from_where_it_points() -> None:
    assert led_to("/bin/../lib", {"/bin": "/opt/tools/bin"}) == "/opt/tools/lib"


def test_a_circle_is_given_up() -> None:
    assert led_to("/a", {"/a": "b", "/b": "a"}) is None


def test_a_path_of_too_many_parts_is_given_up() -> None:
    assert led_to("/".join("a" * MAX_STEPS)) is not None
    assert led_to("/".join("a" * (MAX_STEPS + 1))) is None


def test_a_walk_goes_on_from_a_folder_that_was_followed_before() -> None:
    walk = PathWalk(["make"], "/usr/bin")

    assert walk.advance()
    assert walk.step == "/usr/bin/make"
