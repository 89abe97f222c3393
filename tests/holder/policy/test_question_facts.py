from tests.holder.input_world import world

from holdfast.holder.policy.question_facts import question_about
from holdfast.model.actors import Actor, ActorKind
from holdfast.model.ids import Epoch, actor_id
from holdfast.model.inputs import InputKind

BOT = Actor(actor_id(b"bot"), ActorKind.AGENT, "bot")


def test_a_question_says_who_asks_for_what_in_which_session(own_folders: None) -> None:
    del own_folders
    with world() as here:
        ask = question_about(here.descriptors, BOT, InputKind.COMMAND, b"make")
        question = ask(epoch=Epoch(3), staged=b"")
        session = here.descriptors.session, here.descriptors.first_name

    assert (question.actor, question.kind, question.payload) == (
        BOT,
        InputKind.COMMAND,
        b"make",
    )
    assert (question.session, question.session_name) == session
    assert (question.epoch, question.staged, question.cwd) == (Epoch(3), b"", None)
