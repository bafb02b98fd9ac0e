"""The guardian: waits until the app is gone, then ends what the app had started. See `protocol.process.guard`.

It runs as `python -m protocol.guardian`, or as the packaged app with SWITCH as its first argument. Its standard
input is a pipe from the app with one JSON object a line: `{"watch": mark, "pid": …, "started": …}` and
`{"forget": mark}`. The pipe's end of file means that the app is gone.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys

SWITCH = "--guardian"
"""The hidden first argument that makes the packaged app a guardian. Nothing else may be imported before."""

LEAVE, TERM, KILL = 0.7, 1.0, 1.5
"""Seconds for the CLIs to leave by themselves (their stdin has ended), after SIGTERM, and after SIGKILL."""


def main() -> None:
    """Read until the pipe ends, then end every tree that is still watched."""
    _stay_out_of_the_way()
    # Everything is loaded now: the files may be gone with the app (an AppImage is unmounted when it dies).
    import json

    from protocol.process.tree import ProcessTree, end_trees

    trees: dict[str, ProcessTree] = {}
    for line in sys.stdin.buffer:
        try:
            message = json.loads(line)
            if "forget" in message:
                trees.pop(message["forget"], None)
            else:
                mark = message["watch"]
                trees[mark] = ProcessTree(
                    mark, message["pid"], message["started"], detached_too=message["detached_too"]
                )
        except (ValueError, KeyError, TypeError):
            continue  # the last line of an app that was killed while it wrote
    end_trees(trees.values(), leave=LEAVE, term=TERM, kill=KILL)


def _stay_out_of_the_way() -> None:
    """Survive what ends the app: Ctrl-C in the terminal, the terminal itself, the end of the desktop session."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    # `killall handraise` goes by this name, and must not take the guardian along.
    with contextlib.suppress(OSError), open(f"/proc/{os.getpid()}/comm", "w") as name:
        name.write("hr-guardian")


if __name__ == "__main__":
    main()
