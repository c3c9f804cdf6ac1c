"""The HTML report in a real browser: nothing asked for, nothing complained about, everything drawn."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpest.cli import main
from dpest.report.html import report_html
from tests.docs.browser import EXECUTABLE, Browser
from tests.unit.report.samples import report

pytestmark = pytest.mark.skipif(EXECUTABLE is None, reason="no Chromium on this machine")


def test_report_renders_without_network_and_without_errors(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    page.write_text(report_html(report()), encoding="utf-8")
    with Browser() as browser:
        browser.open(page)
        assert [url for url in browser.requests() if not url.startswith("data:")] == [page.resolve().as_uri()]
        assert browser.complaints() == []
        assert browser.evaluate("document.querySelectorAll('section').length") == 2
        assert browser.evaluate("[...document.querySelectorAll('figure svg')].every(s => s.getBoundingClientRect().height > 50)")
        assert browser.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_report_fits_a_phone(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    page.write_text(report_html(report()), encoding="utf-8")
    with Browser() as browser:
        browser.send("Emulation.setDeviceMetricsOverride", width=380, height=800, deviceScaleFactor=1, mobile=True)
        browser.open(page)
        assert browser.evaluate("document.documentElement.scrollWidth") <= 380


@pytest.mark.slow
def test_report_of_all_21_algorithms(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    assert main(["report", "--html", str(page)]) == 0
    with Browser() as browser:
        browser.open(page)
        assert [url for url in browser.requests() if not url.startswith("data:")] == [page.resolve().as_uri()]
        assert browser.complaints() == []
        assert browser.evaluate("document.querySelectorAll('section').length") == 21
        assert browser.evaluate("document.querySelectorAll('figure').length") >= 63
