"""`python -m dpest` is `dpest`."""

from __future__ import annotations

import sys

from dpest.cli import main

sys.exit(main())
