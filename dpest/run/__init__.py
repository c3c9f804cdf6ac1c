"""How long work is done: chunks, executors, checkpoints, progress. Nothing here knows about privacy."""
