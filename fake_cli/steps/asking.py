"""Steps that ask a person: questions, plans, elicitations, and requests that no host knows yet."""

from __future__ import annotations

import json
from typing import Any

from fake_cli import strict
from fake_cli.scenario import Step
from fake_cli.session import Reply
from fake_cli.steps.base import Finish, Runner, step, tool_step
from fake_cli.steps.tools import Decision, ToolUse, begin_tool, fold_waiting_messages


@tool_step("question", "pace chunk withdraw_after raw")
async def question(runner: Runner, one: Step, defer: bool) -> Finish:
    """AskUserQuestion with this list of questions. `raw`: the input is sent as it stands and no answer is checked."""
    questions = one.value
    tool_input = one.get("raw") or {"questions": questions}

    def check(response: dict[str, Any]) -> str | None:
        if one.get("raw"):
            return None
        return strict.question_answers(response["updatedInput"], questions, runner.session.capabilities)

    use = ToolUse("AskUserQuestion", tool_input, tool_input, {}, check, always_asks=True,
                  withdraw_after=one.get("withdraw_after"))
    permission = await begin_tool(runner, use, one, defer)

    async def finish() -> None:
        decision = await permission.decision()
        if decision.allowed:
            updated = decision.reply.get("updatedInput") or {}
            answered = {"questions": questions, "answers": updated.get("answers") or {}}
            for key in ("annotations", "response"):
                if updated.get(key):
                    answered[key] = updated[key]
            text = what_was_answered(answered)
            runner.speaker.tool_result(use.tool_use_id, text, structured=answered, meta=decision.accepted_meta)
            runner.keep(one, question_outcome(answered))
        else:
            runner.keep(one, decision.outcome)
        fold_waiting_messages(runner, decision)

    return finish


def question_outcome(answered: dict[str, Any]) -> dict[str, Any]:
    """For later steps: `answers` and `notes` in the order of the questions, `labels` as lists."""
    questions = [item for item in answered["questions"] if isinstance(item, dict)]
    texts = [item.get("question", "") for item in questions]
    answers = [answered["answers"].get(text, "") for text in texts]
    annotations = answered.get("annotations", {})
    labels = [_chosen(item, answer) for item, answer in zip(questions, answers, strict=True)]
    return {
        "decision": "answered",
        "answers": answers,
        "labels": labels,
        "notes": [annotations.get(text, {}).get("notes", "") for text in texts],
        "response": answered.get("response", ""),
    }


def _chosen(item: dict[str, Any], answer: str) -> list[str]:
    if not item.get("multiSelect"):
        return [answer] if answer else []
    options = [option for option in item.get("options", []) if isinstance(option, dict)]
    return split_labels(answer, [option.get("label", "") for option in options])


def split_labels(answer: str, labels: list[str]) -> list[str]:
    """The labels in an answer of several choices: joined with ", ", quoted as JSON where they must be."""
    parts, rest = [], answer
    while rest:
        part, rest = _next_label(rest, labels)
        parts.append(part)
    return parts


def _next_label(text: str, labels: list[str]) -> tuple[str, str]:
    if text.startswith('"'):
        try:
            value, end = json.JSONDecoder().raw_decode(text)
        except ValueError:
            value, end = None, 0
        if isinstance(value, str) and (text[end:] == "" or text[end:].startswith(", ")):
            return value, text[end + 2 :]
    part, _, rest = text.partition(", ")
    return (part, rest) if part in labels or not rest else (text, "")


def what_was_answered(answered: dict[str, Any]) -> str:
    """What the model is told (recordings ask, ask_free_text, ask_missing_updated_input)."""
    if answered.get("response"):
        return f"The user responded: {answered['response']}"
    if not answered["answers"]:
        return "The user did not answer the questions."
    annotations = answered.get("annotations") or {}
    parts = []
    for text, answer in answered["answers"].items():
        note = annotations.get(text, {})
        preview = f" selected preview:\n{note['preview']}" if note.get("preview") else ""
        notes = f" notes: {note['notes']}" if note.get("notes") else ""
        parts.append(f'"{text}"="{answer}"{preview}{notes}')
    joined = ", ".join(parts)
    if annotations:
        return (f"The user answered: {joined}. Read the answers carefully — they may request clarification, "
                "changes, or that you not proceed — and follow what they actually say.")
    return f"Your questions have been answered: {joined}. You can now continue with these answers in mind."


@tool_step("plan", "within pace chunk")
async def plan(runner: Runner, one: Step, defer: bool) -> Finish:
    """ExitPlanMode. `within`: "tool_use" (the request's input is empty, as 2.1.332 sends it), "input" or "file"."""
    within = one.get("within", "tool_use")
    shown: dict[str, Any] = {}
    if within == "input":
        shown = {"plan": one.value}
    elif within == "file":
        shown = {"planFilePath": "/home/user/.claude/plans/quirky-tide.md"}
    use = ToolUse("ExitPlanMode", {"plan": one.value}, shown, {}, always_asks=True)
    permission = await begin_tool(runner, use, one, defer)

    async def finish() -> None:
        decision = await permission.decision()
        if decision.allowed:
            session = runner.session
            if session.mode == "plan":
                session.set_mode(session.mode_before_plan)
            structured = {"plan": None, "isAgent": False, "filePath": "/home/user/.claude/plans/quirky-tide.md"}
            runner.speaker.tool_result(
                use.tool_use_id, "User has approved exiting plan mode. You can now proceed.", structured=structured,
                meta=decision.accepted_meta,
            )
            decision.outcome["mode"] = session.mode
        runner.keep(one, decision.outcome)
        fold_waiting_messages(runner, decision)

    return finish


@tool_step("elicitation", "server tool input schema order mode url ask pace chunk result")
async def elicitation(runner: Runner, one: Step, defer: bool) -> Finish:
    """An MCP server's tool that asks the person; the step's value is the message."""
    server, tool = one.get("server", "demo"), one.get("tool", "ask_user")
    tool_input = one.get("input", {})
    ask = one.get("ask")
    fields: dict[str, Any] | None = None
    if ask:
        fields = {"mcp_server": {"name": server, "source": "dynamic"}, **(ask if isinstance(ask, dict) else {})}
    meta = {"display_name": tool.replace("_", " ").title(), "server_display_name": server, "tool_name": tool}
    use = ToolUse(f"mcp__{server}__{tool}", tool_input, tool_input, fields, meta=meta)
    permission = await begin_tool(runner, use, one, defer)

    async def finish() -> None:
        decision = await permission.decision()
        if not decision.allowed:
            runner.keep(one, decision.outcome)
            return
        reply = await _elicit(runner, one, server)
        action = reply.response.get("action", "cancel")
        content = reply.response.get("content") or {}
        said = one.get("result") or " ".join([action, *(f"{key}={value!r}" for key, value in content.items())])
        text = json.dumps({"result": said}, ensure_ascii=False)
        runner.speaker.tool_result(use.tool_use_id, text, structured={"content": text}, meta=decision.accepted_meta)
        runner.keep(one, {"decision": action, "content": content, "error": reply.error or ""})
        fold_waiting_messages(runner, Decision(True, {}, {}, asked=True))

    return finish


async def _elicit(runner: Runner, one: Step, server: str) -> Reply:
    request: dict[str, Any] = {"subtype": "elicitation", "mcp_server_name": server, "message": one.value,
                               "mode": one.get("mode", "form")}
    schema = one.get("schema") or {}
    if one.get("url"):
        request |= {"mode": "url", "url": one.get("url"), "elicitation_id": "elicitation-1"}
    else:
        order = one.get("order") or list(schema.get("properties", {}))
        request |= {"requested_schema": schema, "property_order": order}

    def check(response: dict[str, Any]) -> str | None:
        return strict.elicitation_result(response, schema)

    return await runner.session.ask(request, check, background=runner.background).future


@step("request", "wait withdraw_after id")
async def request(runner: Runner, one: Step) -> None:
    """Any request to the host, for instance of a subtype that it cannot know, with an id of its own or with `id`.
    `wait`: false goes on at once."""
    pending = runner.session.ask(dict(one.value), background=runner.background, request_id=one.get("id"))
    if one.get("withdraw_after") is not None:
        await runner.session.pause(float(one.get("withdraw_after")))
        runner.session.withdraw(pending)
    if one.get("wait", True):
        reply = await pending.future
        runner.keep(one, {"decision": "withdrawn" if reply.withdrawn else "error" if reply.error else "success",
                          "error": reply.error or "", "response": reply.response})
