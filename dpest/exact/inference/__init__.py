"""From a traced path to the law of its outputs: cases, components, factors, and the draws summed or integrated out."""
