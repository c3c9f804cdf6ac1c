"""How long a command takes to start, as ratios to what it cannot do without.

`dpest --help` against `import click` (at most 2.5), `dpest estimate SVT1` against `import numpy, scipy.special` (at most 3).
Both sides run from bytecode, as installed packages do: without it `dpest estimate SVT1` compiles 190 files anew each time, and
numpy, which pip has compiled, none.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
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


def run(arguments: list[str], cache: str) -> float:
    """The seconds of one run, with its bytecode in a folder of our own."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True, env=environment | {"PYTHONPYCACHEPREFIX": cache}
    )
    return time.perf_counter() - start


def fastest(command: list[str], base: list[str], cache: str) -> tuple[float, float]:
    """The shortest of several runs of both, in turns: other work on the machine disturbs both alike."""
    run(command, cache), run(base, cache)  # writes the bytecode
    times = [(run(command, cache), run(base, cache)) for _ in range(REPEATS)]
    return min(took for took, _ in times), min(reference for _, reference in times)


def main() -> None:
    """Print one line per ratio."""
    with tempfile.TemporaryDirectory() as cache:
        for name, command, base_name, base, limit in RATIOS:
            took, reference = fastest(command, base, cache)
            ratio = took / reference
            verdict = "ok" if ratio <= limit else "TOO SLOW"
            print(f"{name}: {1000 * took:.0f} ms")
            print(f"    {ratio:.2f} times {base_name} ({1000 * reference:.0f} ms); at most {limit}: {verdict}")


if __name__ == "__main__":
    main()
