"""What a lying CLI says in a test, and what must still be true afterwards."""

from __future__ import annotations

import json
from typing import Any

from protocol.conversation import NoticeItem, ToolItem
from tests.helpers.desk import texts
from tests.helpers.sitting import Sitting

Wire = dict[str, Any]


def emits(*messages: Any) -> list[Wire]:
    return [{"emit": message} for message in messages]


def raw(value: Any) -> Wire:
    """A line in which everything beyond ASCII is an escape, as Node writes half an emoji."""
    return {"raw": json.dumps(value)}


async def goes_on(sitting: Sitting) -> None:
    """The next message is answered, and the window shows no error."""
    await sitting.at_rest()
    await sitting.person.send("are you there")
    await sitting.until(lambda: texts(sitting.opened)[-1:] == ["echo: are you there"], "the next message is answered")
    await sitting.at_rest()
    sitting.window.refresh()
    assert sitting.opened.conversation.faults == []
    assert sitting.opened.phase == "running"


def tools(sitting: Sitting) -> list[ToolItem]:
    return [item for item in sitting.opened.conversation.items if isinstance(item, ToolItem)]


def notices(sitting: Sitting) -> list[str]:
    return [item.text for item in sitting.opened.conversation.items if isinstance(item, NoticeItem)]


def says(sitting: Sitting, *messages: Wire) -> None:
    """The CLI's words of this very moment, as if they came through its pipe."""
    session = sitting.opened.session
    assert session is not None
    session._incoming.put("".join(json.dumps(message) + "\n" for message in messages).encode())


def lie(sitting: Sitting, *steps: Wire, said: str = "said", **options: Any) -> None:
    """One turn with these steps and a word at its end; then the window must go on."""
    sitting.desk.stand_in([*steps, *([{"text": said}] if said else [])], **options)

    async def story() -> None:
        await sitting.begin()
        await sitting.person.send("go")
        await sitting.until(lambda: said in texts(sitting.opened), "the turn went on")
        await goes_on(sitting)

    sitting.play(story)
