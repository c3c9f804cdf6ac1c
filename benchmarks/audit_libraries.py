"""Audits of other projects' libraries: values and bits, what is refuted and what is clean.

make .venv-libraries/.ready && .venv-libraries/bin/python benchmarks/audit_libraries.py --page docs/audit_libraries.md
"""

from __future__ import annotations

import argparse
import inspect
import re
import sys
import textwrap
import time
import warnings
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from library_entries import ENTRIES, Entry

import dpest
from dpest.errors import DpestError
from dpest.inputs.pairs import Pair

PACKAGES = {"diffprivlib": "diffprivlib", "OpenDP": "opendp", "python-dp": "python-dp", "nvflare": "nvflare"}
CONFIDENCE = 0.999
HEAD = """# Other projects' libraries

What an audit says of noise that is shipped: the verdict on the claim and the bound, for values and for the bits of outputs, each
audit with confidence {confidence}. A mechanism whose bits violate the claim adds floating-point noise as it comes; its values
may be fine. `lines` is the length of the function that was written for the audit. The seconds are those of one run on a busy
machine. Versions: {versions}.

    make test-libraries
    .venv-libraries/bin/python benchmarks/audit_libraries.py --page docs/audit_libraries.md

| library | function | claim | values | bits | lines | samples | seconds |
|---|---|---|---|---|---:|---:|---:|
"""


def audited(entry: Entry, seed: int = 7) -> Any:
    """The audit of one entry."""
    asked = {"claim": entry.claim, "delta": entry.delta, "samples": entry.samples, "seed": seed, "confidence": CONFIDENCE}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dpest.audit(entry.make(), entry.pair, progress=lambda *_: None, **asked)


def row(entry: Entry) -> str:
    """One audit as a line of the table."""
    claim = f"{entry.claim:g}" if not entry.delta else f"{entry.claim:g}, delta {entry.delta:g}"
    start = time.perf_counter()
    try:
        found = audited(entry)
    except (DpestError, ImportError) as error:
        return f"| {entry.library} | {entry.name} | {claim} | no answer: {type(error).__name__}: {str(error)[:120]} | | | | |"
    bits = "not asked" if found.bits is None else f"{found.bits.verdict} ({found.bits.lower:.2f})"
    lines, seconds = len(inspect.getsource(entry.make).splitlines()), time.perf_counter() - start
    said = f"{found.verdict} ({found.lower:.2f}) | {bits} | {lines} | {entry.samples:,} | {seconds:.0f} |"
    return f"| {entry.library} | {entry.name} | {claim} | {said}"


def reproducer(entry: Entry) -> str:
    """The code that shows what was refuted, and why; it stands alone."""
    kind = "values" if entry.values == "violated" else "bits"
    body = re.sub(r"( -> [\w\[\]]+)(?=:)|: Any", "", textwrap.dedent(inspect.getsource(entry.make)))
    needs = ["import numpy as np"] * ("np." in body) + ["import dpest"]
    pair = repr(entry.pair)
    if isinstance(entry.pair, Pair):
        needs.append("from dpest.inputs.pairs import Pair")
        pair = f"Pair({entry.pair.name!r}, {_rows(entry.pair.left)}, {_rows(entry.pair.right)})"
    delta = f", delta={entry.delta:g}" if entry.delta else ""
    call = f"print(dpest.audit({entry.make.__name__}(), pair, claim={entry.claim:g}{delta}, samples={entry.samples}))"
    code = textwrap.indent("\n".join([*needs, "", body, f"pair = {pair}", call]), "    ")
    said = textwrap.fill(f"**{entry.library}, `{entry.name}`** ({kind}): {entry.why}", 128, break_on_hyphens=False)
    return f"\n{said}\n\n{code}\n"


def _rows(data: list[float]) -> str:
    """A list of numbers as one writes it, with the NaN at its end put together."""
    known = [x for x in data if x == x]
    return repr(data) if len(known) == len(data) else f"{known!r} + [float('nan')] * {len(data) - len(known)}"


def versions() -> str:
    """The versions that are installed."""
    found = []
    for name, package in PACKAGES.items():
        try:
            found.append(f"{name} {version(package)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)


def main() -> None:
    """Audit all entries, or those whose names contain a word."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", type=Path)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    chosen = [entry for entry in ENTRIES if options.only in f"{entry.library} {entry.name}"]
    lines = []
    for entry in chosen:
        lines.append(row(entry))
        print(lines[-1], flush=True)
    if options.page:
        head = HEAD.format(confidence=CONFIDENCE, versions=versions())
        refuted = [reproducer(entry) for entry in chosen if entry.why]
        text = head + "\n".join(lines) + "\n\n## What is refuted, and why\n" + "".join(refuted)
        options.page.write_text(text)


if __name__ == "__main__":
    main()
