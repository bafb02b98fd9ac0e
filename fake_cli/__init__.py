"""A stand-in for `claude`: an independent second reading of the control protocol, driven by scenario files.

    python -m fake_cli [the flags of claude] [--scenario FILE] [--harm NAME[=VALUE]]… [--lenient] [--log FILE]
                       [--fake-version X.Y.Z]
    python -m fake_cli --version | auth status | -p PROMPT
    python -m fake_cli --one-shot [--one-shot-reply TEXT] [--harm NAME[=VALUE]]…    a text on stdin, {"result": …} out

Without a scenario it answers each message with `echo: ` and the message. What it says has the shapes of the recorded
CLI 2.1.332. What it hears must be right: a malformed line ends it with code 1, as with the real one, and anything else
that breaks the protocol with code 3 and a sentence on stderr (the real one would often wait in silence). `--lenient`
(FAKE_CLI_LENIENT=1) puts up with it as the real one does. A wrong scenario is code 2.

Environment: FAKE_CLI_SCENARIO, FAKE_CLI_HARM (NAME=VALUE,NAME), FAKE_CLI_LOG (a file that gets argv, environment and
the traffic, one JSON object a line), FAKE_CLI_PACE (a factor for all waits; 0: none), FAKE_CLI_VERSION,
FAKE_CLI_SIGNED_IN=0, FAKE_CLI_SESSIONS (a folder: conversations are kept there, and `--resume` of others is refused).

Scenario files
==============

A JSON object (or just the list of turns):

    {"options": {"pace": 80, "model": "opus", "version": "2.1.332", "harm": {"noise": ""},
                 "replies": {"get_context_usage": {"totalTokens": "many"}}, …},
     "turns": [[…steps…],                                  the next message that no pattern takes
               {"when": "deploy|ship", "once": true, "steps": […]}],   messages in which this pattern is found
     "otherwise": […steps…]}                               everything else; without it, an echo

A step is an object; the first key that names a kind is what it does, the others are its options:

    {"text": "Markdown", "pace": 60, "chunk": 20}          streamed, so many characters a second and a delta;
                                                           "deltas": false or another text, "whole": false: lies
    {"thinking": "…"}  {"wait": 1.5}  {"block": {…}}       a block of any type
    {"tool": "Bash", "input": {…}, "result": "…", "takes": 2, "progress": true, "is_error": true,
     "ask": true | {"permission_suggestions": […], "blocked_path": …}, "withdraw_after": 3, "as": "touch"}
    {"todos": [["completed", "Read"], ["pending", "Write"]]}
    {"question": [{"question", "header", "options", "multiSelect"}], "as": "db"}     "raw": an input as it stands
    {"plan": "Markdown", "within": "tool_use" | "input" | "file", "as": "plan"}
    {"elicitation": "message", "server": "pg", "schema": {…}, "order": […], "ask": true, "as": "form"}
    {"agent": "description", "steps": […], "result": "…", "background": true, "after": […steps of its own turn…]}
    {"together": [tool steps], "serial": false}            one message, several tools, their requests open at once
    {"request": {"subtype": "hook_callback", …}, "wait": false, "id": "the-same-twice", "withdraw_after": 1}
    {"choose": "db.answers.0", "cases": {"SQLite": […], "*": […]}}   {"repeat": 3, "steps": […]}   {"set": {…}}
    {"api_retry": 1, "max_retries": 3, "delay": 2}  {"rate_limit": {…}, "resets_in": 60}  {"compact": 3}
    {"fail": "401" | "429" | "529" | "billing" | "not_logged_in" | {…}}  {"result": {fields} | null}  {"mode": "plan"}
    {"status": "compacting"}  {"title": "…"}  {"suggest": "…"}  {"usage": 120000}
    {"system": {"subtype": …}}  {"send": {any message}}  {"emit": any JSON}
    {"raw": "line"}  {"bytes": "base64"}  {"garbage": 5}  {"flood": 1000000, "rate": 0, "deltas": true, "line": 20}
    {"huge": 12000000, "within": "text" | "result" | "image"}  {"silence": 5}  {"stop_reading": 2}
    {"stderr": "text" | 1000000}  {"crash": 3 | "KILL"}  {"exit": 3}  {"exit_after": 3}  {"orphan": 30}
    {"close_stdout": true}  {"harm": {"bytewise": "", "noise": null}}

Every step may have "name" (for `--harm crash-at=NAME:CODE`), "as" (keeps its outcome) and "comment". Texts can refer to
what is known: ${user}, ${turn}, ${cwd}, ${model}, ${mode}, ${effort}, ${system} (of the handshake), ${i}, ${folded},
and outcomes, with something to say instead: ${db.answers.0|nothing}. Outcomes have `decision`: a question `answered`
(with `answers`, `labels`, `notes`, `response`), a permission or plan `allowed` (with `always`, `mode`), both `denied`
(with `message`) or `withdrawn`, an elicitation `accept`, `decline` or `cancel` (with `content`). `${last.…}` is the
newest one.

With a `jsonSchema` in the handshake every turn ends with the tool StructuredOutput and a made-up value that keeps to
it, or the one that the scenario names: {"result": {"structured_output": …}}.

The harms are listed in `fake_cli.harms.NAMES`, those of one-shot mode in `fake_cli.one_shot.NAMES`.
"""
