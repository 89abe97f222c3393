from bench.key_calls import MOST, calls_per_key, profiled_machine


def test_one_key_is_few_calls_of_python_in_the_holder() -> None:
    with profiled_machine() as (here, folder):
        assert calls_per_key(here, folder, ("cat",), rounds=8) <= MOST
