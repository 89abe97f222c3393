from dataclasses import replace

import pytest

from holdfast.core.session.abilities import (
    Ability,
    Grade,
    LogOut,
    Machine,
    Place,
    can_work,
    judge,
)

GOOD = Machine(
    python=(3, 11),
    kernel=(6, 18),
    has_memory_files=True,
    has_pidfds=True,
    terminals_used=3,
    terminals_max=4096,
    descriptors=20_000,
    place=Place("/run/x", "", 1 << 30, "tmpfs", 40),
    log_out=LogOut(
        has_systemd=True, lingers=True, kills_processes=False, place_is_removed=True
    ),
    can_adopt=True,
    painter="",
    freezer="",
    exec_gate="",
    keeps_sudo=True,
    capsules="",
    own_files="",
    limits="",
    criu="CRIU 4.2.1 (/usr/sbin/criu)",
    criu_trouble="",
    counts_changed_pages=True,
)


def ability(name: str, machine: Machine) -> Ability:
    (found,) = [one for one in judge(machine) if one.name == name]
    return found


def place(**changes: object) -> Place:
    return replace(GOOD.place, **changes)  # type: ignore[arg-type]  # names are checked


def log_out(**changes: object) -> LogOut:
    return replace(GOOD.log_out, **{"lingers": False, **changes})  # type: ignore[arg-type]


def test_a_good_machine_can_do_all_that_is_built() -> None:
    abilities = judge(GOOD)

    assert can_work(abilities)
    assert {one.grade for one in abilities} == {Grade.OK}


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("python", {"python": (3, 10)}),
        ("kernel", {"kernel": (5, 3)}),
        ("kernel", {"has_pidfds": False}),
        ("memory", {"has_memory_files": False}),
        ("terminals", {"terminals_max": 0}),
        ("terminals", {"terminals_used": 4096}),
        ("descriptors", {"descriptors": 5}),
        ("sockets", {"place": place(problem="others may enter it")}),
        ("sockets", {"place": place(margin=-1)}),
        ("adoption", {"can_adopt": False}),
    ],
)
def test_i2_without_what_is_vital_sessions_cannot_work(
    name: str, changes: dict[str, object]
) -> None:
    machine = replace(GOOD, **changes)  # type: ignore[arg-type]  # names are checked

    found = ability(name, machine)

    assert found.grade is Grade.MISSING
    assert found.why
    assert found.advice  # I1
    assert not can_work(judge(machine))


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("terminals", {"terminals_used": 4090}),
        ("descriptors", {"descriptors": 100}),
        ("sockets", {"place": place(free=1)}),
        ("log-out", {"log_out": log_out(kills_processes=True)}),
        ("log-out", {"log_out": log_out()}),
        ("screens", {"painter": "No module named 'ghostty'"}),
        ("freezing", {"freezer": "there is none"}),
    ],
)
def test_i1_what_is_limited_says_why_and_what_to_do(
    name: str, changes: dict[str, object]
) -> None:
    machine = replace(GOOD, **changes)  # type: ignore[arg-type]  # names are checked

    found = ability(name, machine)

    assert found.grade is Grade.LIMITED
    assert found.why
    assert found.advice
    assert can_work(judge(machine))


def test_on_an_old_kernel_an_exit_status_may_be_lost_and_we_say_so() -> None:
    found = ability("exit status", replace(GOOD, kernel=(6, 1)))

    assert found.grade is Grade.LIMITED
    assert "unknown" in found.why


@pytest.mark.parametrize(
    ("found", "word"),
    [
        (log_out(has_systemd=False), "setsid"),
        (log_out(place_is_removed=False), "setsid"),
        (log_out(lingers=True), "linger"),
    ],
)
def test_a_log_out_that_ends_nothing_is_fine(found: LogOut, word: str) -> None:
    judged = ability("log-out", replace(GOOD, log_out=found))

    assert judged.grade is Grade.OK
    assert word in judged.why


def test_a_machine_that_cannot_hold_an_exec_says_why() -> None:
    judged = ability("exec gate", replace(GOOD, exec_gate="not permitted"))

    assert judged.grade is Grade.MISSING
    assert "not permitted" in judged.why
    assert judged.advice


def test_an_exec_gate_says_what_it_does_not_hold_and_what_it_costs() -> None:
    assert "arguments that change" in ability("exec gate", GOOD).why
    limited = ability("exec gate", replace(GOOD, keeps_sudo=False))

    assert limited.grade is Grade.LIMITED
    assert "sudo" in limited.why


def test_a_machine_without_capsules_says_why_and_what_to_do() -> None:
    judged = ability("capsules", replace(GOOD, capsules="not permitted"))

    assert judged.grade is Grade.MISSING
    assert "not permitted" in judged.why
    assert judged.advice


def test_a_capsule_of_root_lacks_nothing_and_one_of_a_user_lacks_sudo() -> None:
    limited = ability("capsules", replace(GOOD, keeps_sudo=False))

    assert ability("capsules", GOOD).grade is Grade.OK
    assert limited.grade is Grade.LIMITED
    assert "sudo" in limited.why


def test_files_of_a_capsule_s_own_are_there_or_it_is_said_why_not() -> None:
    judged = ability("own files", replace(GOOD, own_files="/home: Invalid argument"))

    assert ability("own files", GOOD).grade is Grade.OK
    assert judged.grade is Grade.MISSING
    assert "/home: Invalid argument" in judged.why
    assert "HOLDFAST_STATE_DIR" in judged.advice


def test_a_criu_that_passed_its_trial_is_named() -> None:
    judged = ability("criu", GOOD)
    assert judged.grade is Grade.OK
    assert judged.why.startswith(f"{GOOD.criu}: `checkpoint` and `restore` work")


def test_a_kernel_that_counts_no_changed_pages_is_said_to_make_whole_dumps() -> None:
    judged = ability("criu", replace(GOOD, counts_changed_pages=False))
    assert judged.grade is Grade.OK
    assert "every dump is complete" in judged.why


def test_without_a_criu_it_is_said_what_there_is_and_what_to_do() -> None:
    trouble = "/usr/sbin/criu is 3.17.1; CRIU 4.2 or newer is needed"
    judged = ability("criu", replace(GOOD, criu="", criu_trouble=trouble))
    assert judged.grade is Grade.MISSING
    assert trouble in judged.why
    assert "make criu" in judged.advice


def test_a_trial_that_failed_is_told_with_its_reason() -> None:
    judged = ability("criu", replace(GOOD, criu_trouble="no reason"))
    assert judged.grade is Grade.MISSING
    assert judged.why == f"{GOOD.criu}, but a trial run failed: no reason"


def test_a_machine_that_limits_nothing_says_what_is_refused() -> None:
    machine = replace(GOOD, limits="processes cannot be limited: Permission denied")

    found = ability("limits", machine)

    assert found.grade is Grade.LIMITED
    assert "`new --memory`, `--cpus` and `--pids` are refused" in found.why
    assert can_work(judge(machine))
