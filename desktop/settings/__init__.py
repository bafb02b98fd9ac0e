"""What the person has set: the file, and the dialog that changes it."""

from __future__ import annotations

from desktop.settings.store import Settings, SettingsStore

__all__ = ["Settings", "SettingsStore"]
