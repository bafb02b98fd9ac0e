"""What a test does where something that it needs is not on this machine."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def skip_or_fail(variable: str, reason: str) -> NoReturn:
    """Skip, unless that variable of the environment is 1, which wants a failure."""
    if os.environ.get(variable) == "1":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)
