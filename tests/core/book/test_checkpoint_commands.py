"""Commands and signers, as a checkpoint keeps them."""

from tests.core.book.test_checkpoint import Story, again, summed


def test_what_a_client_sent_is_kept_with_its_end() -> None:
    story = Story().tell(
        ("input", "a_anna", "c_one", "command"),
        ("run", "a_anna", "c_one"),
        ("end",),
        ("input", "a_bot", "c_two", "command"),
    )

    kept = again(summed(story.entries).checkpoint()).commands

    assert kept.clients == (("c_one", 1), ("c_two", None))
    (command,) = kept.commands
    assert (command.number, command.end, command.status) == (1, 15, 0)


def test_a_client_has_the_command_that_it_sent_first() -> None:
    first = (("input", "a_anna", "c_one", "command"), ("run", "a_anna", "c_one"))
    story = Story().tell(*first, ("end",), *first)

    kept = summed(story.entries).checkpoint().commands

    assert kept.clients == (("c_one", 1),)
    assert [(one.number, one.end) for one in kept.commands] == [(1, 15), (2, None)]


def test_an_end_of_which_no_beginning_is_known_makes_no_command() -> None:
    assert summed(Story().tell(("end",)).entries).checkpoint().commands.commands == ()


def test_how_far_each_has_signed_is_kept() -> None:
    typed = ("input", "a_anna", "c_one", "keys")
    signed = ("signed", "a_anna", "c_one")
    story = Story().tell(typed, signed, typed, typed, signed)

    made = again(summed(story.entries).checkpoint())

    assert made.signed == (("a_anna", "c_one", 3),)
