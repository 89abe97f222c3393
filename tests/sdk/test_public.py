import subprocess
import sys
from importlib.resources import files

import holdfast
from holdfast.model.errors import HoldfastError, leaves

HEAVY = ("asyncio", "msgspec", "cryptography", "websockets", "holdfast.sdk")


def test_every_public_name_leads_somewhere() -> None:
    assert [name for name in holdfast.__all__ if not hasattr(holdfast, name)] == []
    assert dir(holdfast) == sorted(holdfast.__all__)
    assert not hasattr(holdfast, "nothing")


def test_importing_the_package_loads_nothing_of_the_sdk() -> None:
    program = f"import sys, holdfast; print([m for m in {HEAVY} if m in sys.modules])"

    loaded = subprocess.check_output([sys.executable, "-c", program], text=True)

    assert loaded.strip() == "[]"


def test_every_error_says_what_to_do_about_it() -> None:
    assert issubclass(holdfast.errors.HoldfastError, HoldfastError)
    for leaf in leaves():
        assert leaf.code != "error"
        assert isinstance(leaf.retryable, bool)
        assert isinstance(leaf.next_step, str)


def test_its_types_are_for_others_too() -> None:
    assert files("holdfast").joinpath("py.typed").is_file()
