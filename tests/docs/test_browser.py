"""The HTML report in a real browser: nothing asked for, nothing complained about, everything drawn."""

from __future__ import annotations

import re
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


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_report_fits_and_keeps_its_verdicts(tmp_path: Path, width: int, scheme: str) -> None:
    page = tmp_path / "report.html"
    page.write_text(report_html(report()), encoding="utf-8")
    with Browser() as browser:
        browser.look(width, scheme)
        browser.open(page)
        assert browser.evaluate("document.documentElement.scrollWidth") <= width
        verdicts = "[...document.querySelectorAll('td.verdict')].map(c => c.getBoundingClientRect())"
        assert browser.evaluate(f"{verdicts}.every(r => r.width > 20 && r.right <= {width})")
        ink = browser.evaluate("getComputedStyle(document.querySelector('figure svg text')).fill")
        paper = browser.evaluate("getComputedStyle(document.body).backgroundColor")
        brightness = [sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in (ink, paper)]
        assert (brightness[0] < brightness[1]) == (scheme == "light")
        assert abs(brightness[0] - brightness[1]) > 450
        assert browser.complaints() == []


def test_summary_is_sorted_by_a_click_and_sections_fold(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    page.write_text(report_html(report()), encoding="utf-8")
    names = "[...document.querySelectorAll('.summary tbody th')].map(c => c.textContent)"
    with Browser() as browser:
        browser.open(page)
        assert browser.evaluate(names) == ["coin", "<leak> & co"]
        browser.evaluate("document.querySelectorAll('.summary thead button')[4].click()")
        assert browser.evaluate(names) == ["<leak> & co", "coin"]  # violated first
        browser.evaluate("document.querySelector('.tools button').click()")
        assert browser.evaluate("[...document.querySelectorAll('details.mechanism')].some(d => d.open)") is False
        browser.evaluate("location.hash = '#coin'; dispatchEvent(new HashChangeEvent('hashchange'))")
        assert browser.evaluate("document.querySelector('#coin details').open") is True


def test_report_is_whole_without_its_script(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    page.write_text(report_html(report()), encoding="utf-8")
    with Browser() as browser:
        browser.send("Emulation.setScriptExecutionDisabled", value=True)
        browser.open(page)
        assert browser.evaluate("document.querySelectorAll('button').length") == 0
        assert browser.evaluate("[...document.querySelectorAll('details')].every(d => d.open)")


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
