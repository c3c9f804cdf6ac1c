"""The pytest plugin: a terminal summary of what `dpest.testing.assert_private` checked, also under xdist."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from dpest.testing import Check, recording

PROPERTY = "dpest"  # user properties travel with a test's report, from xdist workers too


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Put the checks that a test makes into its report."""
    with recording() as checks:
        yield
    item.user_properties.extend((PROPERTY, json.dumps(check.to_dict())) for check in checks)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """One line per check: the claim, what was found, how."""
    checks = list(_checks(terminalreporter))
    if checks:
        terminalreporter.section("privacy claims checked by dpest")
        for check in checks:
            terminalreporter.write_line(str(check))


def _checks(terminalreporter: Any) -> Iterator[Check]:
    for outcome in ("passed", "failed", "xfailed", "xpassed"):
        for report in terminalreporter.stats.get(outcome, ()):
            if getattr(report, "when", None) == "call":
                yield from (Check(**json.loads(value)) for key, value in report.user_properties if key == PROPERTY)
