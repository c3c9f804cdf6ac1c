"""The pytest plugin: the `private` marker and fixture, and a summary of the claims that were checked, also under xdist."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from dpest.testing import Check, assert_private, recording, summed

if TYPE_CHECKING:
    from dpest.results import Result

PROPERTY = "dpest"  # user properties travel with a test's report, from xdist workers too
MARKER = "private(epsilon, **claim): the claim that the `private` fixture checks, with keywords of dpest.testing.assert_private"


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known, so that `--strict-markers` accepts it."""
    config.addinivalue_line("markers", MARKER)


@pytest.fixture
def private(request: pytest.FixtureRequest) -> Callable[..., Result]:
    """Checks a mechanism against the claim of the test's `private` marker: `private(mechanism)`."""
    claims = list(request.node.iter_markers("private"))  # the nearest first
    keywords = {k: v for mark in reversed(claims) for k, v in _keywords(mark).items()}

    def check(mechanism: Callable[..., Any], **more: Any) -> Result:
        __tracebackhide__ = True
        claim = {**keywords, **more}
        if "epsilon" not in claim:
            pytest.fail("which claim? write @pytest.mark.private(epsilon=1.0, n=3) above the test", pytrace=False)
        return assert_private(mechanism, **claim)

    return check


def _keywords(mark: pytest.Mark) -> dict[str, Any]:
    return {**dict(zip(("epsilon", "pairs"), mark.args, strict=False)), **mark.kwargs}


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Put the checks that a test makes into its report; a test that is marked private must make one."""
    with recording() as checks:
        outcome: Any = yield
    named = [replace(check, tests=(item.nodeid,)) for check in checks]
    item.user_properties.extend((PROPERTY, json.dumps(check.to_dict())) for check in summed(named))
    if not checks and item.get_closest_marker("private") is not None and outcome.excinfo is None:
        outcome.force_exception(AssertionError("marked private, but no claim was checked: call private(mechanism) in the test"))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """One line per claim: what was found at most, how, how often, in which tests."""
    checks = summed(_checks(terminalreporter))
    if checks:
        terminalreporter.section("privacy claims checked by dpest")
        for check in checks:
            terminalreporter.write_line(str(check))


def _checks(terminalreporter: Any) -> Iterator[Check]:
    for outcome in ("passed", "failed", "xfailed", "xpassed"):
        for report in terminalreporter.stats.get(outcome, ()):
            if getattr(report, "when", None) == "call":
                yield from (Check.from_dict(json.loads(value)) for key, value in report.user_properties if key == PROPERTY)
