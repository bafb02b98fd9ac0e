"""What the shared fixtures of these tests promise, tried on small test runs of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

pytestmark = pytest.mark.logs("odd thing")  # the small runs log into this run, too

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def outcome_of(pytester: pytest.Pytester):  # type: ignore[no-untyped-def]
    """Runs one test function's source under the shared conftest and returns the count of each outcome."""

    def run(source: str) -> tuple[dict[str, int], str]:
        pytester.makeconftest((ROOT / "tests" / "conftest.py").read_text(encoding="utf-8"))
        pytester.makeini("[pytest]\nfilterwarnings = error\naddopts = --strict-markers -p no:cacheprovider\n")
        pytester.makepyfile(source)
        result = pytester.runpytest_inprocess("-p", "no:pytest-qt", "-p", "no:hypothesispytest")
        return result.parseoutcomes(), result.stdout.str()

    return run


def test_a_warning_in_the_log_that_nobody_announced_fails(outcome_of) -> None:  # type: ignore[no-untyped-def]
    outcome, text = outcome_of("import logging\ndef test_it():\n    logging.getLogger('x').warning('odd thing')")

    assert outcome == {"passed": 1, "errors": 1}
    assert "WARNING x: odd thing" in text


def test_a_warning_that_was_announced_does_not_fail(outcome_of) -> None:  # type: ignore[no-untyped-def]
    outcome, _ = outcome_of(
        "import logging, pytest\n"
        "@pytest.mark.logs('odd')\n"
        "def test_it():\n    logging.getLogger('x').warning('odd thing')"
    )

    assert outcome == {"passed": 1}


def test_a_warning_that_was_looked_at_and_cleared_does_not_fail(outcome_of) -> None:  # type: ignore[no-untyped-def]
    outcome, _ = outcome_of(
        "import logging\n"
        "def test_it(caplog):\n"
        "    logging.getLogger('x').error('odd thing')\n    assert 'odd' in caplog.text\n    caplog.clear()"
    )

    assert outcome == {"passed": 1}


def test_an_exception_in_a_thread_fails(outcome_of) -> None:  # type: ignore[no-untyped-def]
    outcome, text = outcome_of(
        "import threading\n"
        "def test_it():\n    thread = threading.Thread(target=lambda: 1 / 0)\n    thread.start()\n    thread.join()"
    )

    assert outcome.get("failed", 0) + outcome.get("errors", 0) >= 1
    assert "ZeroDivisionError" in text


def test_a_thread_that_outlives_its_test_is_named(outcome_of) -> None:  # type: ignore[no-untyped-def]
    outcome, text = outcome_of(
        "import threading\n"
        "def test_it():\n    threading.Timer(3, lambda: None).start()\n"
    )  # fmt: skip

    assert outcome == {"passed": 1, "errors": 1}
    assert "the test left behind: the thread Thread-" in text
