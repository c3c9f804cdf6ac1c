"""Each room imports only what is below it (the contract is in pyproject.toml)."""

from __future__ import annotations

from pathlib import Path

import pytest


def test_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    cli = pytest.importorskip("importlinter.cli")
    monkeypatch.chdir(Path(__file__).parents[2])
    assert cli.lint_imports(no_cache=True) == cli.EXIT_STATUS_SUCCESS
