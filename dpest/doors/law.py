"""The law of one random value: what `Dist.atoms`, `Dist.density` and their like ask for."""

from __future__ import annotations

import numpy as np

from dpest.errors import ExactRefused
from dpest.exact.inference.value import ValueLaw, infer_value
from dpest.lang.nodes import Node
from dpest.laws.grid import Sample
from dpest.run.settings import sampling_samples
from dpest.run.streams import stream
from dpest.sampling.runs.joint_samples import joint_samples


def value_law(node: Node) -> ValueLaw | Sample:
    """The value's own law: exact where it can be inferred, else empirical."""
    try:
        return infer_value(node)
    except ExactRefused:
        drawn = joint_samples([node], sampling_samples(), stream(0, 0))
        return Sample(np.asarray(drawn[:, 0], float))
