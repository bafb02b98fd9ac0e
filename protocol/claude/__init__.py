"""The CLI on this computer: where it is, which version, who is signed in."""

from protocol.claude.asking import (
    MINIMUM_FOR_QUESTIONS,
    ClaudeBroken,
    Login,
    Version,
    claude_environment,
    explain_failure,
    explain_version,
    find_claude_or_ask_shell,
    login_shell_path,
    needs_git_bash,
    read_login,
    read_version,
)
from protocol.claude.locating import Claude, ClaudeNotFound, find_claude, split_path

__all__ = [
    "MINIMUM_FOR_QUESTIONS",
    "Claude",
    "ClaudeBroken",
    "ClaudeNotFound",
    "Login",
    "Version",
    "claude_environment",
    "explain_failure",
    "explain_version",
    "find_claude",
    "find_claude_or_ask_shell",
    "login_shell_path",
    "needs_git_bash",
    "read_login",
    "read_version",
    "split_path",
]
