"""The comparison of two laws, under its older name."""

from __future__ import annotations

from dpest.compat.privacy import (
    epsilon_from_dist,
    epsilon_from_list,
    epsilon_from_list_joint,
    epsilon_from_mixed_samples,
)

__all__ = ["epsilon_from_dist", "epsilon_from_list", "epsilon_from_list_joint", "epsilon_from_mixed_samples"]
