"""What the CLI has told about itself, its account and its limits. The newest wins; old CLIs tell less."""

from __future__ import annotations

from typing import Any

from protocol.messages import (
    AuthStatus,
    CommandInfo,
    InitializeReply,
    ModelInfo,
    RateLimitEvent,
    ResultMessage,
    SystemInit,
    parse_initialize_reply,
    parse_models,
)


class Facts:
    """Read-only attributes; "", () or None where nothing was told.

    Attributes:
        tools, mcp_servers: of the newest turn; a server is `{"name": …, "status": …}`.
        models: what can be chosen.
        account: `email`, `subscriptionType`, `tokenSource`, …, as far as told.
        capabilities: what this CLI can do, by its own names.
        usage: token counts of the newest request of the main conversation, in the Messages API's own names.
        context_window: tokens, 0 where not told.
        context_usage: the newest reply to `get_context_usage`.
        total_cost_usd: what the session cost so far, in US dollars.
        suggestion: what the user might say next.
    """

    def __init__(self) -> None:
        self.session_id = ""
        self.cwd = ""
        self.model = ""
        self.permission_mode = ""
        self.title = ""
        self.tools: tuple[str, ...] = ()
        self.mcp_servers: tuple[dict[str, Any], ...] = ()
        self.commands: tuple[CommandInfo, ...] = ()
        self.models: tuple[ModelInfo, ...] = ()
        self.capabilities: frozenset[str] = frozenset()
        self.account: dict[str, Any] = {}
        self.cli_version = ""
        self.usage: dict[str, Any] = {}
        self.context_window = 0
        self.context_usage: dict[str, Any] = {}
        self.total_cost_usd = 0.0
        self.rate_limit: RateLimitEvent | None = None
        self.auth: AuthStatus | None = None
        self.suggestion = ""
        self._learned = False

    @property
    def context_tokens(self) -> int:
        """How many tokens of the context window are in use, as of the newest request; 0 before the first."""
        names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
        counts = (self.usage.get(name) for name in names)
        return sum(count for count in counts if isinstance(count, int))

    def _learn(self, **facts: Any) -> None:
        """Takes over facts that differ and are told at all; ("", (), {}, None and 0 say nothing)."""
        for name, value in facts.items():
            if value and getattr(self, name) != value:
                setattr(self, name, value)
                self._learned = True

    def _learn_init(self, message: SystemInit) -> None:
        self._learn(
            session_id=message.session_id,
            cwd=message.cwd,
            model=message.model,
            permission_mode=message.permission_mode,
            tools=message.tools,
            mcp_servers=message.mcp_servers,
            capabilities=frozenset(message.capabilities),
            cli_version=message.claude_code_version,
        )
        if message.api_key_source and "apiKeySource" not in self.account:
            self._learn(account={**self.account, "apiKeySource": message.api_key_source})
        if not self.commands:
            self._learn(commands=tuple(CommandInfo(name=name) for name in message.slash_commands))

    def _learn_initialize(self, reply: InitializeReply) -> None:
        self._learn(
            commands=reply.commands,
            models=reply.models,
            account=reply.account,
            cli_version=reply.claude_code_version,
            capabilities=frozenset(reply.capabilities),
        )

    def _learn_reply(self, request: dict[str, Any], response: dict[str, Any]) -> InitializeReply | None:
        """What the CLI's assent to a request of ours tells. Returns the handshake's reply, if it was that."""
        subtype = request.get("subtype")
        if subtype == "initialize":
            reply = parse_initialize_reply(response)
            self._learn_initialize(reply)
            return reply
        if subtype == "set_model":
            self._learn(model=_text(response.get("model")) or _text(request.get("model")))
        elif subtype == "set_permission_mode":
            self._learn(permission_mode=_text(response.get("mode")) or _text(request.get("mode")))
        elif subtype == "rename_session":
            self._learn(title=_text(request.get("title")))
        elif subtype == "get_context_usage":
            self._learn(context_usage=response)
        elif subtype == "list_models":
            self._learn(models=parse_models(response.get("models")))
        elif subtype == "mcp_status":
            servers = response.get("mcpServers")
            if isinstance(servers, list):
                self._learn(mcp_servers=tuple(server for server in servers if isinstance(server, dict)))
        return None

    def _learn_result(self, message: ResultMessage) -> float | None:
        """Takes over costs and limits; returns what the turn cost."""
        self._learn(context_window=_context_window(message.model_usage, self.model))
        total = message.total_cost_usd
        if total is None:
            return None
        cost = total - self.total_cost_usd if total >= self.total_cost_usd else total
        since_last = message.model_usage_since_last_result
        if since_last is not None:  # exact, also for the first turn of a resumed session
            costs = [usage.get("costUSD") for usage in since_last.values() if isinstance(usage, dict)]
            cost = sum(cost for cost in costs if isinstance(cost, int | float))
        self._learn(total_cost_usd=total)
        return float(cost)

    def _learn_usage(self, usage: object, *, fresh: bool) -> None:
        """Token counts of one request; those that stream in later complete the ones it began with."""
        if isinstance(usage, dict):
            self._learn(usage=usage if fresh else {**self.usage, **usage})


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _context_window(model_usage: dict[str, Any], model: str) -> int:
    """The window of the session's model; that of the model that read most, where the names do not match."""
    entries = {name: usage for name, usage in model_usage.items() if isinstance(usage, dict)}
    usage = entries.get(model) or max(entries.values(), key=_tokens_read, default={})
    window = usage.get("contextWindow")
    return window if isinstance(window, int) else 0


def _tokens_read(usage: dict[str, Any]) -> float:
    counts = (usage.get(name) for name in ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens"))
    return sum(count for count in counts if isinstance(count, int | float))
