import pytest

from holdfast.cli.main import main

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    "words",
    [
        ["--listen", "127.0.0.1"],
        ["--listen", ":80"],
        ["--listen", "127.0.0.1:x"],
        ["--listen", "127.0.0.1:70000"],
        ["--cert", "c.pem"],
        ["--key", "k.pem"],
        ["--name", "Relay.Example"],
        ["--name", "https://relay.example"],
        ["--name", "relay.example/path"],
        ["--name", ""],
        ["--name", "r\u0435lay.example"],
        ["--only-host", "h_short"],
        ["--only-host", "a_" + "a" * 32],
        ["--max-hosts", "0"],
        ["--max-hosts", "-1"],
        ["--heartbeat", "0"],
        ["--heartbeat", "nan"],
        ["--drain", "-1"],
        ["--web", "/nowhere", "--no-web"],
        ["words"],
    ],
    ids=repr,
)
def test_what_makes_no_sense_is_refused_before_anything_is_opened(
    words: list[str], capsys: Capture
) -> None:
    try:
        status = main(["relay", "--plain", *words])
    except SystemExit as left:
        status = int(left.code or 0)

    assert status == 64
    assert "holdfast" in capsys.readouterr().err


def test_the_unit_runs_the_relay_as_somebody_who_may_do_nothing_else(
    capsys: Capture,
) -> None:
    assert main(["relay", "--unit"]) == 0

    unit = capsys.readouterr().out
    assert '"relay" --behind-proxy' in unit
    for line in ("DynamicUser=yes", "NoNewPrivileges=yes", "LimitNOFILE=65536"):
        assert f"\n{line}\n" in unit


@pytest.mark.parametrize("verb", ["relay", "up"])
def test_a_unit_can_run_a_program_that_is_installed_elsewhere(
    verb: str, capsys: Capture
) -> None:
    assert main([verb, "--unit", "--exec", "/usr/bin/holdfast"]) == 0

    assert f'\nExecStart="/usr/bin/holdfast" "{verb}"' in capsys.readouterr().out
