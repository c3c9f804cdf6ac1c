"""Which files belong to libraries, whatever environment they are in."""

from __future__ import annotations

import json

import mpmath
import pytest

from dpest.lang.installed import is_installed, is_standard


def test_libraries_of_this_environment_and_of_others() -> None:
    assert is_installed(mpmath.__file__)
    assert is_installed("/somewhere/lib/python3.12/site-packages/mpmath/ctx_mp.py")
    assert is_installed("/usr/lib/python3/dist-packages/mpmath/ctx_mp.py")


@pytest.mark.parametrize("file", [__file__, "/home/someone/site-packages.py", "/home/someone/mechanisms/laplace.py"])
def test_files_of_the_author_are_not_installed(file: str) -> None:
    assert not is_installed(file)
    assert not is_standard(file)


def test_what_comes_with_python() -> None:
    assert is_standard(json.__file__)
