"""Bloom filter bits, as RAPPOR hashes them."""

from __future__ import annotations

from typing import Any

import mmh3

from dpest.algorithms.algorithm import only_value


def bloom_bits(values: Any, n_hashes: int, filter_size: int) -> list[int]:
    """The filter of one value: bit mmh3(str(value), seed i) mod filter_size is set for each hash i."""
    text = str(int(only_value(values)))
    positions = {mmh3.hash(text, seed) % filter_size for seed in range(n_hashes)}
    return [int(i in positions) for i in range(filter_size)]
