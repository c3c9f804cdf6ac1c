"""`python -m dpest` is `dpest`."""

from __future__ import annotations

import sys

from dpest.cli import main

if __name__ == "__main__":
    sys.exit(main())
