"""The few slash commands that the CLI runs itself, without the model (recording `slash_commands`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fake_cli import shapes
from fake_cli.facts import COMMANDS

if TYPE_CHECKING:
    from fake_cli.turn import Turn

ALL = COMMANDS


async def run(turn: Turn) -> bool:
    """Runs the command that the message is, if it is one. `client_composed` makes a message text, whatever it says."""
    message = turn.messages[0]
    name = message.text.strip().split(" ")[0] if message.text.startswith("/") else ""
    if message.composed or name not in ("/clear", "/compact", "/context", "/cost"):
        return False
    if any(script.when and script.when.search(message.text) for script in turn.session.scenario.turns):
        return False
    session = turn.session
    said = ""
    if name == "/clear":
        new_id = shapes.new_conversation_id()
        session.send({"type": "conversation_reset", "new_conversation_id": new_id, "trigger": "clear"})
        session.system("background_tasks_changed", tasks=[])
        session.session_id = new_id
    elif name == "/compact":
        session.system("status", status="compacting")
        await session.pause(1.0)
        said = "Not enough messages to compact."
        session.system("status", status=None, compact_result="failed", compact_error=said)
    elif name == "/cost":
        said = f"Estimated cost:        ${session.usage['cost']:.4f}"
    else:
        said = f"## Context Usage\n\n**Model:** {session.model}  \n**Tokens:** {session.usage['context']} / 1m"
    turn.send_init()
    if said:
        _say(turn, name, said)
    turn.send_result(num_turns=0, stop_reason=None, result=said, local_command=name[1:])
    return True


def _say(turn: Turn, name: str, said: str) -> None:
    message: dict[str, Any] = shapes.synthetic_message("synthetic_command", said, stop_reason="end_turn")
    turn.session.send({"type": "assistant", "message": message, "parent_tool_use_id": None, "timestamp": shapes.now(),
                       "local_command_source": f"<local-command-stdout>{said}</local-command-stdout>",
                       "local_command_run": {"command": name[1:], "args": ""}})
