"""An answer that a dying CLI takes along is offered again; one that was read is not."""

from __future__ import annotations

import os
import signal

import pytest

from desktop.conversations import OpenConversation
from tests.helpers.desk import question
from tests.helpers.sitting import Sitting

pytestmark = pytest.mark.skipif(os.name == "nt", reason="a process can be held still with a signal on POSIX only")

WORDS = "Neither: a third way"
FORM = {
    "elicitation": "Where?",
    "server": "postgres",
    "schema": {"type": "object", "properties": {"name": {"type": "string"}}},
}


def hold(opened: OpenConversation) -> int:
    """The CLI does nothing any more, as one that is about to die; returns its process id."""
    assert opened.session is not None
    pid = opened.session.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    return pid


async def write_the_answer(sitting: Sitting, kind: str) -> None:
    """Write, up to the moment before it is sent."""
    person = sitting.person
    if kind == "form":
        await person.sees("elicitationDialog")
        await person.write("field_name", WORDS)
    else:
        await person.sees("questionDialog")
        if kind == "other":
            await person.click("other_0")
            await person.write("otherText_0", WORDS)
            await person.click("nextQuestion")
        else:
            await person.write("composer", WORDS)


async def send_the_answer(sitting: Sitting, kind: str) -> None:
    button = {"form": "accept", "other": "submitAnswers", "composer": "sendButton"}[kind]
    await sitting.person.click_when_read(button)


@pytest.mark.parametrize("kind", ["other", "composer", "form"])
def test_what_a_dying_cli_had_not_read_is_offered_again(sitting: Sitting, kind: str) -> None:
    sitting.desk.stand_in([FORM if kind == "form" else question("Which?", "A", "B"), {"text": "noted"}])

    async def story() -> None:
        opened = await sitting.begin()
        await sitting.person.send("go")
        await write_the_answer(sitting, kind)
        pid = hold(opened)
        await send_the_answer(sitting, kind)
        await sitting.until(lambda: not opened.conversation.pending, "the answer is on its way")
        os.kill(pid, signal.SIGKILL)
        await sitting.until(lambda: opened.phase == "exited", "the CLI is seen to be gone")
        assert WORDS in sitting.kept

    sitting.play(story)


@pytest.mark.parametrize("kind", ["other", "composer", "form"])
def test_what_was_read_is_not_offered_again(sitting: Sitting, kind: str) -> None:
    sitting.desk.stand_in([FORM if kind == "form" else question("Which?", "A", "B"), {"text": "noted"}])

    async def story() -> None:
        opened = await sitting.begin()
        await sitting.person.send("go")
        await write_the_answer(sitting, kind)
        await send_the_answer(sitting, kind)
        await sitting.at_rest()
        os.kill(hold(opened), signal.SIGKILL)
        await sitting.until(lambda: opened.phase == "exited", "the CLI is seen to be gone")
        assert WORDS not in sitting.kept
        assert opened.texts.is_empty

    sitting.play(story)
