"""Random programs as Python source, their oracles, rewritings and the shrinking of failures."""
