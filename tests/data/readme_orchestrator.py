import asyncio
import os
from pathlib import Path

from protocol import Session, SessionOptions, TextItem, child_environment, find_claude, questions


async def main() -> None:
    changed = asyncio.Event()
    claude = find_claude(setting=None, env=os.environ)
    options = SessionOptions(claude.argv, Path.cwd(), child_environment(os.environ).env)
    session = Session(options, on_changes=lambda changes: changed.set())
    await session.start()
    try:
        session.send("Set up the project. Ask me before you choose a database.")
        while session.conversation.state not in ("idle", "exited"):
            for request in list(session.conversation.pending.values()):
                if request.kind == "question":  # the checkpoint: the run waits here for its user
                    session.answer(request.request_id, await ask_user(request.request.input))
                else:
                    session.refuse(request.request_id, "Nobody is here to decide on this.")
            await changed.wait()
            changed.clear()
        print(*(item.text for item in session.conversation.items if isinstance(item, TextItem)), sep="\n")
    finally:
        await session.close()


async def ask_user(tool_input: dict) -> dict:
    asked = questions.parse_questions(tool_input)
    answers = []
    for question in asked.questions:
        labels = [option.label for option in question.options]
        typed = await asyncio.to_thread(input, f"{question.text} {labels} ")
        answers.append(questions.Answer(labels=(typed,)) if typed in labels else questions.Answer(other=typed))
    if not any(answer.is_answered for answer in answers):
        return questions.dismissed()
    return questions.answered(asked, answers)


asyncio.run(main())
