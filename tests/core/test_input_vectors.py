import json
from pathlib import Path

from tests.tools.running import run_tool

from holdfast.core.input.commitments import chain_begin, content
from holdfast.crypto.keys import SigningKey
from holdfast.model.ids import Epoch, Incarnation, actor_id

KNOWN = json.loads((Path(__file__).parent / "vectors" / "inputs.json").read_text())


def test_the_vectors_are_what_the_tool_writes() -> None:
    assert run_tool("write_input_vectors", "--check").returncode == 0


def test_the_vectors_are_of_the_operator_and_the_inputs_they_name() -> None:
    key = SigningKey.from_seed(bytes.fromhex(KNOWN["seed"]))

    assert (key.public.hex(), actor_id(key.public)) == (KNOWN["key"], KNOWN["actor"])
    assert chain_begin(KNOWN["session"], KNOWN["client"]).hex() == KNOWN["begin"]
    for one in KNOWN["inputs"]:
        payload = bytes.fromhex(one["payload"])
        made = content(Incarnation(1), Epoch(one["epoch"]), one["kind"], payload)
        assert made.hex() == one["content"]
