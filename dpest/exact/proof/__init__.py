"""Alignments of the noise: upper bounds of the loss for one pair or for all adjacent inputs, and their certificates."""
