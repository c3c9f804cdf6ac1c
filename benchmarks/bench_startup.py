"""How long a command takes to start, as ratios to what it cannot do without.

`dpest --help` against `import click` (at most 2.5), `dpest estimate SVT1` against `import numpy, scipy.special` (at most 3).
"""

from __future__ import annotations

import subprocess
import sys
import time

REPEATS = 7
RATIOS = (
    ("dpest --help", ["-m", "dpest", "--help"], "import click", ["-c", "import click"], 2.5),
    (
        "dpest estimate SVT1",
        ["-m", "dpest", "estimate", "SVT1"],
        "import numpy, scipy.special",
        ["-c", "import numpy, scipy.special"],
        3.0,
    ),
    ("import dpest", ["-c", "import dpest"], "import numpy, scipy.special", ["-c", "import numpy, scipy.special"], 1.5),
)


def fastest(arguments: list[str]) -> float:
    """The shortest of several runs: the least disturbed one."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    """Print one line per ratio."""
    for name, command, base_name, base, limit in RATIOS:
        took, reference = fastest(command), fastest(base)
        ratio = took / reference
        verdict = "ok" if ratio <= limit else "TOO SLOW"
        print(f"{name}: {1000 * took:.0f} ms")
        print(f"    {ratio:.2f} times {base_name} ({1000 * reference:.0f} ms); at most {limit}: {verdict}")


if __name__ == "__main__":
    main()
