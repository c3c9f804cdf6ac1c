"""Which files belong to Python or to libraries that are installed, and not to the author of a mechanism."""

from __future__ import annotations

import sysconfig
from functools import lru_cache
from pathlib import PurePath

# The second kind of name is Debian's. Libraries of another environment (one with the packages of the system, a path of its own)
# lie in folders of these names too, and in none that this interpreter would name.
_NAMES = frozenset({"site-packages", "dist-packages"})
_LIBRARIES = tuple({sysconfig.get_path(name) for name in ("purelib", "platlib")})
_STANDARD = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib")})


@lru_cache(maxsize=4096)
def is_installed(file: str) -> bool:
    """Whether a file belongs to a library that is installed."""
    return file.startswith(_LIBRARIES) or not _NAMES.isdisjoint(PurePath(file).parts)


def is_standard(file: str) -> bool:
    """Whether a file comes with Python."""
    return file.startswith(_STANDARD)
