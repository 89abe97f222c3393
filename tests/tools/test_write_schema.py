import json
from pathlib import Path

import pytest
from tests.tools.running import run_tool
from tools.write_schema import Json, fingerprint

from holdfast.wire.codec import KINDS
from holdfast.wire.frames import FrameKind
from tools import write_schema as schema

ROOT = Path(__file__).parents[2]
TOOLS = ("write_schema", "write_vectors")


@pytest.mark.parametrize("name", TOOLS)
def test_the_committed_files_are_what_the_tool_writes(name: str) -> None:
    assert run_tool(name, "--check").returncode == 0


@pytest.mark.parametrize(
    ("name", "target"), [("write_schema", "schema.json"), ("write_vectors", ".")]
)
def test_a_check_fails_until_the_files_are_written(
    name: str, target: str, tmp_path: Path
) -> None:
    place = tmp_path / target

    assert run_tool(name, "--check", "--target", place).returncode == 1
    assert run_tool(name, "--target", place).returncode == 0
    assert run_tool(name, "--check", "--target", place).returncode == 0


def test_the_schema_names_every_kind_and_its_message() -> None:
    kinds = json.loads(schema.text())["x-kinds"]

    assert kinds == {
        kind.name: {"number": kind, "message": KINDS[kind].__name__}
        for kind in FrameKind
    }


def test_every_message_is_closed_and_every_field_required() -> None:
    definitions = json.loads(schema.text())["$defs"]

    for shape in KINDS.values():
        definition = definitions[shape.__name__]
        assert definition["additionalProperties"] is False
        assert definition["required"] == list(shape.__struct_fields__)


def test_bytes_are_byte_arrays_in_typescript() -> None:
    definitions = json.loads(schema.text())["$defs"]

    assert definitions["Output"]["properties"]["data"]["tsType"] == "Uint8Array"
    assert definitions["Receipt"]["properties"]["head"]["tsType"] == "Uint8Array"


def test_no_field_is_a_floating_point_number() -> None:
    assert '"type": "number"' not in schema.text()


def test_better_words_leave_the_fingerprint_the_same() -> None:
    definitions: Json = {
        "Ping": {"description": "Hm?", "properties": {"description": {}}}
    }
    reworded: Json = {"Ping": {"description": "Ho!", "properties": {"description": {}}}}

    assert fingerprint(definitions) == fingerprint(reworded)


@pytest.mark.parametrize(
    "changed",
    [
        {"Ping": {"required": ["a"]}},
        {"Ping": {"required": ["b", "a"]}},
        {"Ping": {"required": ["a", "b"], "properties": {"description": {}}}},
        {"Pong": {"required": ["a", "b"]}},
    ],
)
def test_any_other_change_changes_the_fingerprint(changed: Json) -> None:
    assert fingerprint(changed) != fingerprint({"Ping": {"required": ["a", "b"]}})
