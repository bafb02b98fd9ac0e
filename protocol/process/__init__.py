"""Processes: start a CLI in a clean environment, and end it with everything that it started."""

from protocol.process.cli import CliProcess
from protocol.process.environment import CREDENTIALS, Bundle, ChildEnvironment, child_environment
from protocol.process.outcome import Exit, How, Ladder, StartError

__all__ = [
    "CREDENTIALS",
    "Bundle",
    "ChildEnvironment",
    "CliProcess",
    "Exit",
    "How",
    "Ladder",
    "StartError",
    "child_environment",
]
