"""From two laws to the privacy loss: strata of outputs, the supremum of the ratio, the curve, and the witness."""
