"""The kinds of steps. Importing this package registers them all."""

from __future__ import annotations

from fake_cli.steps import agents, asking, control, harm, talk, telling, tools
from fake_cli.steps.base import KINDS, Runner

__all__ = ["KINDS", "Runner", "agents", "asking", "control", "harm", "talk", "telling", "tools"]
