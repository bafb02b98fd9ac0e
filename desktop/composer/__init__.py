"""Where a message is written: the field, its completions, attachments, and what waits to be read."""

from __future__ import annotations

from desktop.composer.composer import Composer

__all__ = ["Composer"]
