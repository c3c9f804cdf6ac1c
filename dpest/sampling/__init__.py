"""The way to an answer from samples, for estimates and for audits."""
