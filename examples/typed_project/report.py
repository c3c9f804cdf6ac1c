"""What the mechanism loses: a script that type checkers read without a complaint."""

from __future__ import annotations

from mechanisms import noisy_sum

import dpest
from dpest.testing import assert_private


def main() -> None:
    """Print the loss on one pair and over all adjacent inputs."""
    found: dpest.Result = dpest.estimate(noisy_sum, ([1, 1, 1], [2, 1, 1]), eps=0.5)
    proved: dpest.Result = dpest.prove(noisy_sum, n=3, adjacency="l1", eps=0.5)
    witness: dpest.Witness | None = found.witness
    curve: dpest.Curve = dpest.compose((found, 10))
    at: float = curve.epsilon_at(1e-6).upper
    scale: float = dpest.calibrate(noisy_sum, "eps", target=1.0, n=3, adjacency="l1").value
    checked: dpest.Result = assert_private(noisy_sum, 0.5, n=3, adjacency="l1", all_inputs=True)
    print(found, proved, witness, at, scale, checked.epsilon, sep="\n")


if __name__ == "__main__":
    main()
