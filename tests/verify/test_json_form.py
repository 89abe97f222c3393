import json

from tests.verify.samples import BROKEN, HOLDS, MISSING, finding, report

from holdfast.verify.finding import Control
from holdfast.verify.json_form import as_json
from holdfast.verify.mode import NOT_PROMISED


def test_the_form_is_as_documented() -> None:
    controls = (Control("tmux", "server killed", survived=False, seen="gone"),)
    found = report(finding(1, HOLDS), finding(2, BROKEN, MISSING), controls=controls)

    told = json.loads(json.dumps(as_json(found)))

    assert told["format"] == 1
    assert told["failed"] is True
    assert [one["verdict"] for one in told["modes"]] == ["passed", "failed"]
    assert set(told["modes"][0]) == {
        "number",
        "name",
        "title",
        "verdict",
        "seconds",
        "trigger",
        "guarantee",
        "handed_off",
        "checks",
    }
    assert told["modes"][0]["checks"] == [
        {
            "what": "it lives",
            "outcome": "holds",
            "why": "",
            "evidence": {"pid": 12, "next_offset": 4096},
        }
    ]
    assert told["controls"] == [
        {
            "program": "tmux",
            "injection": "server killed",
            "survived": False,
            "seen": "gone",
        }
    ]
    assert told["not_promised"] == list(NOT_PROMISED)
