from holdfast.keeper.consents import refusal_of
from holdfast.model.errors import MalformedArgument
from holdfast.model.keeper_messages import Failed


def test_a_refusal_may_have_facts_of_any_name() -> None:
    error = MalformedArgument("vm", "runtime")
    said = Failed("token", code=error.code, text=str(error), facts={**error.facts})

    assert refusal_of(said) == {
        "ok": False,
        "code": "malformed-argument",
        "text": str(error),
        "facts": {"text": "vm", "wanted": "runtime"},
    }
